import type { UserContext } from '../../../platform/context/request-context.js';
import type { FileReply, QueryOf } from '../../../platform/contract/types.js';
import { ApiError } from '../../../platform/errors/errors.js';
import { writeCsv } from '../../../platform/files/csv.js';
import type { WorkbookWriter } from '../../../platform/files/spreadsheet/write-workbook.js';
import { selectFigures } from '../detail/queries.js';
import { HEADINGS, toCells } from './cells.js';
import type { Line, ManifestWriter } from './pdf/manifest.js';

import { selectHead, selectLines } from './queries.js';
import { toDocument, type Cargo } from './to-document.js';

/** The most that a manifest takes. Those that were filled before that limit can have more. */
const MAX_LINES = 10_000;

const MEDIA_TYPES = {
  pdf: 'application/pdf',
  csv: 'text/csv',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
} as const;

type Format = QueryOf<'getManifestDocument'>['format'];

/** The dependencies of a document. */
export type Writers = { writeManifest: ManifestWriter; writeWorkbook: WorkbookWriter };

/**
 * Returns the cargo manifest as a file. Holds at most 10,000 lines in memory.
 * @param now the time that a PDF names as the time of printing
 * @throws ApiError manifest_not_found, manifest_too_long
 */
export async function writeDocument(
  ctx: UserContext,
  { manifest_id: id, format }: QueryOf<'getManifestDocument'>,
  { now, ...writers }: Writers & { now: Date },
): Promise<FileReply<(typeof MEDIA_TYPES)[Format]>> {
  const cargo = await readCargo(ctx, id);
  const { head } = cargo;
  const name = `${head.status === 'draft' ? 'DRAFT-' : ''}${head.manifest_number}.${format}`;
  return { name, mediaType: MEDIA_TYPES[format], content: await write(cargo, format, now, writers) };
}

async function readCargo(ctx: UserContext, id: string): Promise<Cargo> {
  const [[head], lines, figures] = await ctx.read(
    [selectHead(ctx, id), selectLines(ctx, id, MAX_LINES + 1), selectFigures(ctx, id)],
    { from: 'replica' },
  );
  if (!head) throw new ApiError('manifest_not_found');
  if (lines.length > MAX_LINES) throw new ApiError('manifest_too_long', { args: { limit: MAX_LINES } });
  return { head, lines, figures };
}

async function write(
  cargo: Cargo,
  format: Format,
  now: Date,
  { writeManifest, writeWorkbook }: Writers,
): Promise<Buffer> {
  if (format === 'pdf') return writeManifest(await toDocument(cargo, now));
  // Counted while the lines are converted one after the other.
  let position = 0;
  const toLine = (line: Line) => toCells(cargo.head, line, (position += 1));
  return format === 'csv'
    ? writeCsv(HEADINGS, cargo.lines, toLine)
    : writeWorkbook(HEADINGS, cargo.lines, toLine);
}
