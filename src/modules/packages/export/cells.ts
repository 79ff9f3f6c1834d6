import { harmless, type Cell } from '../../../platform/files/csv.js';
import type { UserCaller } from '../../../platform/identity/callers.js';
import { shownTrackingNumber } from '../../tracking-numbers/public.js';
import type { ExportRow } from '../list/queries.js';

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
    harmless(row.userCode ?? ''),
    harmless(row.id),
    harmless(shownTrackingNumber(caller, row)),
    harmless(row.houseNumber),
    harmless(row.firstName ?? ''),
    harmless(row.lastName ?? ''),
    harmless(row.courierName ?? ''),
    harmless(row.courierCode ?? ''),
    harmless(row.carrierName ?? ''),
    harmless(row.shipper ?? ''),
    Number(row.weightLb),
    harmless(row.status),
    harmless(row.manifestNumber ?? ''),
    row.entryDateTime,
  ];
}
