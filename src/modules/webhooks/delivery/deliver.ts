import { setTimeout as sleep } from 'node:timers/promises';
import { BACKGROUND } from '../../../platform/audit/audit.js';
import { makeContext, type SystemContext } from '../../../platform/context/request-context.js';
import type { SystemCaller } from '../../../platform/identity/callers.js';
import type { DeliveryQueue } from '../../../platform/queue/delivery-queues.js';
import type { TaskDeps } from '../../../platform/queue/task-context.js';
import { writeBodies, type Message } from './bodies.js';
import {
  claimDue,
  failPendingDeliveries,
  selectTarget,
  wakeWhenDue,
  type ClaimedRow,
  type TargetRow,
} from './claim-queries.js';
import { attempt, openSender, type Sender, type Target } from './send.js';
import {
  insertAttempts,
  postponeDeliveries,
  recordHealth,
  settleDeliveries,
  type AttemptResult,
  type Postponed,
} from './settle-queries.js';
import { recordQueuedSyncs } from './syncs.js';

/** The maximum number of concurrent requests to one courier's URL. */
const MAX_CONCURRENT = 16;
/** The number of queued synchronisations that become events in one transaction. */
const SYNCS_PER_TRANSACTION = 100;
/**
 * The maximum time per run of a delivery queue. After it, the queue is rescheduled so that others can run.
 */
const MAX_RUN_MS = 15_000;
/** How often a queue with outstanding requests is checked for new deliveries. */
const POLL_MS = 250;

/** A delivery queue, and a function that creates a context for each of its transactions. */
type QueueRun = { queue: DeliveryQueue; newContext: () => SystemContext };

/** The requests of a run: those in flight, and the outcomes that are not recorded yet. */
type Requests = {
  inFlight: Set<Promise<void>>;
  results: AttemptResult[];
  postponed: Postponed[];
  /** Positive once the URL's rate limit was reached. */
  pauseMs: number;
};

/**
 * Sends the due deliveries of a queue, and schedules the queue again for later ones. Each delivery is claimed
 * before it is sent and settled afterwards: if a worker crashes in between, it is sent again with the same
 * id. A slow response delays only one of the concurrent requests. If the outbound rate limit of the URL is
 * reached, the run ends; the postponed deliveries do not count as attempts and are sent in the next run.
 */
export async function deliver(deps: TaskDeps, queue: DeliveryQueue): Promise<void> {
  const caller: SystemCaller = { kind: 'system', tenantId: queue.tenantId };
  const newContext = () => makeContext(deps.db, caller, BACKGROUND);
  const runEndsMs = performance.now() + MAX_RUN_MS;
  const requests: Requests = { inFlight: new Set(), results: [], postponed: [], pauseMs: 0 };

  for (;;) {
    const isOpen = !deps.stopping.aborted && requests.pauseMs === 0 && performance.now() < runEndsMs;
    const room = isOpen ? MAX_CONCURRENT - requests.inFlight.size : 0;
    const { target, deliveries } = await settleAndClaim({ queue, newContext }, requests, room);
    if (target && deliveries.length > 0) {
      const sender = await openSender(newContext, deps.secrets, queue, target);
      for (const message of await writeBodies(newContext, queue.courierId, sender, deliveries))
        startRequest(deps, sender, message, requests);
    }
    if (room > 0 && deliveries.length === 0) {
      const hasSyncs = await recordQueuedSyncs(newContext(), queue, SYNCS_PER_TRANSACTION);
      if (hasSyncs) continue;
    }
    const isSettled = requests.results.length === 0 && requests.postponed.length === 0;
    if (requests.inFlight.size === 0 && isSettled) break;
    if (isSettled) await Promise.race([...requests.inFlight, sleep(POLL_MS, undefined, { ref: false })]);
  }
  const ctx = newContext();
  await ctx.pipeline([wakeWhenDue(ctx, queue, requests.pauseMs)]);
}

function startRequest(deps: TaskDeps, sender: Sender, message: Message, requests: Requests): void {
  const sending = attempt(deps, sender, message).then((result) => {
    requests.inFlight.delete(sending);
    if ('after_ms' in result) {
      requests.postponed.push(result);
      requests.pauseMs = Math.max(requests.pauseMs, result.after_ms);
      return;
    }
    // The request was cancelled because this process is stopping, which is no failure of the receiver. The
    // claim expires and another worker sends the delivery.
    if (!(deps.stopping.aborted && result.outcome === 'unreachable')) requests.results.push(result);
  });
  requests.inFlight.add(sending);
}

/**
 * Records the outcomes of requests and claims as many deliveries as there is room for. If the queue has no URL,
 * its pending deliveries fail.
 */
async function settleAndClaim(
  { queue, newContext }: QueueRun,
  requests: Requests,
  room: number,
): Promise<{ target: Target | undefined; deliveries: ClaimedRow[] }> {
  await postpone(newContext(), requests.postponed.splice(0));
  const [[row], claimed] = await settleThenClaim(newContext(), queue, requests.results.splice(0), room);
  const target = row?.url && row.isActive ? { ...row, url: row.url } : undefined;
  if (!target || target.isPaused) {
    const ctx = newContext();
    await ctx.pipeline([failPendingDeliveries(ctx, queue, { exceptTests: target !== undefined })]);
  }
  return { target, deliveries: target ? claimed : [] };
}

async function postpone(ctx: SystemContext, postponed: Postponed[]): Promise<void> {
  if (postponed.length > 0) await ctx.pipeline([postponeDeliveries(ctx, postponed)]);
}

/** In one round trip. */
async function settleThenClaim(
  ctx: SystemContext,
  queue: DeliveryQueue,
  results: AttemptResult[],
  room: number,
): Promise<[TargetRow[], ClaimedRow[]]> {
  const claiming = [selectTarget(ctx, queue), claimDue(ctx, queue, room)] as const;
  if (results.length === 0) return ctx.pipeline(claiming);
  const [, , , ...claimed] = await ctx.pipeline([
    insertAttempts(ctx, queue, results),
    settleDeliveries(ctx, results),
    recordHealth(ctx, queue, results),
    ...claiming,
  ]);
  return claimed;
}
