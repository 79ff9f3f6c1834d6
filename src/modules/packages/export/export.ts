import type { UserContext } from '../../../platform/context/request-context.js';
import type { FileReply } from '../../../platform/contract/types.js';
import type { PageQuery } from '../../../platform/db/pages.js';
import { harmless, type Cell } from '../../../platform/files/csv-cells.js';
import { writeCsv } from '../../../platform/files/csv.js';
import { filtersOf, type PackageFilters, type PackageQuery } from '../list/filters.js';
import { exportPackages, type ExportRow, type PackageOrder } from '../list/queries.js';
import { exportName, MEDIA_TYPES, type ExportFormat } from '../../../platform/files/exports.js';
import type { WorkbookWriter } from '../../../platform/files/spreadsheet/write-workbook.js';
import type { UserCaller } from '../../../platform/identity/callers.js';
import { shownTrackingNumber } from '../../tracking-numbers/public.js';
import { zoneOfDays } from '../../tenant-settings/public.js';

export type ExportQuery = PackageFilters & PageQuery & Partial<PackageOrder> & Pick<PackageQuery, 'day_zone'>;
type ExportOptions<Format> = { format: Format; now: Date; writeWorkbook: WorkbookWriter };

/**
 * Returns one page of the matching packages as a file, with tracking numbers masked as in the list. Holds at
 * most 10,000 rows in memory.
 */
export async function exportPage<Format extends ExportFormat>(
  ctx: UserContext,
  query: ExportQuery,
  { format, now, writeWorkbook }: ExportOptions<Format>,
): Promise<FileReply<(typeof MEDIA_TYPES)[Format]>> {
  const { page, limit, sort_by, sort_dir } = query;
  const order = sort_by && sort_dir ? { sort_by, sort_dir } : {};
  const filters = filtersOf(query, await zoneOfDays(ctx, query.day_zone));
  const [rows] = await ctx.read([exportPackages(ctx, filters, { page, limit, ...order })], {
    from: 'replica',
  });
  const write = format === 'csv' ? writeCsv : writeWorkbook;
  const content = await write(HEADINGS, rows, (row) => toCells(ctx.caller, row));
  return { name: exportName('packages', now, format), mediaType: MEDIA_TYPES[format], content };
}

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
