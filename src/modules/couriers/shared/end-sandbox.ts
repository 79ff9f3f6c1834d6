import { auditLater } from '../../../platform/audit/audit.js';
import { ownRows } from '../../../platform/db/filters.js';
import type { UserTx } from '../../../platform/db/scope.js';
import { once, type Sql } from '../../../platform/db/statements.js';

const markEnded = (tx: UserTx, courierId: string): Sql<{ id: string }> => once`
  update sandboxes s set ended_at = now(), ended_by = ${tx.caller.userId}::uuid
  where ${ownRows(tx, 's')} and s.courier_id = ${courierId}::uuid and s.ended_at is null
  returning s.id`;

/**
 * Ends the open sandbox of a courier: its credentials, its path and its webhooks. Audited.
 * @returns whether there was one
 */
export async function endSandbox(tx: UserTx, courierId: string): Promise<boolean> {
  const [ended] = await tx.query(markEnded(tx, courierId));
  if (!ended) return false;
  await tx.query(once`select disable_sandbox(${ended.id}::uuid)`);
  await tx.query(once`select close_sandbox(${ended.id}::uuid)`);
  auditLater(tx, 'courier.sandbox_ended', courierId, { before: { sandbox_id: ended.id } });
  return true;
}
