import { audit } from '../../platform/audit/audit.js';
import { lockUserCode } from '../../platform/db/locks.js';
import type { UserTx } from '../../platform/db/scope.js';
import { changeUserCode, type UserCodeChange } from './queries.js';

/**
 * Updates the pre-alerts of a customer whose user code has changed, in the same transaction. A pre-alert
 * refers to its customer only by the code, so it would otherwise refer to no customer, or to the next one
 * with that code. Waits for transactions that are storing pre-alerts with the code, and then finds theirs.
 */
export async function renameOnPrealerts(tx: UserTx, change: UserCodeChange): Promise<void> {
  await tx.query(lockUserCode(tx.tenantId, change.from));
  const changed = await tx.query(changeUserCode(tx, change));
  if (changed.length === 0) return;
  const states = { before: { user_code: change.from }, after: { user_code: change.to } };
  const facts = changed.map(({ id }) => ({
    action: 'prealert.user_code_changed',
    entity: 'prealert' as const,
    entityId: id,
    ...states,
  }));
  tx.later(audit(tx, ...facts));
}
