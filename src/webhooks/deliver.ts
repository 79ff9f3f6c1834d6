import type { SystemCaller } from '../auth/callers.js';
import type { Secrets } from '../auth/secrets.js';
import { flushInScope } from '../db/transaction.js';
import type { OutboundReply } from '../outbound/client.js';
import type { Lane } from '../queue/lanes.js';
import type { TaskDeps } from '../tasks.js';
import { viewEvent } from './event-view.js';
import {
  claimDue,
  giveUpLane,
  insertAttempts,
  noteHealth,
  selectTarget,
  settleDeliveries,
  wakeWhenDue,
  type AttemptResult,
  type ClaimedRow,
  type LaneScope,
  type TargetRow,
} from './lane-queries.js';
import { retryAfterSeconds } from './schedule.js';
import { signatureHeaders } from './sign.js';
import { recordQueuedSyncs } from './syncs.js';

/** How many requests one courier's URL gets at once. */
const AT_ONCE = 16;
/** How many waiting synchronisations become events in one transaction. */
const SYNCS_AT_ONCE = 100;
/** After how long a lane makes room for others, and waits for its next turn. */
const TURN_MS = 15_000;
const TIMEOUT_MS = 10_000;
/** How much of an answer is read, and how much of that is kept. */
const MAX_REPLY_BYTES = 65_536;
const KEPT_CHARACTERS = 1_024;

/**
 * Sends what is due in a lane, and has the lane woken when more is. Every delivery is claimed first and settled after:
 * a worker that dies between the two leaves it to be sent again, under the same id.
 */
export async function deliver(deps: TaskDeps, lane: Lane): Promise<void> {
  const caller: SystemCaller = { kind: 'system', tenantId: lane.tenantId };
  const scope: LaneScope = { db: deps.db, caller, lane };
  const turnEndsMs = performance.now() + TURN_MS;
  while (!deps.stopping.aborted && performance.now() < turnEndsMs) {
    const hasWorked = await sendBatch(deps, scope);
    if (!hasWorked && !(await recordQueuedSyncs(scope, SYNCS_AT_ONCE))) break;
  }
  await flushInScope(deps.db, caller, [wakeWhenDue(scope)]);
}

/** Answers whether there was anything to send. */
async function sendBatch(deps: TaskDeps, scope: LaneScope): Promise<boolean> {
  const { db, caller, lane } = scope;
  const [targets = [], claimed = []] = await flushInScope(db, caller, [
    selectTarget(scope),
    claimDue(scope, AT_ONCE),
  ]);
  // as: the shapes that the statements select
  const target = targets[0] as TargetRow | undefined;
  if (!target?.url || !target.is_active || target.is_paused)
    await flushInScope(db, caller, [giveUpLane(scope, Boolean(target?.is_paused))]);
  const deliveries = claimed as ClaimedRow[];
  if (!target?.url || deliveries.length === 0) return false;

  const sender = openSender(deps, lane, { ...target, url: target.url });
  const results = await Promise.all(deliveries.map((delivery) => attempt(deps, sender, delivery)));
  await flushInScope(db, caller, [
    insertAttempts(scope, results),
    settleDeliveries(scope, results),
    noteHealth(scope, results),
  ]);
  return true;
}

type Sender = { url: string; secrets: string[]; headers: Record<string, string>; clock: () => Date };

function openSender({ secrets }: TaskDeps, lane: Lane, target: TargetRow & { url: string }): Sender {
  const open = (cipher: string | null, field: Parameters<Secrets['decrypt']>[1]['field']) =>
    cipher === null
      ? []
      : [secrets.decrypt(cipher, { tenantId: lane.tenantId, rowId: lane.courierId, field })];
  const [token] = open(target.api_token_cipher, 'api_token');
  const readMs = performance.now();
  return {
    url: target.url,
    secrets: [
      ...open(target.webhook_secret_cipher, 'webhook_secret'),
      ...open(target.webhook_previous_secret_cipher, 'webhook_previous_secret'),
    ],
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'user-agent': 'Crossdock-Webhooks/1',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    // the database's clock, so that replicas agree: receivers refuse what is minutes off
    clock: () => new Date(target.now.getTime() + performance.now() - readMs),
  };
}

async function attempt(deps: TaskDeps, sender: Sender, delivery: ClaimedRow): Promise<AttemptResult> {
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
  const number = delivery.attempt_count + 1;
  deps.onWebhookAttempt?.(outcomeOf(reply), reply.durationMs / 1_000);
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

function outcomeOf(reply: OutboundReply): AttemptResult['outcome'] {
  if (reply.outcome !== 'answered') return reply.outcome;
  return reply.status >= 200 && reply.status <= 299 ? 'delivered' : 'rejected';
}

/** What of an answer PostgreSQL can store, at most so many characters as it counts them. */
function startOf(body: Buffer): string {
  const text = body.toString('utf8', 0, KEPT_CHARACTERS * 4).replaceAll('\0', '');
  return Array.from(text).slice(0, KEPT_CHARACTERS).join('');
}
