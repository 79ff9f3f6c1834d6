import type { UserCaller } from '../auth/callers.js';
import type { FileReply } from '../contract/types.js';
import { readInScope, type Db } from '../db/transaction.js';
import { toCells } from './cells.js';
import { writeCsv } from './csv.js';
import { filtersOf, type PackageQuery } from './filters.js';
import { exportPackages, type ExportRow } from './list-queries.js';
import { writeWorkbook } from './spreadsheet.js';

const KINDS = {
  csv: { mediaType: 'text/csv', write: writeCsv },
  xlsx: {
    mediaType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    write: writeWorkbook,
  },
} as const;

type MediaType = (typeof KINDS)[keyof typeof KINDS]['mediaType'];

/** The page that the filters select as a file, masked as the list is. At most 10,000 rows are in memory for it. */
export async function exportPage(
  db: Db,
  caller: UserCaller,
  query: PackageQuery,
  now: Date,
): Promise<FileReply<MediaType>> {
  const { page, limit, export_format: format } = query;
  const filters = filtersOf(query);
  const [rows] = await readInScope(db, caller, [exportPackages(db, caller, filters, { page, limit })]);
  const { mediaType, write } = KINDS[format];
  // as: the columns that the statement selects
  const content = await write(rows as ExportRow[], (row) => toCells(caller, row));
  return { name: `packages-${stampOf(now)}.${format}`, mediaType, content };
}

/** YYYYMMDD-HHMMSS in UTC. */
const stampOf = (date: Date) =>
  date.toISOString().slice(0, 19).replaceAll('-', '').replaceAll(':', '').replace('T', '-');
