import * as queries from './queries.js';
import { lockUserCode } from '../../../platform/db/locks.js';
import type { UserTx, SystemTx } from '../../../platform/db/scope.js';
import { ApiError } from '../../../platform/errors/errors.js';
import type { UserCodeChange } from './queries.js';

/** The most open pre-alerts that a rename writes, and the most others, so that those of most customers have the new code at once. The worker writes the others. */
const MAX_WRITTEN = 100;

/** A rename takes at most so much of the courier's quota, so that a customer with more pre-alerts can be renamed. */
const MAX_COUNTED = 10_000;

/** Returns the number of pre-alerts of a rename that count against the quota. It locks nothing. */
export async function countRenamed(tx: UserTx, change: UserCodeChange): Promise<number> {
  const [counted] = await tx.query(queries.countUserCode(tx, change, MAX_COUNTED));
  return counted?.count ?? 0;
}

/**
 * Gives the pre-alerts of a customer whose user code has changed the new code, in the same transaction. A pre-alert refers to its
 * customer only by the code, so it would otherwise refer to no customer. Waits for transactions that are storing pre-alerts with the
 * code. What it does under their lock is bounded: the pre-alerts beyond MAX_WRITTEN are left to the worker, and everything that reads
 * their customer follows the rename meanwhile (`presentCode`). Call it after the customer is written: then no other customer can get
 * one of the codes.
 *
 * @throws ApiError rename_unfinished
 */
export async function renameOnPrealerts(tx: UserTx, change: UserCodeChange): Promise<void> {
  const [[facts]] = await tx.query([queries.isBlocked(tx, change), queries.lockRenames(tx, change)]);
  if (facts?.isBlocked) throw new ApiError('rename_unfinished');
  tx.later(lockUserCode(tx.tenantId, change.from));
  for (const statement of queries.redirectRenames(tx, change)) tx.later(statement);
  tx.later(queries.changeUserCode(tx, change, MAX_WRITTEN));
  tx.later(queries.insertRename(tx, change));
}

/**
 * Refuses codes whose pre-alerts still wait for the new code of another customer: a customer who got one of them would get these
 * pre-alerts. Call it after the customers are written. A rename that gives up the code at the same time has ended then, and is seen.
 *
 * @param haveOne returns whether the written customers have one of these codes
 * @throws ApiError rename_unfinished
 */
export async function assertCodesFree(
  tx: UserTx | SystemTx,
  courierId: string,
  haveOne: (codes: string[]) => boolean | Promise<boolean>,
): Promise<void> {
  const codes = (await tx.query(queries.findBlockedCodes(tx, courierId))).map(({ userCode }) => userCode);
  if (codes.length > 0 && (await haveOne(codes))) throw new ApiError('rename_unfinished');
}
