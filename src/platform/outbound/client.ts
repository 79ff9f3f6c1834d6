import type { ConnectionOptions } from 'node:tls';
import { LRUCache } from 'lru-cache';
import type { OutboundConfig } from '../../config/config.js';
import { makeAddressRateLimiter } from '../limits/address-rate-limit.js';
import { makeOpenSocket } from './connect.js';
import { makeConnections } from './connections.js';
import { exchange, type ExchangeResult, type OutboundReply, type OutboundRequest } from './exchange.js';
import type { FailureReason } from './failures.js';
import { makeResolver } from './resolve.js';
import { isListedHost, validateUrl } from './urls.js';
import { describeProblem } from '../errors/errors.js';

export type { OutboundReply, OutboundRequest };

/** SSRF-safe client for courier URLs. A failure of the target is an outcome, not an exception. It never follows redirects. */
export type OutboundClient = ReturnType<typeof makeOutboundClient>;

/** What those who send need of a client. */
export type OutboundSender = Pick<OutboundClient, 'send'>;

/**
 * Creates the client that docs/decisions/0015 describes.
 *
 * @param tls options for certificate verification. Only tests set it; the default trusts Node's certificate authorities
 */
export function makeOutboundClient(
  { allowLoopback, dnsServers, ports, hosts, requestsPerSecond }: OutboundConfig,
  tls: ConnectionOptions = {},
) {
  const resolver = makeResolver(dnsServers);
  const rateLimiter = makeAddressRateLimiter(requestsPerSecond);
  const open = makeOpenSocket({ allowLoopback, resolve: resolver.resolve, tls, rateLimiter });
  const connections = makeConnections(open, rateLimiter);
  let closing: Promise<void> | undefined;

  // A courier's webhooks all go to the same URL. Its addresses are checked at each connection.
  const problems = new LRUCache<string, { problem: UrlProblem | null }>({
    max: MAX_KNOWN_URLS,
    memoMethod: (url) => ({ problem: problemOf(url) }),
  });

  /** Returns why a URL must not be called, or null. */
  function problemOf(url: string): UrlProblem | null {
    const fault = validateUrl(url, { allowLoopback, ports });
    if (fault)
      return {
        reason: fault[0] === 'url_private' ? 'address_not_public' : 'url_refused',
        error: describeProblem('the URL', ...fault).message,
      };
    return isListedHost(url, hosts) ? null : UNLISTED_HOST;
  }

  async function attempt(request: OutboundRequest): Promise<ExchangeResult> {
    const { problem } = problems.memo(request.url);
    if (problem) return { outcome: 'unsafe_target', ...problem };
    const headerFault = findInvalidHeader(request.headers);
    if (headerFault) return { outcome: 'unreachable', reason: 'url_refused', error: headerFault };
    return exchange(connections, request);
  }

  return {
    async send(request: OutboundRequest): Promise<OutboundReply> {
      const startedAt = performance.now();
      const ended = await attempt(withTraceparent(request));
      return { ...ended, durationMs: performance.now() - startedAt };
    },
    /** Waits for requests in progress. */
    close(): Promise<void> {
      closing ??= connections.close().then(() => resolver.cancel());
      return closing;
    },
    /** Aborts requests in progress; their outcome is `unreachable`. */
    async destroy(): Promise<void> {
      await connections.destroy();
      resolver.cancel();
    },
  };
}

const MAX_KNOWN_URLS = 1_000;

type UrlProblem = { reason: FailureReason; error: string };

const UNLISTED_HOST: UrlProblem = {
  reason: 'host_not_listed',
  error: 'This deployment calls only the hosts that its operator lists in OUTBOUND_HOSTS. Nothing was sent.',
};

/** Returns the request with the header of its span, if it is traced. */
export const withTraceparent = (request: OutboundRequest): OutboundRequest =>
  request.span
    ? { ...request, headers: { ...request.headers, traceparent: request.span.traceparent } }
    : request;

/** Returns the problem of an invalid header, or undefined. CR or LF would start another header or request (request smuggling). */
function findInvalidHeader(headers: Record<string, string>): string | undefined {
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return 'a header has a name that cannot be sent';
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
      return `the header ${name} contains characters that cannot be sent`;
  }
  return undefined;
}
