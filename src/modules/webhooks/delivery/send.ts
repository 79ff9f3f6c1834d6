import type { Secrets } from '../../../platform/access/secrets.js';
import { encryptionContext, ensureWebhookSecret, signingSecrets } from '../../couriers/public.js';
import type { SystemContext } from '../../../platform/context/request-context.js';
import type { OutboundRequest } from '../../../platform/outbound/client.js';
import type { DeliveryQueue } from '../../../platform/queue/delivery-queues.js';
import { pauseWhenDue } from '../../../platform/concurrency/pause-when-due.js';
import type { TaskDeps } from '../../../platform/queue/task-context.js';
import type { Message } from './bodies.js';
import type { TargetRow } from './claim-queries.js';
import { readExchange, type Exchange } from '../exchanges/exchange.js';
import { makeMask, type Mask } from '../exchanges/mask-secrets.js';
import { observeAttempt, type AttemptObservers } from './observe.js';
import { readOutcome, type Called } from './outcome.js';
import type { AttemptResult, Postponed } from './settle-queries.js';
import { signatureHeaders, type SignedMessage } from './sign.js';

const TIMEOUT_MS = 10_000;
const MAX_REPLY_BYTES = 65_536;
/** A shorter value in the query of a URL is rather a word, such as a format, than a key. */
const MIN_KEY_LENGTH = 12;

export type Target = TargetRow & { url: string };

/** The values that all requests to a URL share. */
export type Sender = Called & {
  queue: DeliveryQueue;
  url: string;
  secrets: string[];
  /** Replaces what a receiver may repeat and nobody else may read. */
  mask: Mask;
  headers: Record<string, string>;
  /** Nothing that is sent is about a real parcel. */
  isOfSandbox: boolean;
  clock: () => Date;
};

/** @param newContext creates the context for storing a missing signing secret */
export async function openSender(
  newContext: () => SystemContext,
  secrets: Secrets,
  queue: DeliveryQueue,
  target: Target,
): Promise<Sender> {
  const { tenantId, courierId, endpoint } = queue;
  const readMs = performance.now();
  const tokenContext = encryptionContext(tenantId, courierId, 'api_token');
  const token = target.apiTokenCipher && secrets.decrypt(target.apiTokenCipher, tokenContext);
  const stored = signingSecrets(secrets, { ...target, tenantId, id: courierId }, target.now);
  const signers = stored.length > 0 ? stored : [await makeSecret(newContext(), secrets, courierId)];
  return {
    queue,
    url: target.url,
    endpoint,
    format: target.format,
    token,
    secrets: signers,
    mask: makeMask(secretsOf(token, signers, target.url)),
    headers: headersOf(target.format, token, target),
    isOfSandbox: target.isOfSandbox,
    // The database's clock, so that replicas agree: receivers reject timestamps that are minutes off.
    clock: () => new Date(target.now.getTime() + performance.now() - readMs),
  };
}

export const headersOf = (
  format: Called['format'],
  token: string | null,
  { isOfSandbox }: Pick<Target, 'isOfSandbox'>,
): Record<string, string> => ({
  'content-type': 'application/json; charset=utf-8',
  'user-agent': 'Crossdock-Webhooks/1',
  ...(token === null ? {} : { authorization: `Bearer ${token}` }),
  // Receivers of flat packages differ in where they look for the token.
  ...(token === null || format === 'event' ? {} : { 'x-api-key': token }),
  ...(isOfSandbox ? SANDBOX_MARK : {}),
});

/** Tells a receiver that a request comes from a sandbox, and is about nothing real. */
const SANDBOX_MARK = { 'x-crossdock-sandbox': 'true' };

/** Tells a receiver that a request is a test. */
export const TEST_MARK = { 'x-crossdock-test': 'true' };

/**
 * Returns the request of a delivery: of a live one, of a test, or of a check.
 * @param signatures computed if not given
 */
export function requestOf(
  { url, headers, secrets }: Pick<Sender, 'url' | 'headers' | 'secrets'>,
  message: SignedMessage & { isTest: boolean },
  signatures = signatureHeaders(secrets, message),
): OutboundRequest & { body: string } {
  return {
    url,
    headers: { ...headers, ...(message.isTest ? TEST_MARK : {}), ...signatures },
    body: message.body,
    method: 'POST',
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_REPLY_BYTES,
  };
}

