import { setTimeout as sleep } from 'node:timers/promises';
import type { SystemCaller } from '../../../platform/identity/callers.js';
import { BACKGROUND } from '../../../platform/audit/audit.js';
import { placeOf, ensureWebhookSecret, signingSecrets } from '../../couriers/public.js';
import { pipeline, transaction } from '../../../platform/db/transaction.js';
import type { OutboundReply } from '../../../platform/outbound/client.js';
import type { DeliveryQueue } from '../../../platform/queue/delivery-queues.js';
import type { TaskDeps } from '../../../platform/queue/task-context.js';
import { viewEvent } from '../events/event-view.js';
import {
  claimDue,
  failPendingDeliveries,
  insertAttempts,
  recordHealth,
  postponeDeliveries,
  selectTarget,
  settleDeliveries,
  wakeWhenDue,
  type AttemptResult,
  type ClaimedRow,
  type DeliveryQueueScope,
  type Postponed,
  type TargetRow,
} from './delivery-queue-queries.js';
import { retryAfterSeconds } from './schedule.js';
import { signatureHeaders } from './sign.js';
import { recordQueuedSyncs } from './syncs.js';

/** The maximum number of concurrent requests to one courier's URL. */
const MAX_CONCURRENT = 16;
/** The number of queued synchronisations that become events in one transaction. */
const SYNCS_PER_TRANSACTION = 100;
/**
 * The maximum time per run of a delivery queue. After it, the queue is rescheduled so that others can run.
 */
const MAX_RUN_MS = 15_000;
const TIMEOUT_MS = 10_000;
/** How often a queue with outstanding requests is checked for new deliveries. */
const POLL_MS = 250;
/** How much of a response is read, and how much of that is stored. */
const MAX_REPLY_BYTES = 65_536;
const MAX_STORED_CHARACTERS = 1_024;

/**
 * Sends the due deliveries of a queue, and schedules the queue again for later ones. Each delivery is claimed
 * before it is sent and settled afterwards: if a worker crashes in between, it is sent again with the same
 * id. A slow response delays only one of the concurrent requests. If the outbound rate limit of the URL is
 * reached, the run ends; the postponed deliveries do not count as attempts and are sent in the next run.
 */
export async function deliver(deps: TaskDeps, queue: DeliveryQueue): Promise<void> {
  const caller: SystemCaller = { kind: 'system', tenantId: queue.tenantId };
  const scope: DeliveryQueueScope = { db: deps.db, caller, queue };
  const runEndsMs = performance.now() + MAX_RUN_MS;
  const inFlight = new Set<Promise<void>>();
  const results: AttemptResult[] = [];
  const postponed: Postponed[] = [];
  let pauseMs = 0;
  const start = (sender: Sender, delivery: ClaimedRow) => {
    const sending = attempt(deps, sender, delivery).then((result) => {
      inFlight.delete(sending);
      if ('after_ms' in result) {
        postponed.push(result);
        pauseMs = Math.max(pauseMs, result.after_ms);
        return;
      }
      // The request was cancelled because this process is stopping, which is no failure of the receiver. The
      // claim expires and another worker sends the delivery.
      if (!(deps.stopping.aborted && result.outcome === 'unreachable')) results.push(result);
    });
    inFlight.add(sending);
  };

  for (;;) {
    const isOpen = !deps.stopping.aborted && pauseMs === 0 && performance.now() < runEndsMs;
    const room = isOpen ? MAX_CONCURRENT - inFlight.size : 0;
    const { target, deliveries } = await settleAndClaim(
      scope,
      { results: results.splice(0), postponed: postponed.splice(0) },
      room,
    );
    const sender = target && deliveries.length > 0 ? await openSender(deps, scope, target) : undefined;
    if (sender) for (const delivery of deliveries) start(sender, delivery);
    if (room > 0 && deliveries.length === 0 && (await recordQueuedSyncs(scope, SYNCS_PER_TRANSACTION)))
      continue;
    const isSettled = results.length === 0 && postponed.length === 0;
    if (inFlight.size === 0 && isSettled) break;
    if (isSettled) await Promise.race([...inFlight, sleep(POLL_MS, undefined, { ref: false })]);
  }
  await pipeline(deps.db, caller, [wakeWhenDue(scope, pauseMs)]);
}

type Target = TargetRow & { url: string };

/**
 * Records the results of attempts and claims as many deliveries as there is room for, in one round trip. If
 * the queue has no URL, its pending deliveries fail.
 */
