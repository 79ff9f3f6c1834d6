import { setTimeout as sleep } from 'node:timers/promises';
import { audit, BACKGROUND } from '../../../platform/audit/audit.js';
import { makeContext } from '../../../platform/context/request-context.js';
import type { Db } from '../../../platform/db/database.js';
import type { SystemTx } from '../../../platform/db/scope.js';
import type { SystemCaller } from '../../../platform/identity/callers.js';
import * as queries from './queries.js';
import type { Rename } from './queries.js';

const PIECE = 500;

/** The worker's other jobs run beside it. */
const PAUSE_MS = 50;

/** The most time for a tenant. It runs every minute, for one tenant after the other. */
const FOR_MS = 5_000;

/**
 * Gives received pre-alerts of renamed customers the present code, in pieces that lock no user code (decision 0103). Each piece is
 * one transaction, so a worker that stops loses nothing.
 */
export async function finishRenames(db: Db, caller: SystemCaller): Promise<void> {
  const endMs = performance.now() + FOR_MS;
  while (performance.now() < endMs) {
    const ctx = makeContext(db, caller, BACKGROUND);
    const [[rename]] = await ctx.read([queries.anyRename(ctx)]);
    if (!rename) return;
    await makeContext(db, caller, BACKGROUND).write((tx) => writePiece(tx, rename));
    await sleep(PAUSE_MS);
  }
}

/** Locks the customer first, as a rename does. */
async function writePiece(tx: SystemTx, rename: Rename): Promise<void> {
  const [customer] = await tx.query(queries.keepCustomer(tx, rename.customerId));
  const locked = await tx.query(queries.lockRename(tx, rename));
  if (locked.length === 0) return;
  // The pre-alerts of a deleted customer keep their code, and so do those of one that has its code again.
  if (!customer || customer.userCode === rename.userCode) {
    tx.later(queries.deleteRename(tx, rename));
    return;
  }
  const [changed] = await tx.query(queries.continueRename(tx, rename, customer.userCode, PIECE));
  const count = changed?.count ?? 0;
  if (count < PIECE) tx.later(queries.deleteRename(tx, rename));
  if (count === 0) return;
  tx.later(
    audit(tx, {
      action: 'customer.prealerts_renamed',
      entity: 'customer',
      entityId: rename.customerId,
      before: { user_code: rename.userCode },
      after: { user_code: customer.userCode, prealerts: count },
    }),
  );
}
