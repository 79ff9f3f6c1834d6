import { lockUserCode } from '../../../platform/db/locks.js';
import type { UserTx } from '../../../platform/db/scope.js';
import { ApiError } from '../../../platform/errors/errors.js';
import { changeUserCode, countUserCode, insertRename, renameFacts, type UserCodeChange } from './queries.js';

/**
 * The most open pre-alerts of a customer that a rename writes. They are written at once, because intake decides with them, and
 * submissions of the code wait meanwhile. Customers have a few open ones.
 */
export const MAX_OPEN = 2_000;

/** The most received ones that it writes beside them. The worker writes the others. */
const MAX_RECEIVED = 500;

/** A rename takes at most so much of the courier's quota, so that a customer with more pre-alerts can be renamed. */
const MAX_COUNTED = 10_000;

/**
 * Updates the pre-alerts of a customer whose user code has changed, in the same transaction. A pre-alert
 * refers to its customer only by the code, so it would otherwise refer to no customer, or to the next one
 * with that code. Waits for transactions that are storing pre-alerts with the code, and then finds theirs.
 * Returns the number of pre-alerts that count against the quota.
 *
 * @throws ApiError too_many_open_prealerts, rename_unfinished
 */
export async function renameOnPrealerts(tx: UserTx, change: UserCodeChange): Promise<number> {
  tx.later(lockUserCode(tx.tenantId, change.from));
  const [facts] = await tx.query(renameFacts(tx, change, MAX_OPEN));
  if (!facts) throw new Error('A query of constants returned no row.');
  if (facts.isBlocked) throw new ApiError('rename_unfinished');
  if (facts.open > MAX_OPEN) throw new ApiError('too_many_open_prealerts', { args: { limit: MAX_OPEN } });
  const [[changed], [left]] = await tx.query([
    changeUserCode(tx, change, { open: MAX_OPEN, received: MAX_RECEIVED }),
    countUserCode(tx, change, MAX_COUNTED),
  ]);
  const leftCount = left?.count ?? 0;
  if (leftCount > 0) tx.later(insertRename(tx, change));
  return Math.min(MAX_COUNTED, (changed?.count ?? 0) + leftCount);
}
