import { BACKGROUND } from '../../../platform/audit/audit.js';
import { makeContext, type SystemContext } from '../../../platform/context/request-context.js';
import type { SystemCaller } from '../../../platform/identity/callers.js';
import type { DeliveryQueue } from '../../../platform/queue/delivery-queues.js';
import type { TaskDeps } from '../../../platform/queue/task-context.js';
import { writeBodies, type Message } from './bodies.js';
import { failPendingDeliveries, wakeWhenDue, type ClaimedRow } from './claim-queries.js';
import type { ExchangeBudget } from '../exchanges/exchange-queries.js';
import { attempt, openSender, type EndedAttempt, type Sender, type Target } from './send.js';
import { postponeDeliveries, type Postponed } from './settle-queries.js';
import { settleThenClaim } from './settle.js';
import { recordQueuedSyncs } from './syncs.js';

/** The maximum number of concurrent requests to one courier's URL. */
const MAX_CONCURRENT = 16;
/** The maximum number of deliveries that are claimed before a request is free for them. */
const MAX_AHEAD = 64;
/** A claimed delivery that has not been started after this time is released, because the courier may have changed its URL. */
const MAX_WAIT_MS = 1_000;
/** The number of queued synchronisations that become events in one transaction. */
const SYNCS_PER_TRANSACTION = 100;
/**
 * The maximum time per run of a delivery queue. After it, the queue is rescheduled so that others can run.
 */
const MAX_RUN_MS = 15_000;
/** How often a queue with outstanding requests is checked for new deliveries. */
const POLL_MS = 250;

/** A delivery queue, and a function that creates a context for each of its transactions. */
type QueueRun = {
  queue: DeliveryQueue;
  newContext: () => SystemContext;
  exchangeDays: number;
  metrics: TaskDeps['metrics'];
  /** As the run last read it. */
  budget: ExchangeBudget;
};

/** A claimed delivery that waits for a free request. */
type Waiting = { sender: Sender; message: Message; claimedMs: number };

/** The requests of a run: those that wait, those in flight, and the outcomes that are not recorded yet. */
type Requests = {
  waiting: Waiting[];
  inFlight: number;
  /** The number of responses, whatever their status. */
  answered: number;
  results: EndedAttempt[];
  postponed: Postponed[];
  /** Positive once the URL's rate limit was reached. */
  pauseMs: number;
  /** What `attempt` threw, which is a bug. The job then fails and is retried. */
  errors: unknown[];
  /** Whether the run may claim and start more deliveries. */
  isOpen: () => boolean;
  /** Called when a request has ended. */
  onEnd: () => void;
};

/**
 * Sends the due deliveries of a queue, and schedules the queue again for later ones. Each delivery is claimed
 * before it is sent and settled afterwards: if a worker crashes in between, it is sent again with the same
 * id. A slow response delays only one of the concurrent requests. If the outbound rate limit of the URL is
 * reached, the run ends; the postponed deliveries do not count as attempts and are sent in the next run.
 *
 * Outcomes are recorded and deliveries claimed many at a time, because each time costs PostgreSQL five statements: when half
 * of the claimed deliveries have ended, or after POLL_MS. A receiver that responded to n requests gets up to 2n ahead.
 *
 * Returns the number of responses.
 */
export async function deliver(deps: TaskDeps, queue: DeliveryQueue): Promise<number> {
  const caller: SystemCaller = { kind: 'system', tenantId: queue.tenantId };
  const newContext = () => makeContext(deps.db, caller, BACKGROUND);
  const { webhookExchangeDays: exchangeDays } = deps.config;
  const { metrics } = deps;
  const run = { queue, newContext, exchangeDays, metrics, budget: { usedBytes: 0, hasFailure: false } };
  const runEndsMs = performance.now() + MAX_RUN_MS;
  const requests: Requests = {
    waiting: [],
    inFlight: 0,
    answered: 0,
    results: [],
    postponed: [],
    pauseMs: 0,
    errors: [],
    isOpen: () =>
      !deps.stopping.aborted &&
      requests.pauseMs === 0 &&
      requests.errors.length === 0 &&
      performance.now() < runEndsMs,
    onEnd: () => undefined,
  };

  for (;;) {
    const room = roomOf(requests);
    const { target, deliveries } = await settleAndClaim(run, requests, room);
    if (target && deliveries.length > 0) {
      const claimedMs = performance.now();
      const sender = await openSender(newContext, deps.secrets, queue, target);
      for (const message of await writeBodies(newContext, queue.courierId, sender, deliveries))
        requests.waiting.push({ sender, message, claimedMs });
    }
    startWaiting(deps, requests);
    if (room > 0 && deliveries.length === 0) {
      const hasSyncs = await recordQueuedSyncs(newContext(), queue, SYNCS_PER_TRANSACTION);
      if (hasSyncs) continue;
    }
    if (requests.inFlight > 0) await halfEnded(requests);
    else if (requests.results.length === 0 && requests.postponed.length === 0) break;
  }
  if (requests.errors.length > 0) throw requests.errors[0];
  const ctx = newContext();
  await ctx.write([wakeWhenDue(ctx, queue, requests.pauseMs)]);
  return requests.answered;
}