async function settleAndClaim(
  scope: DeliveryQueueScope,
  { results, postponed }: { results: AttemptResult[]; postponed: Postponed[] },
  room: number,
): Promise<{ target?: Target; deliveries: ClaimedRow[] }> {
  const settling =
    results.length > 0
      ? [insertAttempts(scope, results), settleDeliveries(scope, results), recordHealth(scope, results)]
      : [];
  const postponing = postponed.length > 0 ? [postponeDeliveries(scope, postponed)] : [];
  const answers = await pipeline(scope.db, scope.caller, [
    ...settling,
    ...postponing,
    selectTarget(scope),
    claimDue(scope, room),
  ]);
  // The last two statements select exactly these columns.
  const [[target] = [], deliveries = []] = answers.slice(-2) as [TargetRow[]?, ClaimedRow[]?];
  const hasNoTarget = !target?.url || !target.is_active;
  if (hasNoTarget || target.is_paused) {
    await pipeline(scope.db, scope.caller, [failPendingDeliveries(scope, { exceptTests: !hasNoTarget })]);
  }
  if (hasNoTarget) return { deliveries: [] };
  return { target: { ...target, url: target.url ?? '' }, deliveries };
}

type Sender = { url: string; secrets: string[]; headers: Record<string, string>; clock: () => Date };

async function openSender(
  deps: TaskDeps,
  { caller, queue }: DeliveryQueueScope,
  target: Target,
): Promise<Sender> {
  const readMs = performance.now();
  const tokenPlace = placeOf(queue.tenantId, queue.courierId, 'api_token');
  const token = target.api_token_cipher && deps.secrets.decrypt(target.api_token_cipher, tokenPlace);
  const row = { ...target, tenant_id: queue.tenantId, courier_id: queue.courierId };
  const secrets = signingSecrets(deps.secrets, row, target.now);
  return {
    url: target.url,
    secrets: secrets.length > 0 ? secrets : [await makeSecret(deps, caller, queue)],
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'user-agent': 'Crossdock-Webhooks/1',
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    },
    // The database's clock, so that replicas agree: receivers reject timestamps that are minutes off.
    clock: () => new Date(target.now.getTime() + performance.now() - readMs),
  };
}

/** Creates the secret of a courier whose URL is older than signing secrets. */
const makeSecret = (
  { db, secrets }: TaskDeps,
  caller: SystemCaller,
  { courierId }: DeliveryQueue,
): Promise<string> =>
  transaction(db, caller, (tx) =>
    ensureWebhookSecret({ db, tx, secrets, caller, courierId, requestId: BACKGROUND }),
  );

async function attempt(
  deps: TaskDeps,
  sender: Sender,
  delivery: ClaimedRow,
): Promise<AttemptResult | Postponed> {
  const body = JSON.stringify(viewEvent(delivery));
  const sentAt = sender.clock();
  const reply = await deps.outbound.send({
    method: 'POST',
    url: sender.url,
    headers: { ...sender.headers, ...signatureHeaders(sender.secrets, { id: delivery.id, sentAt, body }) },
    body,
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_REPLY_BYTES,
  });
  if (reply.outcome === 'postponed')
    return { delivery_id: delivery.delivery_id, after_ms: reply.retryAfterMs };
  const number = delivery.attempt_count + 1;
  deps.metrics?.webhookAttempt(outcomeOf(reply), reply.durationMs / 1_000);
  return {
    delivery_id: delivery.delivery_id,
    number,
    started_at: sentAt.toISOString(),
    duration_ms: Math.round(reply.durationMs),
    outcome: outcomeOf(reply),
    http_status: reply.outcome === 'answered' ? reply.status : null,
    response_start: reply.outcome === 'answered' ? startOf(reply.body) : null,
    error: reply.outcome === 'answered' ? null : reply.error,
    retry_after_s: retryAfterSeconds(deps.config.webhookRetrySeconds, delivery.origin, number) ?? null,
  };
}

function outcomeOf(reply: Exclude<OutboundReply, { outcome: 'postponed' }>): AttemptResult['outcome'] {
  if (reply.outcome !== 'answered') return reply.outcome;
  return reply.status >= 200 && reply.status <= 299 ? 'delivered' : 'rejected';
}

/**
 * Returns the start of a response that PostgreSQL can store, limited in code points, as PostgreSQL counts.
 */
function startOf(body: Buffer): string {
  const text = body.toString('utf8', 0, MAX_STORED_CHARACTERS * 4).replaceAll('\0', '');
  return Array.from(text).slice(0, MAX_STORED_CHARACTERS).join('');
}
