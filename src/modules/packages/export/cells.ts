import type { UserCaller } from '../../../platform/identity/callers.js';
import { harmless, type Cell } from '../../../platform/files/csv.js';
import type { ExportRow } from '../list/queries.js';
import { shownTrackingNumber } from '../../tracking-numbers/public.js';

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

/** Returns the cells of one row, in the order of HEADINGS. An unknown value is an empty string. */
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
