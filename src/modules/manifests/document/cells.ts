import { harmless, type Cell } from '../../../platform/files/csv-cells.js';
import type { Line } from './pdf/manifest.js';
import type { HeadRow } from './queries.js';

export const HEADINGS = [
  'Manifest Number',
  'Manifest Status',
  'Air Waybill',
  'Flight Number',
  'Flight Date',
  'Origin',
  'Line',
  'House Number',
  'Tracking Number',
  'Courier Code',
  'Courier',
  'User Code',
  'First Name',
  'Last Name',
  'Pieces',
  'Weight LB',
  'Weight KG',
  'Package Status',
  'Carrier',
  'Shipper',
  'Description',
] as const;

/**
 * Returns the cells of one line, in the order of HEADINGS. An unknown value is an empty string. The manifest is repeated in each line, so
 * that files of several manifests can be combined.
 */
export function toCells(head: HeadRow, line: Line, position: number): Cell[] {
  return [
    harmless(head.manifest_number),
    head.status.toUpperCase(),
    harmless(head.awb_number ?? ''),
    harmless(head.flight_number ?? ''),
    head.flight_date ?? '',
    harmless(head.origin),
    position,
    harmless(line.house_number),
    harmless(line.tracking_number),
    harmless(line.courier_code ?? ''),
    harmless(line.courier_name ?? ''),
    harmless(line.user_code ?? ''),
    harmless(line.first_name ?? ''),
    harmless(line.last_name ?? ''),
    1,
    Number(line.weight_lb),
    Number(line.weight_kg),
    line.status,
    harmless(line.carrier_name ?? ''),
    harmless(line.shipper ?? ''),
    harmless(line.description ?? ''),
  ];
}
