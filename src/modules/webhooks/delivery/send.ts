import type { Secrets } from '../../../platform/access/secrets.js';
import { encryptionContext, ensureWebhookSecret, signingSecrets } from '../../couriers/public.js';
import type { SystemContext } from '../../../platform/context/request-context.js';
import type { OutboundReply } from '../../../platform/outbound/client.js';
import type { DeliveryQueue } from '../../../platform/queue/delivery-queues.js';
import type { TaskDeps } from '../../../platform/queue/task-context.js';
import { viewEvent } from '../events/event-view.js';
import type { ClaimedRow, TargetRow } from './claim-queries.js';
import { retryAfterSeconds } from './schedule.js';
import type { AttemptResult, Postponed } from './settle-queries.js';
import { signatureHeaders } from './sign.js';

const TIMEOUT_MS = 10_000;
/** The limits for reading and for storing a response. */
const MAX_REPLY_BYTES = 65_536;
const MAX_STORED_CHARACTERS = 1_024;

export type Target = TargetRow & { url: string };

/** The values that all requests to a URL share. */
export type Sender = { url: string; secrets: string[]; headers: Record<string, string>; clock: () => Date };

/** @param newContext creates the context for storing a missing signing secret */
export async function openSender(
  newContext: () => SystemContext,
  secrets: Secrets,
  { tenantId, courierId }: DeliveryQueue,
  target: Target,
): Promise<Sender> {
  const readMs = performance.now();
  const tokenContext = encryptionContext(tenantId, courierId, 'api_token');
  const token = target.apiTokenCipher && secrets.decrypt(target.apiTokenCipher, tokenContext);
  const signers = signingSecrets(secrets, { ...target, tenantId, id: courierId }, target.now);
  return {
    url: target.url,
    secrets: signers.length > 0 ? signers : [await makeSecret(newContext(), secrets, courierId)],
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
const makeSecret = (ctx: SystemContext, secrets: Secrets, courierId: string): Promise<string> =>
  ctx.transaction((tx) => ensureWebhookSecret(ctx, tx, secrets, courierId));

/** Sends one delivery. */
export async function attempt(
  deps: Pick<TaskDeps, 'outbound' | 'metrics' | 'config'>,
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
  const { deliveryId: delivery_id, origin } = delivery;
  if (reply.outcome === 'postponed') return { delivery_id, after_ms: reply.retryAfterMs };
  const number = delivery.attemptCount + 1;
  deps.metrics?.webhookAttempt(outcomeOf(reply), reply.durationMs / 1_000);
  return {
    delivery_id,
    number,
    started_at: sentAt.toISOString(),
    duration_ms: Math.round(reply.durationMs),
    outcome: outcomeOf(reply),
    http_status: reply.outcome === 'answered' ? reply.status : null,
    response_start: reply.outcome === 'answered' ? startOf(reply.body) : null,
    error: reply.outcome === 'answered' ? null : reply.error,
    retry_after_s: retryAfterSeconds(deps.config.webhookRetrySeconds, origin, number) ?? null,
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
