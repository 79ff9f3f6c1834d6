import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { UserCaller } from '../../../platform/identity/callers.js';
import type { BodyOf, DataOf } from '../../../platform/contract/types.js';
import { UUID } from '../../../platform/contract/validator.js';
import { lockUploads } from '../../../platform/db/locks.js';
import { assertQuota, remainingQuota, takeQuota, type Quota } from '../../../platform/db/quotas.js';
import { bulkTransaction, type Db, type PlainTx } from '../../../platform/db/transaction.js';
import { ApiError, invalidFieldError } from '../../../platform/errors/errors.js';
import { makeKeyedLimiter, type KeyedLimiter } from '../../../platform/concurrency/keyed-limiter.js';
import { applyUpload, compareUpload, courierExists, joinPacks, packRows, type Applied } from './queries.js';
import { readUpload, type UploadedCustomer } from './upload-rows.js';

/**
 * Returns the limiter that a process's uploads share. An upload uses a connection for seconds and holds a
 * file's rows in memory. A second one of the same courier would only wait with its connection.
 */
export const makeUploadLimiter = (): KeyedLimiter =>
  makeKeyedLimiter({ concurrency: 2, maxWaiting: 16, maxWaitMs: 10_000, retryAfterSeconds: 5 });

/** 100,000 rows take seconds, on a busy server longer than the timeout of ordinary requests. */
const TIMEOUT_MS = 60_000;

export type UploadContext = {
  db: Db;
  limiter: KeyedLimiter;
  caller: UserCaller;
  requestId: string;
  quota: Quota;
};

/**
 * Creates and updates a courier's customers from a CSV file, all or none.
 * @throws ApiError validation_failed, invalid_encoding, courier_not_found, overloaded, quota_exceeded
 */
export async function uploadCustomers(
  context: UploadContext,
  form: BodyOf<'uploadCustomers'>,
): Promise<DataOf<'uploadCustomers'>> {
  const courierId = courierOf(context.caller, form.target_courier_id);
  return context.limiter.run(`${context.caller.tenantId} ${courierId}`, async () => {
    const { customers, processed, skipped } = await readUpload(form.file.path);
    const total = customers.size;
    // Packed before the transaction, because the transaction holds locks.
    const packed = await pack([...customers.values()]);
    const { created, updated } = form.dry_run
      ? await compare(context, courierId, packed)
      : await apply(context, courierId, { packed, total, sha256: await sha256Of(form.file.path) });
    const counts = { created, updated, unchanged: total - created - updated, repeated: processed - total };
    return { processed, ...counts, skipped, dry_run: form.dry_run };
  });
}

/** Returns the caller's own courier, or the one that staff have given. */
function courierOf(caller: UserCaller, target = ''): string {
  if (caller.courierId) return caller.courierId;
  if (target === '') throw invalidFieldError('target_courier_id', 'required_for_staff');
  if (!UUID.test(target)) throw invalidFieldError('target_courier_id', 'invalid_uuid');
  // The schema accepts any text, because it is ignored for couriers. It is therefore validated here.
  return target.toLowerCase();
}

const PACK_ROWS = 2_000;

/** Packed in parts, so that the event loop is not blocked for long. */
async function pack(customers: UploadedCustomer[]): Promise<string> {
  const packs: string[] = [];
  for (let from = 0; from < customers.length; from += PACK_ROWS) {
    packs.push(packRows(customers.slice(from, from + PACK_ROWS)));
    await nextTurn();
  }
  return joinPacks(packs);
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

type PackedFile = { packed: string; total: number; sha256: string };

function apply(context: UploadContext, courierId: string, file: PackedFile): Promise<Applied> {
  const { db, caller, requestId, quota } = context;
  return bulkTransaction(db, caller, TIMEOUT_MS, async (tx) => {
    await tx.query(lockUploads(caller.tenantId, courierId));
    await assertCourier(tx, context, courierId);
    const quotaKey = { tenantId: caller.tenantId, courierId };
    await assertWithinQuota(tx, context, courierId, file);
    const sum = { created: 0, updated: 0, missed: 0 };
    do {
      // Repeated for customers that were created or renamed concurrently. Rows that this transaction has
      // already written are unchanged now.
      const [applied] = await tx.query<Applied>(applyUpload(db, caller, requestId, courierId, file));
      if (!applied) throw new Error('The upload was not counted.');
      sum.created += applied.created;
      sum.updated += applied.updated;
      sum.missed = applied.missed;
    } while (sum.missed > 0);
    await takeQuota(tx, quota, quotaKey, sum.created + sum.updated);
    return sum;
  });
}

/** Checked before any write, because rolled-back rows would still take space in the tables. */
async function assertWithinQuota(
  tx: PlainTx,
  { db, caller, quota }: UploadContext,
  courierId: string,
  { packed, total }: PackedFile,
): Promise<void> {
  const quotaKey = { tenantId: caller.tenantId, courierId };
  if (total <= (await remainingQuota(tx, quota, quotaKey))) return;
  const [compared] = await tx.query<Applied>(compareUpload(db, caller, courierId, packed));
  if (!compared) throw new Error('The upload was not counted.');
  await assertQuota(tx, quota, quotaKey, compared.created + compared.updated);
}

function compare(context: UploadContext, courierId: string, packed: string): Promise<Applied> {
  const { db, caller } = context;
  return bulkTransaction(db, caller, TIMEOUT_MS, async (tx) => {
    await assertCourier(tx, context, courierId);
    const [compared] = await tx.query<Applied>(compareUpload(db, caller, courierId, packed));
    if (!compared) throw new Error('The upload was not counted.');
    return compared;
  });
}

async function assertCourier(tx: PlainTx, { db, caller }: UploadContext, courierId: string): Promise<void> {
  const found = await tx.query(courierExists(db, caller, courierId));
  if (found.length === 0) throw new ApiError('courier_not_found');
}
