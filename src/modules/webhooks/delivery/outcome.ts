import type { components } from '../../../../generated/contract.js';
import type { OutboundReply } from '../../../platform/outbound/client.js';
import type { Endpoint } from '../../../platform/queue/delivery-queues.js';
import type { Mask } from '../exchanges/mask-secrets.js';
import type { AttemptResult } from './settle-queries.js';

const MAX_STORED_CHARACTERS = 1_024;
/** More than a mask searches for the longest secret. The rest of a response of 20 MiB need not become text. */
const MAX_SEARCHED_BYTES = 512 * 1024;

/** The URL that was called, and what it was sent. */
export type Called = {
  endpoint: Endpoint;
  format: components['schemas']['WebhookFormat'];
  token: string | null;
};

type Outcome = Pick<AttemptResult, 'outcome' | 'http_status' | 'response_start' | 'error'>;

/**
 * Returns how the courier's system took a request, for the delivery log.
 *
 * @param userCode the customer of a flat package; undefined for none
 * @param mask replaces what must not be kept of the response
 */
export function readOutcome(
  called: Called,
  reply: Exclude<OutboundReply, { outcome: 'postponed' }>,
  { userCode, mask }: { userCode: string | undefined; mask: Mask },
): Outcome {
  if (reply.outcome !== 'answered')
    return { outcome: reply.outcome, http_status: null, response_start: null, error: reply.error };
  return {
    outcome: isAccepted(called, reply.status) ? 'delivered' : 'rejected',
    http_status: reply.status,
    response_start: startOf(reply.body, reply.isCut, mask),
    error: called.format !== 'event' && reply.status === 404 ? describeNotFound(called, userCode) : null,
  };
}

/**
 * Receivers of flat packages answer 409 for a package that they already have. A receiver of events gets a
 * `webhook-id` to detect that, and may use 409 for a conflict that a retry solves.
 */
export const isAccepted = ({ format }: Pick<Called, 'format'>, status: number) =>
  (status >= 200 && status <= 299) || (format !== 'event' && status === 409);

/** Receivers of flat packages answer 404 for a customer that they do not know. */
function describeNotFound({ endpoint }: Called, userCode: string | undefined): string {
  const setting = `api_url_${endpoint}`;
  return userCode === undefined
    ? `The receiver answered 404. Check ${setting}. If it is correct, the receiver does not accept a package without a known customer.`
    : `The receiver does not know the customer ${userCode}. Add the customer to the courier's system. If the customer exists there, check ${setting}.`;
}

/**
 * Returns the start of a response that PostgreSQL can store, limited in code points, as PostgreSQL counts.
 * Secrets are masked, because a receiver may repeat the request.
 */
export function startOf(
  body: Buffer,
  isCut: boolean,
  mask: Mask,
  maxCharacters = MAX_STORED_CHARACTERS,
): string {
  const maxLength = maxCharacters * 2;
  const searched = body.toString('utf8', 0, MAX_SEARCHED_BYTES).replaceAll('\0', '');
  const { text } = mask(searched, maxLength, isCut || body.length > MAX_SEARCHED_BYTES);
  return Array.from(text.slice(0, maxLength)).slice(0, maxCharacters).join('').toWellFormed();
}