/** Returns how many deliveries to claim. */
function roomOf({ isOpen, results, inFlight, waiting }: Requests): number {
  const ahead = Math.min(MAX_AHEAD, 2 * results.length);
  return isOpen() ? Math.max(0, MAX_CONCURRENT + ahead - inFlight - waiting.length) : 0;
}

/** Starts as many of the waiting requests as may run at once. Those that waited too long, and all of an ended run, are released. */
function startWaiting(deps: TaskDeps, requests: Requests): void {
  while (requests.inFlight < MAX_CONCURRENT) {
    const next = requests.waiting.shift();
    if (!next) return;
    const { sender, message, claimedMs } = next;
    if (requests.isOpen() && performance.now() < claimedMs + MAX_WAIT_MS)
      startRequest(deps, sender, message, requests);
    else requests.postponed.push({ delivery_id: message.delivery.deliveryId, after_ms: requests.pauseMs });
  }
}

function startRequest(deps: TaskDeps, sender: Sender, message: Message, requests: Requests): void {
  requests.inFlight += 1;
  attempt(deps, sender, message)
    .then((ended) => {
      if ('after_ms' in ended) {
        requests.postponed.push(ended);
        requests.pauseMs = Math.max(requests.pauseMs, ended.after_ms);
      }
      // The request was cancelled because this process is stopping, which is no failure of the receiver. The
      // claim expires and another worker sends the delivery.
      else if (!(deps.stopping.aborted && ended.result.outcome === 'unreachable')) {
        requests.results.push(ended);
        if (ended.result.http_status !== null) requests.answered += 1;
      }
    })
    .catch((error: unknown) => requests.errors.push(error))
    .finally(() => {
      requests.inFlight -= 1;
      startWaiting(deps, requests);
      requests.onEnd();
    });
}

/** Waits until half of the claimed deliveries have ended, or nothing is in flight, at most POLL_MS. */
async function halfEnded(requests: Requests): Promise<void> {
  const ended = () => requests.results.length + requests.postponed.length;
  const enough = Math.ceil((requests.inFlight + requests.waiting.length + ended()) / 2);
  if (ended() >= enough) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, POLL_MS).unref();
    requests.onEnd = () => {
      if (requests.inFlight > 0 && ended() < enough) return;
      clearTimeout(timer);
      resolve();
    };
  });
}

/**
 * Records the outcomes of requests and claims as many deliveries as there is room for. If the queue has no URL,
 * its pending deliveries fail.
 */
async function settleAndClaim(
  run: QueueRun,
  requests: Requests,
  room: number,
): Promise<{ target: Target | undefined; deliveries: ClaimedRow[] }> {
  const { queue, newContext, exchangeDays, budget, metrics } = run;
  await postpone(newContext(), requests.postponed.splice(0));
  const ended = requests.results.splice(0);
  const settling = { room, exchangeDays, budget };
  const [[row], claimed] = await settleThenClaim(newContext(), queue, ended, settling);
  if (row) run.budget = row;
  const target = row?.url && row.isActive ? { ...row, url: row.url } : undefined;
  if (!target || target.isPaused) {
    const ctx = newContext();
    const failing = failPendingDeliveries(ctx, queue, { exceptTests: target !== undefined });
    const [[failed]] = await ctx.write([failing]);
    // Without a URL somebody has decided that nothing is sent.
    if (target && failed) metrics?.webhooksGivenUp(failed.count);
  }
  return { target, deliveries: target ? claimed : [] };
}

async function postpone(ctx: SystemContext, postponed: Postponed[]): Promise<void> {
  if (postponed.length > 0) await ctx.write([postponeDeliveries(ctx, postponed)]);
}
