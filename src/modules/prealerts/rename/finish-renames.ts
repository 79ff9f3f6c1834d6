import { setTimeout as sleep } from 'node:timers/promises';
import { auditLater, BACKGROUND } from '../../../platform/audit/audit.js';
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
 * Gives pre-alerts of renamed customers the new code, in pieces that lock no user code (decision 0103). Each piece is one transaction,
 * so a worker that stops loses nothing. Pre-alerts that another transaction has locked get it in a later piece.
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

/** A further rename of the customer waits for it. The pre-alerts of a deleted customer get the last code. */
async function writePiece(tx: SystemTx, rename: Rename): Promise<void> {
  const [locked] = await tx.query(queries.lockRename(tx, rename));
  if (!locked) return;
  const changed = await tx.query(queries.continueRename(tx, rename, locked.to, PIECE));
  if (changed.length < PIECE) tx.later(queries.deleteRename(tx, rename));
  if (changed.length === 0) return;
  const ids = changed.map(({ id }) => id).sort();
  auditLater(tx, 'customer.prealerts_renamed', rename.customerId, {
    before: { user_code: rename.userCode },
    after: { user_code: locked.to, prealerts: ids.length, prealert_ids: ids },
  });
}
