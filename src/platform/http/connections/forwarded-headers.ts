import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import { canonicalAddress, makeBlockMatcher } from '../../values/network-address.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The client's address, as far as trusted proxies report it. */
    clientAddress: string;
    /** Whether the request came over TLS, all the way. */
    isSecure: boolean;
  }
}

/** What is known of the client beyond the connection's other end. */
export type Forwarding = {
  addressOf(request: IncomingMessage): string;
  isSecure(request: IncomingMessage): boolean;
  /** Whether a connection comes from one of our proxies. */
  isTrusted(address: string): boolean;
};

/**
 * Believes `X-Forwarded-For` and `X-Forwarded-Proto` of the proxies in TRUST_PROXY, and no other header: a tenant is
 * chosen by `Host` alone. Fastify's own trustProxy believes `X-Forwarded-Host` too, and takes any text for an address.
 */
export function makeForwarding(trustProxy: string[]): Forwarding {
  const isTrusted = makeBlockMatcher(trustProxy);
  const peerOf = ({ socket }: IncomingMessage) => {
    const address = socket.remoteAddress ?? '';
    return canonicalAddress(address) ?? address;
  };
  return {
    isTrusted,
    addressOf(request) {
      const peer = peerOf(request);
      return isTrusted(peer) ? nearestUntrustedHop(peer, request.headers, isTrusted) : peer;
    },
    isSecure(request) {
      if (request.socket instanceof TLSSocket) return true;
      return isTrusted(peerOf(request)) && isHttpsOnEveryHop(request.headers);
    },
  };
}

/** Gives every request what `forwarding` knows of it. */
export function decorateRequests(app: FastifyInstance, forwarding: Forwarding): void {
  app.decorateRequest('clientAddress', {
    getter() {
      return forwarding.addressOf(this.raw);
    },
  });
  app.decorateRequest('isSecure', {
    getter() {
      return forwarding.isSecure(this.raw);
    },
  });
}

/**
 * The nearest hop that is not ours. Each proxy appends whom it talked to, so that the list is read from its end. What
 * is no address would be a new client each time: it counts for the hop that reported it.
 */
function nearestUntrustedHop(
  peer: string,
  headers: IncomingHttpHeaders,
  isTrusted: (address: string) => boolean,
): string {
  let nearest = peer;
  for (const entry of listOf(headers['x-forwarded-for']).reverse()) {
    const address = addressIn(entry);
    if (address === undefined) return nearest;
    nearest = address;
    if (!isTrusted(address)) return nearest;
  }
  return nearest;
}

/** The address of `192.0.2.7`, `192.0.2.7:5678`, `2001:db8::1` or `[2001:db8::1]:443`. */
function addressIn(entry: string): string | undefined {
  const [, bracketed, plain] =
    /^(?:\[([^\]]*)\](?::\d{1,5})?|(\d+\.\d+\.\d+\.\d+):\d{1,5})$/.exec(entry) ?? [];
  return canonicalAddress(bracketed ?? plain ?? entry);
}

/**
 * Proxies that append their own hop make a list. The client may have sent the entries before theirs, and theirs may be
 * the plain hop: only when all say https was no hop plain.
 */
function isHttpsOnEveryHop(headers: IncomingHttpHeaders): boolean {
  const protocols = listOf(headers['x-forwarded-proto']);
  return protocols.length > 0 && protocols.every((protocol) => protocol.toLowerCase() === 'https');
}

/** The entries of a header that is a list. Node joins the lines of one that was sent several times. */
function listOf(header: string | string[] | undefined): string[] {
  return (header === undefined ? [] : [header].flat())
    .flatMap((line) => line.split(','))
    .map((item) => item.trim());
}
