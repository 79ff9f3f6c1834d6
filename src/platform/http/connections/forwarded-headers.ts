import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import { canonicalAddress, makeBlockMatcher } from '../../values/network-address.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The client's address, as reported by trusted proxies. */
    clientAddress: string;
    /** Whether every hop of the request used TLS. */
    isSecure: boolean;
  }
}

/** Reads the client's address and protocol from a request, through trusted proxies. */
export type Forwarding = ReturnType<typeof makeForwarding>;

/**
 * Trusts `X-Forwarded-For` and `X-Forwarded-Proto` from the proxies in TRUST_PROXY, and no other forwarding header: only
 * `Host` selects the tenant. Fastify's trustProxy also trusts `X-Forwarded-Host`, and accepts any text as an address.
 */
export function makeForwarding(trustProxy: string[]) {
  const isTrusted = makeBlockMatcher(trustProxy);
  const peers = new WeakMap<Socket, string>();
  const peerOf = ({ socket }: IncomingMessage) => {
    const known = peers.get(socket);
    if (known !== undefined) return known;
    const address = socket.remoteAddress ?? '';
    const peer = canonicalAddress(address) ?? address;
    peers.set(socket, peer);
    return peer;
  };
  return {
    /** Returns whether an address belongs to a trusted proxy. */
    isTrusted,
    addressOf(request: IncomingMessage): string {
      const peer = peerOf(request);
      return isTrusted(peer) ? nearestUntrustedHop(peer, request.headers, isTrusted) : peer;
    },
    isSecure(request: IncomingMessage): boolean {
      if (request.socket instanceof TLSSocket) return true;
      return isTrusted(peerOf(request)) && isHttpsOnEveryHop(request.headers);
    },
    /** Returns the address of the peer if it sends the headers of a proxy and is not trusted. */
    untrustedProxyOf(request: IncomingMessage): string | undefined {
      const { headers } = request;
      if (headers['x-forwarded-for'] === undefined && headers['x-forwarded-proto'] === undefined) return;
      const peer = peerOf(request);
      return isTrusted(peer) ? undefined : peer;
    },
  };
}

/** Adds `clientAddress` and `isSecure` to every request. */
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
 * Returns the address of the nearest hop that is not a trusted proxy. Each proxy appends its peer, so the list is read from
 * the end. An invalid entry counts as the hop that reported it; otherwise a client could vary its address at will.
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

/** Parses `192.0.2.7`, `192.0.2.7:5678`, `2001:db8::1` or `[2001:db8::1]:443`. Returns undefined for any other text. */
function addressIn(entry: string): string | undefined {
  const [, bracketed, plain] =
    /^(?:\[([^\]]*)\](?::\d{1,5})?|(\d+\.\d+\.\d+\.\d+):\d{1,5})$/.exec(entry) ?? [];
  return canonicalAddress(bracketed ?? plain ?? entry);
}

/**
 * Proxies append the protocol of their own hop, and the client may have sent earlier entries. The request is secure only if
 * all entries are https.
 */
function isHttpsOnEveryHop(headers: IncomingHttpHeaders): boolean {
  const protocols = listOf(headers['x-forwarded-proto']);
  return protocols.length > 0 && protocols.every((protocol) => protocol.toLowerCase() === 'https');
}

/** Returns the entries of a list header. Node joins repeated headers with commas. */
function listOf(header: string | string[] | undefined): string[] {
  return (header === undefined ? [] : [header].flat())
    .flatMap((line) => line.split(','))
    .map((item) => item.trim());
}
