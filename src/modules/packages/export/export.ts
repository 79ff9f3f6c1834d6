import type { UserCaller } from '../../../platform/identity/callers.js';
import type { FileReply } from '../../../platform/contract/types.js';
import { writeCsv } from '../../../platform/files/csv.js';
import { snapshot, type Db } from '../../../platform/db/transaction.js';
import { HEADINGS, toCells } from './cells.js';
import { filtersOf, type PackageQuery } from '../list/filters.js';
import { exportPackages, type ExportRow } from '../list/queries.js';
import type { WorkbookWriter } from './spreadsheet.js';

const MEDIA_TYPES = {
  csv: 'text/csv',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
} as const;

type MediaType = (typeof MEDIA_TYPES)[keyof typeof MEDIA_TYPES];

/** The page that the filters select as a file, masked as the list is. At most 10,000 rows are in memory for it. */
export async function exportPage(
  db: Db,
  caller: UserCaller,
  query: PackageQuery,
  { now, writeWorkbook }: { now: Date; writeWorkbook: WorkbookWriter },
): Promise<FileReply<MediaType>> {
  const { page, limit, export_format: format } = query;
  const filters = filtersOf(query);
  const [rows] = await snapshot(db, caller, [exportPackages(db, caller, filters, { page, limit })]);
  const write = format === 'csv' ? writeCsv : writeWorkbook;
  // as: the columns that the statement selects
  const content = await write(HEADINGS, rows as ExportRow[], (row) => toCells(caller, row));
  return { name: `packages-${stampOf(now)}.${format}`, mediaType: MEDIA_TYPES[format], content };
}

/** YYYYMMDD-HHMMSS in UTC. */
const stampOf = (date: Date) =>
  date.toISOString().slice(0, 19).replaceAll('-', '').replaceAll(':', '').replace('T', '-');
