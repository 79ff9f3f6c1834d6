import { auditLater } from '../../../platform/audit/audit.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import type { Tx } from '../../../platform/db/scope.js';
import type { Sql } from '../../../platform/db/statements.js';
import { quotaOf, remainingQuota, takeQuota } from '../../../platform/limits/stored/quotas.js';
import { addJobs } from '../../../platform/queue/jobs.js';
import { addClock, countPlaying, lockClock, startOfPrealerts } from './queries.js';

export const LIVES_PER_DAY = quotaOf('sandbox_lives');

/** Each is locked and played in its turn, so that many would delay each other. */
export const MAX_PLAYING = 20;

/** Takes the lock of the sandbox, and adds its clock if it has none. */
export async function lockSandbox(tx: Tx, courierId: string): Promise<void> {
  await tx.query([addClock(tx, courierId), lockClock(tx)]);
}

/** Returns how many more lives may play. To be called under the lock of the sandbox. */
export async function roomForLives(tx: Tx): Promise<number> {
  const [row] = await tx.query(countPlaying(tx));
  return MAX_PLAYING - (row?.playing ?? 0);
}

/** Starts the lives of new pre-alerts with magic numbers, as many as there is room for. To be called under the lock of the sandbox. */
export async function startMagicLives(tx: Tx, courierId: string): Promise<void> {
  const atMost = Math.min(await roomForLives(tx), await remainingQuota(tx, LIVES_PER_DAY, courierId));
  if (atMost <= 0) return;
  const started = await tx.query(startOfPrealerts(tx, atMost));
  if (started.length === 0) return;
  auditLater(tx, 'courier.sandbox_lives_started', courierId, { after: { lives: started } });
  await takeQuota(tx, LIVES_PER_DAY, courierId, started.length);
}

/** Queues the job that plays what is due in the sandbox. One of its jobs waits at most, however often its clock is moved. */
export const queuePlaying = (scope: Tx | RequestContext): Sql =>
  addJobs(scope, 'playSandbox', [{ tenantId: scope.tenantId }], { key: `playSandbox:${scope.tenantId}` });