/** Creates the secret of a courier whose URL is older than signing secrets. */
const makeSecret = (ctx: SystemContext, secrets: Secrets, courierId: string): Promise<string> =>
  ctx.write((tx) => ensureWebhookSecret(tx, secrets, courierId));

type AttemptDeps = Pick<TaskDeps, 'outbound' | 'config'> & AttemptObservers;

/** The result of an attempt, and a function that returns what was sent and answered, or null if nothing was sent. */
export type EndedAttempt = { result: AttemptResult; exchange: () => Exchange | null };

/** Sends one delivery. */
export async function attempt(
  deps: AttemptDeps,
  sender: Sender,
  { delivery, body }: Message,
): Promise<EndedAttempt | Postponed> {
  const { deliveryId: delivery_id, syncedPackageId: synced_package_id, origin } = delivery;
  const number = delivery.attemptCount + 1;
  const sentAt = sender.clock();
  const attempted = {
    delivery_id,
    synced_package_id,
    is_test: origin === 'test',
    number,
    started_at: sentAt.toISOString(),
  };
  if (!body)
    return { result: { ...attempted, ...NOTHING_TO_SEND, ...nothingOf(delivery) }, exchange: () => null };
  const observed = observeAttempt(deps, sender.queue, delivery, { number, sentAt });
  const sent = requestOf(sender, {
    id: delivery.id,
    sentAt,
    body: body.text,
    isTest: origin === 'test',
  });
  const reply = await deps.outbound.send({ ...sent, span: observed.span });
  if (reply.outcome === 'postponed') {
    observed.postponed();
    return { delivery_id, after_ms: reply.retryAfterMs };
  }
  // Answers that arrive together are searched for secrets in turns.
  await pauseWhenDue();
  const outcome = readOutcome(sender, reply, { userCode: body.userCode, mask: sender.mask });
  const retryAfter = retryAfterSeconds(deps.config.webhookRetrySeconds, origin, number) ?? null;
  // Nobody is woken for what a sandbox loses.
  const isGivenUp =
    outcome.outcome !== 'delivered' && retryAfter === null && origin !== 'test' && !sender.isOfSandbox;
  observed.ended({ ...outcome, isGivenUp }, reply.durationMs);
  const result = {
    ...attempted,
    ...outcome,
    duration_ms: Math.round(reply.durationMs),
    retry_after_s: retryAfter,
  };
  return { result, exchange: () => readExchange(sent, reply, sender.mask) };
}

/** Whether a value in the query of a URL can be a key. */
export const isKey = (value: string): boolean => value.length >= MIN_KEY_LENGTH;

/** Returns the values in the query of a URL that can be keys. None of a text that is no URL. */
export const keysOf = (url: string): string[] =>
  URL.canParse(url) ? [...new URL(url).searchParams.values()].filter(isKey) : [];

const secretsOf = (token: string | null, signers: string[], url: string): string[] => [
  ...(token === null ? [] : [token]),
  ...signers.map((secret) => secret.replace(/^whsec_/, '')),
  ...keysOf(url),
];

/** A flat package has the current state, so there is none for a package that was removed from the database. */
const NOTHING_TO_SEND = {
  duration_ms: 0,
  outcome: 'rejected',
  http_status: null,
  response_start: null,
  error: 'The package no longer exists. Nothing was sent.',
  retry_after_s: null,
} as const;

/** Why there is nothing to send of an event that is not about a package. */
const nothingOf = ({ type }: Message['delivery']) =>
  type.startsWith('package.') ? {} : { error: 'The format of the URL has only packages. Nothing was sent.' };

/**
 * Returns the seconds between a failed attempt and the next one, or undefined if there is none.
 * @param attempts the number of attempts so far, including the failed one
 */
function retryAfterSeconds(schedule: number[], origin: string, attempts: number): number | undefined {
  // A test is not retried, because its sender waits for the result.
  return origin === 'test' ? undefined : schedule[attempts - 1];
}
