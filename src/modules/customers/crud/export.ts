import type { UserContext } from '../../../platform/context/request-context.js';
import type { FileReply } from '../../../platform/contract/types.js';
import { harmless, type Cell } from '../../../platform/files/csv-cells.js';
import { writeCsv } from '../../../platform/files/csv.js';
import { exportName, MEDIA_TYPES, type ExportFormat } from '../../../platform/files/exports.js';
import type { WorkbookWriter } from '../../../platform/files/spreadsheet/write-workbook.js';
import { formatDateTime } from '../../../platform/values/time.js';
import { pageOfCustomers, type Query } from './list-queries.js';
import type { CustomerRow } from './queries.js';

type Options<Format> = { format: Format; now: Date; writeWorkbook: WorkbookWriter };

/** Returns one page of the matching customers as a file, in the order of the list. Holds at most 10,000 rows in memory. */
export async function exportCustomers<Format extends ExportFormat>(
  ctx: UserContext,
  query: Query,
  { format, now, writeWorkbook }: Options<Format>,
): Promise<FileReply<(typeof MEDIA_TYPES)[Format]>> {
  const [rows] = await ctx.read([pageOfCustomers(ctx, query)], { from: 'replica' });
  const write = format === 'csv' ? writeCsv : writeWorkbook;
  const content = await write(HEADINGS, rows, toCells);
  return { name: exportName('customers', now, format), mediaType: MEDIA_TYPES[format], content };
}

/** The upload of customers knows the first four, and ignores the others. */
const HEADINGS = [
  'User Code',
  'First Name',
  'Last Name',
  'Branch',
  'Active',
  'Courier',
  'Created At',
  'Updated At',
] as const;

/** Returns the cells of one row, in the order of HEADINGS. */
const toCells = (row: CustomerRow): Cell[] => [
  harmless(row.userCode),
  harmless(row.firstName),
  harmless(row.lastName),
  harmless(row.branch ?? ''),
  row.isActive ? 1 : 0,
  harmless(row.courierName),
  formatDateTime(row.createdAt),
  formatDateTime(row.updatedAt),
];
