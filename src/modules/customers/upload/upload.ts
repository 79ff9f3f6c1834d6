import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { pause } from '../../../platform/concurrency/pause-when-due.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import type { BodyOf, DataOf } from '../../../platform/contract/types.js';
import { lockUploads } from '../../../platform/db/locks.js';
import {
  assertQuota,
  remainingQuota,
  takeQuota,
  type Quota,
} from '../../../platform/limits/stored/quotas.js';
import type { Sql } from '../../../platform/db/statements.js';
import { ApiError } from '../../../platform/errors/errors.js';
import { newIds } from '../../../platform/values/ids.js';
import type { BulkLimits } from '../../../platform/limits/bulk-limits.js';
import { courierExists, courierOfUpload } from '../../couriers/public.js';
import type { Tx, UserTx } from '../../../platform/db/scope.js';
import { assertCodesFree } from '../../prealerts/public.js';
import { applyUpload, compareUpload, likeNewCodes, withoutNestedLoops, type Applied } from './queries.js';
import { leadingZerosWarning, type Warning } from '../../../platform/files/upload-report.js';
import type { WorkbookReader } from '../../../platform/files/workbook/read-workbook.js';
import { countParts } from '../shared/bulk-audit.js';
import { joinPacks, packRows } from '../shared/packing.js';
import { describeLikeCode, isNumericCode, type LikeCode } from '../shared/leading-zeros.js';
import { readUpload, type UploadedCustomer } from './upload-rows.js';

/** A piece takes a second, on a busy server longer than the timeout of ordinary requests. */
const TIMEOUT_MS = 60_000;

export type UploadDeps = {
  bulk: BulkLimits;
  readWorkbook: WorkbookReader;
  /** The daily quota of changed customers per courier. */
  quota: Quota;
};

/**
 * Creates and updates a courier's customers from a CSV file or a workbook, all or none.
 * @throws ApiError validation_failed, invalid_encoding, courier_not_found, overloaded, quota_exceeded, rename_unfinished
 */
export async function uploadCustomers(
  ctx: UserContext,
  deps: UploadDeps,
  form: BodyOf<'uploadCustomers'>,
): Promise<DataOf<'uploadCustomers'>> {
  const courierId = courierOfUpload(ctx.caller, form.target_courier_id);
  return deps.bulk.limitUpload(ctx.caller, courierId, async () => {
    const { customers, processed, skipped, file, warnings, carried } = await readUpload({
      path: form.file.path,
      readWorkbook: () => deps.readWorkbook({ tenantId: ctx.tenantId, courierId }, form.file),
    });
    const total = customers.size;
    // Packed before the transaction, because the transaction holds locks.
    const pieces = await pack([...customers.values()]);
    const { created, updated, likeCodes } = form.dry_run
      ? await compare(ctx, courierId, { pieces, total, customers })
      : await apply(ctx, deps, courierId, {
          pieces,
          total,
          customers,
          sha256: await sha256Of(form.file.path),
        });
    if (!form.dry_run) ctx.noteWrites({ share: (created + updated) / Math.max(1, processed), carried });
    const counts = { created, updated, unchanged: total - created - updated, repeated: processed - total };
    const all = [...warnings, ...warningOf(likeCodes)];
    return { processed, ...counts, skipped, dry_run: form.dry_run, file, warnings: all };
  });
}

function warningOf(likeCodes: LikeCode[]): Warning[] {
  const [first] = likeCodes;
  const rows = likeCodes.map(({ position }) => position);
  return leadingZerosWarning(rows, first && `Row ${first.position}: ${describeLikeCode(first)}`);
}

const PACK_ROWS = 2_000;
/** Each statement reads all customers of the courier, so smaller pieces would cost more. */
const PACKS_PER_PIECE = 5;

