import type { UserCaller } from '../auth/callers.js';
import type { ExportRow } from './list-queries.js';
import { shownTrackingNumber } from './masking.js';

export type Cell = string | number;

export const HEADINGS = [
  'User Code',
  'Package ID',
  'Tracking Number',
  'House Number',
  'First Name',
  'Last Name',
  'Courier',
  'Courier Code',
  'Carrier',
  'Shipper',
  'Weight',
  'Status',
  'Manifest Number',
  'Entry Date Time',
] as const;

/** A line of a file, in the order of HEADINGS; what is unknown is an empty text. */
export function toCells(caller: UserCaller, row: ExportRow): Cell[] {
  return [
    harmless(row.user_code ?? ''),
    harmless(row.id),
    harmless(shownTrackingNumber(caller, row)),
    harmless(row.house_number),
    harmless(row.first_name ?? ''),
    harmless(row.last_name ?? ''),
    harmless(row.courier_name ?? ''),
    harmless(row.courier_code ?? ''),
    harmless(row.carrier_name ?? ''),
    harmless(row.shipper ?? ''),
    Number(row.weight_lb),
    harmless(row.status),
    harmless(row.manifest_number ?? ''),
    row.entry_date_time,
  ];
}

// What a formula may begin with, and what spreadsheet programs take for it: the wide and the small forms.
const SIGNS = String.raw`=+\-@＝＋－＠﹦﹢﹣﹫`;
// invisible characters, which a program may skip before it looks: white space, controls, marks without a width
const SKIPPED = String.raw`\s\p{Cc}\p{Cf}`;
// nearly every text; asking this first takes a fifth of the time
const BEGINS_PLAINLY = /^[0-9A-Za-z]/;
const FORMULA = new RegExp(`^(?:[${SKIPPED}]*[${SIGNS}]|[\\t\\r\\n\\0])`, 'u');

/**
 * The text as a spreadsheet program takes it for a text: one that it might run as a formula gets an apostrophe
 * in front, which such programs read as "this is text".
 */
export const harmless = (text: string): string =>
  !BEGINS_PLAINLY.test(text) && FORMULA.test(text) ? `'${text}` : text;
