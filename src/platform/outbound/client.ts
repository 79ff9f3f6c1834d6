import type { ConnectionOptions } from 'node:tls';
import type { OutboundConfig } from '../../config/config.js';
import { makeAddressGate } from './address-rate-limit.js';
import { makeOpenSocket } from './connect.js';
import { makeConnections } from './connections.js';
import { exchange, type Ended } from './exchange.js';
import { makeResolver } from './resolve.js';
import { faultOfUrl } from './urls.js';

/** A request to an address that a courier gave. */
export type OutboundRequest = {
  method: 'GET' | 'POST';
  url: string;
  headers: Record<string, string>;
  body?: string;
  /** For all of it: looking the name up, connecting, sending, and reading the answer. */
  timeoutMs: number;
  /** How much of the answer's body is read; what comes beyond is cut off. */
  maxBytes: number;
};

export type OutboundReply =
  | {
      outcome: 'answered';
      status: number;
      /** At most maxBytes. */
      body: Buffer;
      /** Whether there was more, or the time was up or the connection broke before the body's end. */
      isCut: boolean;
      durationMs: number;
    }
  | {
      /** unsafe_target: an address that strangers may not have us call; nothing was connected to. */
      outcome: 'timeout' | 'unreachable' | 'unsafe_target';
      /** In words, for the courier's log; nothing of our own network. */
      error: string;
      durationMs: number;
    }
  | {
      /** Not sent: the address gets as many requests as it may, of all couriers and tenants together. */
      outcome: 'postponed';
      retryAfterMs: number;
      durationMs: number;
    };

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
  const gate = makeAddressGate(requestsPerSecond);
  const open = makeOpenSocket({ allowLoopback, resolve: resolver.resolve, tls, gate });
  const connections = makeConnections(open, gate);
  let closing: Promise<void> | undefined;

  async function attempt(request: OutboundRequest): Promise<Ended> {
    const fault = faultOfUrl(request.url, { allowLoopback, ports });
    if (fault) return { outcome: 'unsafe_target', error: `the URL ${fault}` };
    const headerFault = faultOfHeaders(request.headers);
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
function faultOfHeaders(headers: Record<string, string>): string | undefined {
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return 'a header has a name that cannot be sent';
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
      return `the header ${name} holds characters that cannot be sent`;
  }
  return undefined;
}
