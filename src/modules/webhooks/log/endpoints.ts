import { lock } from '../../../platform/db/columns.js';
import { ApiError, type FailureCode } from '../../../platform/errors/errors.js';
import type { Endpoint } from '../../../platform/queue/delivery-queues.js';
import type { UserTx } from '../../../platform/db/scope.js';
import { selectEndpoints, type Chosen, type Obstacle } from './resend-queries.js';

/** Why each URL of a courier cannot receive deliveries; null for one that can. */
export type Obstacles = Map<Endpoint, Obstacle | null>;

export type LockedEndpoints = { obstacles: Obstacles; chosen: Chosen };

/**
 * Locks the courier until the end of the transaction, because concurrent redeliveries would send twice.
 * @throws ApiError courier_not_found
 */
export async function lockEndpoints(tx: UserTx, courierId: string): Promise<LockedEndpoints> {
  // Read with a second statement: a statement that waits for the lock sees the pause from before the wait.
  await lock(tx, 'Courier', courierId, ['id'], 'no key update');
  const rows = await tx.query(selectEndpoints(tx, courierId));
  return { obstacles: new Map(rows.map(({ endpoint, obstacle }) => [endpoint, obstacle])), chosen: rows };
}

const REFUSALS = {
  missing: 'endpoint_missing',
  paused: 'endpoint_paused',
} satisfies Record<Obstacle, FailureCode>;

/** @throws ApiError endpoint_missing, endpoint_paused if the URL has one of the refused obstacles */
export function assertOpen(obstacles: Obstacles, endpoint: Endpoint, refused: Obstacle[]): void {
  const obstacle = obstacles.get(endpoint);
  if (obstacle && refused.includes(obstacle)) throw new ApiError(REFUSALS[obstacle]);
}
