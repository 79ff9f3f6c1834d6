import type { BulkLimits } from '../../../platform/limits/bulk-limits.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import type { BodyOf, DataOf } from '../../../platform/contract/types.js';
import { ApiError } from '../../../platform/errors/errors.js';
import { makeInvalidCells } from '../../../platform/files/invalid-cells.js';
import type { WorkbookReader } from '../../../platform/files/workbook/read-workbook.js';
import { courierExists, courierOfUpload } from '../../couriers/public.js';
import type { Tx } from '../../../platform/db/scope.js';
import { ownerById, type OwnerSelection } from '../duplicates/existing.js';
import { comparePrealerts, type NumberedPrealert } from '../batches/batch-queries.js';
import {
  prepareBatch,
  readExisting,
  storeBatch,
  type Batch,
  type ExistingByNumber,
} from '../batches/store-batch.js';
import { readUpload, type Upload } from './upload-rows.js';

/** 10,000 rows take seconds on a busy server. */
const TIMEOUT_MS = 60_000;

const MAX_LISTED_ROWS = 1_000;

export type UploadDeps = { bulk: BulkLimits; readWorkbook: WorkbookReader };

/**
 * Creates a courier's pre-alerts from a CSV file or a workbook, all or none. Tracking numbers that the courier has already announced are
 * skipped.
 * @throws ApiError validation_failed, invalid_encoding, courier_not_found, overloaded
 */
export async function uploadPrealerts(
  ctx: UserContext,
  { bulk, readWorkbook }: UploadDeps,
  form: BodyOf<'uploadPrealerts'>,
): Promise<DataOf<'uploadPrealerts'>> {
  const courierId = courierOfUpload(ctx.caller, form.target_courier_id);
  return bulk.limitUpload(ctx.caller, courierId, async () => {
    const upload = await readUpload({
      path: form.file.path,
      readWorkbook: () => readWorkbook({ tenantId: ctx.tenantId, courierId }, form.file),
    });
    const prealerts = [...upload.prealerts.values()];
    const batch = await prepareBatch(ownerById(ctx, courierId), prealerts);
    const compared = await compare(ctx, courierId, prealerts, batch);
    assertKnownCustomers(prealerts, compared.rows);
    const outcome = form.dry_run ? compared : await store(ctx, prealerts, batch);
    const counts = countRows(upload, outcome, form.dry_run);
    ctx.noteWrites({ share: counts.created / Math.max(1, counts.processed), carried: upload.carried });
    return counts;
  });
}

/** A row of a known customer. */
type Row = { number: number; isDuplicate: boolean };
type Outcome = { rows: Row[]; existing: ExistingByNumber };

const duplicatesOf = (rows: Row[]): number[] =>
  rows.flatMap(({ number, isDuplicate }) => (isDuplicate ? number : []));

/** The existing pre-alerts of the duplicates that the response lists. */
const existingOf = (
  tx: Pick<Tx, 'query'>,
  owner: OwnerSelection,
  prealerts: NumberedPrealert[],
  rows: Row[],
) => readExisting(tx, owner, prealerts, duplicatesOf(rows).slice(0, MAX_LISTED_ROWS));

/** Compared before any write, because rolled-back rows would still take space in the tables. */
async function compare(
  ctx: UserContext,
  courierId: string,
  prealerts: NumberedPrealert[],
  { owner, packed }: Batch,
): Promise<Outcome> {
  return ctx.read(
    async (tx) => {
      if ((await tx.query(courierExists(ctx, courierId))).length === 0)
        throw new ApiError('courier_not_found');
      const rows = await tx.query(comparePrealerts(owner, packed));
      return { rows, existing: await existingOf(tx, owner, prealerts, rows) };
    },
    { timeoutMs: TIMEOUT_MS },
  );
}

function store(ctx: UserContext, prealerts: NumberedPrealert[], batch: Batch): Promise<Outcome> {
  return ctx.write(
    async (tx) => {
      const stored = await storeBatch(tx, batch, 'upload');
      // A customer may have been renamed or deactivated since the comparison.
      assertKnownCustomers(prealerts, stored);
      const rows = stored.map(({ number, id }) => ({ number, isDuplicate: id === null }));
      return { rows, existing: await existingOf(tx, batch.owner, prealerts, rows) };
    },
    { timeoutMs: TIMEOUT_MS },
  );
}

/** @throws ApiError validation_failed with the rows that are not among those of known customers */
function assertKnownCustomers(prealerts: NumberedPrealert[], known: { number: number }[]): void {
  const numbers = new Set(known.map(({ number }) => number));
  const invalid = makeInvalidCells();
  for (const { number } of prealerts)
    if (!numbers.has(number)) invalid.add(number, [{ column: 'user_code', problem: ['unknown_user_code'] }]);
  invalid.assertNone();
}

function countRows(
  { prealerts, repeated, skipped, file, warnings }: Upload,
  { rows, existing }: Outcome,
  isDryRun: boolean,
): DataOf<'uploadPrealerts'> {
  const duplicateRows = duplicatesOf(rows);
  const listed = [...duplicateRows, ...repeated.map(({ number }) => number)].sort((a, b) => a - b);
  return {
    processed: prealerts.size + repeated.length,
    created: prealerts.size - duplicateRows.length,
    duplicate: duplicateRows.length,
    repeated: repeated.length,
    skipped,
    duplicate_rows: listed.slice(0, MAX_LISTED_ROWS),
    existing: [...existing].map(([row, found]) => ({ row, ...found })),
    dry_run: isDryRun,
    file,
    warnings,
  };
}
