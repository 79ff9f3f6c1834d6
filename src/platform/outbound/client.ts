import type { ConnectionOptions } from 'node:tls';
import type { OutboundConfig } from '../../config/config.js';
import { makeAddressRateLimiter } from './address-rate-limit.js';
import { makeOpenSocket } from './connect.js';
import { makeConnections } from './connections.js';
export type { OutboundReply, OutboundRequest } from './messages.js';
import { exchange, type ExchangeResult } from './exchange.js';
import type { OutboundReply, OutboundRequest } from './messages.js';
import { makeResolver } from './resolve.js';
import { validateUrl } from './urls.js';

/** Calls what couriers ask us to call. Never throws for what a target does, never follows a redirect. */
export type OutboundClient = {
  send(request: OutboundRequest): Promise<OutboundReply>;
  /** Waits for what is under way. */
  close(): Promise<void>;
  /** Cuts it off: unreachable. */
  destroy(): Promise<void>;
};

/**
 * The client of docs/decisions/0015.
 *
 * @param tls what certificates are verified with; the authorities that Node trusts, unless a test says otherwise
 */
export function makeOutboundClient(
  { allowLoopback, dnsServers, ports, requestsPerSecond }: OutboundConfig,
  tls: ConnectionOptions = {},
): OutboundClient {
  const resolver = makeResolver(dnsServers);
  const rateLimiter = makeAddressRateLimiter(requestsPerSecond);
  const open = makeOpenSocket({ allowLoopback, resolve: resolver.resolve, tls, rateLimiter: rateLimiter });
  const connections = makeConnections(open, rateLimiter);
  let closing: Promise<void> | undefined;

  async function attempt(request: OutboundRequest): Promise<ExchangeResult> {
    const fault = validateUrl(request.url, { allowLoopback, ports });
    if (fault) return { outcome: 'unsafe_target', error: `the URL ${fault}` };
    const headerFault = findInvalidHeader(request.headers);
    if (headerFault) return { outcome: 'unreachable', error: headerFault };
    return exchange(connections, request);
  }

  return {
    async send(request) {
      const startedAt = performance.now();
      const ended = await attempt(request);
      return { ...ended, durationMs: performance.now() - startedAt };
    },
    close() {
      closing ??= connections.close().then(() => resolver.cancel());
      return closing;
    },
    async destroy() {
      await connections.destroy();
      resolver.cancel();
    },
  };
}

/** CR, LF and NUL would begin a header of their own, or a request. */
function findInvalidHeader(headers: Record<string, string>): string | undefined {
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return 'a header has a name that cannot be sent';
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
      return `the header ${name} holds characters that cannot be sent`;
  }
  return undefined;
}
