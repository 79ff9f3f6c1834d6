import type { Secrets } from '../../../platform/access/secrets.js';
import type { OutboundSender, OutboundReply, OutboundRequest } from '../../../platform/outbound/client.js';
import type { Span } from '../../../platform/tracing/span.js';
import type { StartedRun } from './run-queries.js';

/** The limits of time and size for a courier's response. The contract states them at syncCustomers. */
const TIMEOUT_MS = 30_000;
const SHORTEST_MS = 5_000;
const MAX_BYTES = 20 * 1024 * 1024;

export type FetchedBody = { httpStatus: number; body: Buffer };
export type FetchError = { httpStatus: number | null; error: string };
export type FetchResult = FetchedBody | FetchError | { isPostponed: true };

type SendDeps = { outbound: OutboundSender; span?: Span | undefined };
type FetchDeps = SendDeps & { secrets: Secrets };

/** Requests the courier's customers from the courier's own system. */
export async function fetchCustomers(
  { secrets, ...deps }: FetchDeps,
  tenantId: string,
  { courierId: rowId, apiUrlGetCustomers: url, apiTokenCipher: cipher }: StartedRun,
): Promise<FetchResult> {
  if (url === null) return { httpStatus: null, error: 'api_url_get_customers is no longer set.' };
  const token = cipher && secrets.decrypt(cipher, { tenantId, rowId, field: 'api_token' });
  const { get, post } = customerRequests(url, token);
  const reply = await send(deps, get);
  if (!isOtherMethod(reply)) return toFetchResult(reply);
  // Both together take no longer than one may.
  const timeoutMs = Math.max(SHORTEST_MS, post.timeoutMs - reply.durationMs);
  const posted = await send(deps, { ...post, timeoutMs });
  return toFetchResult(isOtherMethod(posted) ? reply : posted);
}

/** Returns the request for a courier's customers, and the one that follows if the address answers only to POST. */
export function customerRequests(
  url: string,
  token: string | null,
): { get: OutboundRequest; post: OutboundRequest } {
  const request = { url, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES };
  const headers = {
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'Crossdock',
    ...(token ? { authorization: `Bearer ${token}`, 'x-api-key': token } : {}),
  };
  return {
    get: { ...request, method: 'GET', headers },
    post: {
      ...request,
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json; charset=utf-8' },
      body: JSON.stringify({ APIToken: token ?? '' }),
    },
  };
}

async function send({ outbound, span: job }: SendDeps, request: OutboundRequest): Promise<OutboundReply> {
  const span = job?.startChild('customers', {
    kind: 'client',
    attributes: { 'http.request.method': request.method },
  });
  const reply = await outbound.send({ ...request, span });
  if (reply.outcome === 'answered') span?.end({ 'http.response.status_code': reply.status });
  else span?.end({}, reply.outcome);
  return reply;
}

/**
 * Some systems answer only to POST. Which of the two statuses the others get depends on their framework. A response without an end is of
 * none of these.
 */
export const isOtherMethod = (reply: OutboundReply) =>
  reply.outcome === 'answered' && !reply.isCut && (reply.status === 404 || reply.status === 405);

function toFetchResult(reply: OutboundReply): FetchResult {
  if (reply.outcome === 'postponed') return { isPostponed: true };
  if (reply.outcome !== 'answered') return { httpStatus: null, error: reply.error };
  const { status: httpStatus, body, isCut } = reply;
  if (httpStatus < 200 || httpStatus > 299)
    return { httpStatus, error: `The address answered with HTTP ${httpStatus}. ${adviceFor(httpStatus)}` };
  if (isCut)
    return {
      httpStatus,
      error: 'The response was longer than 20 MiB, or did not end within 30 seconds. Send less data.',
    };
  return { httpStatus, body };
}

function adviceFor(status: number): string {
  if (status >= 300 && status < 400)
    return 'Redirects are not followed. Set api_url_get_customers to the target of the redirect.';
  if (status === 401 || status === 403)
    return 'Check that your system accepts the api_token of the settings.';
  if (status === 404 || status === 405) return 'Check api_url_get_customers.';
  return 'Look for the error in the log of your system.';
}
