import { auditLater } from '../../platform/audit/audit.js';
import type { Tx } from '../../platform/db/scope.js';

/** Deletes a user's PIN, and what stations remember of the user. */
export async function removePinOf(tx: Tx, userId: string): Promise<void> {
  const removed = await tx.models.user.updateMany({
    where: { id: userId, pinHash: { not: null } },
    data: { pinHash: null },
  });
  await tx.models.stationWorker.deleteMany({ where: { userId } });
  if (removed.count > 0) auditLater(tx, 'user.pin_removed', userId);
}