/** Packed in parts, so that the event loop is not blocked for long. */
async function pack(customers: UploadedCustomer[]): Promise<string[]> {
  const packs: string[] = [];
  for (let from = 0; from < customers.length; from += PACK_ROWS) {
    const rows = customers.slice(from, from + PACK_ROWS);
    const ids = newIds(rows.length);
    packs.push(
      packRows(rows.map((row, n) => [ids[n], row.userCode, row.firstName, row.lastName, row.branch])),
    );
    await pause();
  }
  const pieces: string[] = [];
  while (packs.length > 0) pieces.push(joinPacks(packs.splice(0, PACKS_PER_PIECE)));
  return pieces;
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

/** The rows of the file in pieces, each for one statement. */
type PackedRows = { pieces: string[]; total: number; customers: ReadonlyMap<string, UploadedCustomer> };
type Counted = Pick<Applied, 'created' | 'updated'> & { likeCodes: LikeCode[] };
type PackedFile = PackedRows & { sha256: string };

/** Below it, looking up each customer costs less than reading all customers of the courier. */
const MANY_ROWS = 1_000;

const isInFile =
  ({ customers }: PackedRows) =>
  (blocked: string[]): boolean =>
    blocked.some((code) => customers.has(code));

async function planFor(tx: Tx, { total }: PackedRows): Promise<void> {
  if (total > MANY_ROWS) await tx.count(withoutNestedLoops);
}

function apply(
  ctx: UserContext,
  { bulk, quota }: UploadDeps,
  courierId: string,
  file: PackedFile,
): Promise<Counted> {
  return ctx.write(
    async (tx) => {
      await tx.query(lockUploads(ctx.tenantId, courierId));
      await assertCourier(tx, courierId);
      await planFor(tx, file);
      // Before any write too, like the quota.
      await assertCodesFree(tx, courierId, isInFile(file));
      await assertWithinQuota(tx, quota, courierId, file);
      const likeCodes = await findLikeCodes(tx, courierId, file);
      const sum = { created: 0, updated: 0, parts: 0 };
      for (const packed of file.pieces) {
        await bulk.runPiece(() => applyPiece(tx, courierId, { packed, sha256: file.sha256 }, sum));
      }
      await assertCodesFree(tx, courierId, isInFile(file));
      await takeQuota(tx, quota, courierId, sum.created + sum.updated);
      return { ...sum, likeCodes };
    },
    { timeoutMs: TIMEOUT_MS },
  );
}

type Changes = Omit<Applied, 'missed'> & { parts: number };
type Piece = { packed: string; sha256: string };

/** Adds the changes to `sum`. */
async function applyPiece(tx: UserTx, courierId: string, piece: Piece, sum: Changes): Promise<void> {
  let missed: number;
  do {
    // Repeated for customers that were created or renamed concurrently. Rows that this transaction has
    // already written are unchanged now.
    const applied = await countsOf(tx, applyUpload(tx, courierId, { ...piece, earlierParts: sum.parts }));
    sum.created += applied.created;
    sum.updated += applied.updated;
    sum.parts += countParts(applied.created + applied.updated);
    missed = applied.missed;
  } while (missed > 0);
}

/** Checked before any write, because rolled-back rows would still take space in the tables. */
async function assertWithinQuota(
  tx: UserTx,
  quota: Quota,
  courierId: string,
  { pieces, total }: PackedFile,
): Promise<void> {
  if (total <= (await remainingQuota(tx, quota, courierId))) return;
  const { created, updated } = await countsOf(tx, compareUpload(tx, courierId, joinPacks(pieces)));
  await assertQuota(tx, quota, courierId, created + updated);
}

function compare(ctx: UserContext, courierId: string, file: PackedRows): Promise<Counted> {
  return ctx.write(
    async (tx) => {
      await assertCourier(tx, courierId);
      await planFor(tx, file);
      await assertCodesFree(tx, courierId, isInFile(file));
      const likeCodes = await findLikeCodes(tx, courierId, file);
      return { ...(await countsOf(tx, compareUpload(ctx, courierId, joinPacks(file.pieces)))), likeCodes };
    },
    { timeoutMs: TIMEOUT_MS },
  );
}

/** Before the rows are written, because only new customers are looked up. */
async function findLikeCodes(tx: UserTx, courierId: string, { customers }: PackedRows): Promise<LikeCode[]> {
  const numeric = [...customers.values()].filter(({ userCode }) => isNumericCode(userCode));
  return numeric.length === 0 ? [] : tx.query(likeNewCodes(tx, courierId, numeric));
}

async function countsOf(tx: Tx, statement: Sql<Applied>): Promise<Applied> {
  const [counts] = await tx.query(statement);
  if (!counts) throw new Error('The upload was not counted.');
  return counts;
}

async function assertCourier(tx: UserTx, courierId: string): Promise<void> {
  const found = await tx.query(courierExists(tx, courierId));
  if (found.length === 0) throw new ApiError('courier_not_found');
}
