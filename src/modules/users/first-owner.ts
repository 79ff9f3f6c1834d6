import type { Tx } from '../../platform/db/scope.js';

/** Returns whether a new user of a courier becomes its owner: if nobody else can manage its users. */
export const needsOwner = async (tx: Tx, courierId: string): Promise<boolean> =>
  (await tx.models.user.count({ where: { courierId, isCourierOwner: true, isActive: true } })) === 0;
