import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { constants } from 'node:crypto';
import { connect as connectTls, DEFAULT_CIPHERS, type ConnectionOptions } from 'node:tls';
import { isLoopbackAddress, isPublicAddress } from './addresses.js';
import { makeAddressRateLimiter, type AddressRateLimiter } from '../limits/address-rate-limit.js';
import { postponed, TargetError } from './failures.js';
import { limitTls } from './handshake.js';
import type { Resolve } from './resolve.js';
import type { OutboundRules } from './urls.js';

type Target = {
  /** A name, or an address without brackets. */
  hostname: string;
  port: number;
  isTls: boolean;
};

/** @throws TargetError, or the socket's error */
export type OpenSocket = (target: Target, signal: AbortSignal) => Promise<Socket>;

export type ConnectOptions = OutboundRules & {
  resolve: Resolve;
  tls: ConnectionOptions;
  /** The default has no limit. */
  rateLimiter?: AddressRateLimiter;
};

// Limits the connection attempts for a name with many addresses.
const ADDRESSES_TRIED = 4;
// A name server may answer with thousands. Those that are not checked are not tried either.
const ADDRESSES_CHECKED = 64;
// Four attempts fit into a webhook's timeout of ten seconds.
const NEXT_ADDRESS_AFTER_MS = 2500;

/**
 * Opens connections only to checked addresses (no DNS rebinding): the name is resolved once, all of its addresses must be
 * allowed, and the socket connects to one of them. TLS still uses and verifies the name. Each attempt counts against the
 * address's rate limit.
 */
export function makeOpenSocket({
  allowLoopback,
  resolve,
  tls,
  rateLimiter = makeAddressRateLimiter(),
}: ConnectOptions): OpenSocket {
  const isAllowed = (address: string) =>
    isPublicAddress(address) || (allowLoopback && isLoopbackAddress(address));

  async function addressesOf(hostname: string): Promise<string[]> {
    if (isIP(hostname)) return [hostname];
    if (allowLoopback && hostname === 'localhost') return ['127.0.0.1', '::1'];
    return resolve(hostname);
  }

  function check(addresses: string[]): void {
    // Node connects to this machine if it is given no host.
    if (addresses.length === 0)
      throw new TargetError('unreachable', 'dns_missing', 'the host has no address');
    if (!addresses.every(isAllowed))
      throw new TargetError(
        'unsafe_target',
        'address_not_public',
        'the host has an address that is not public',
      );
  }

  return async (target, signal) => {
    // A DNS lookup cannot be cancelled, but we can stop waiting for it.
    const found = await Promise.race([addressesOf(target.hostname), aborted(signal)]);
    const addresses = found.slice(0, ADDRESSES_CHECKED);
    check(addresses);
    const socket = await reachOne(addresses, target.port, signal, rateLimiter);
    try {
      check([socket.remoteAddress ?? '']);
    } catch (error) {
      socket.destroy();
      throw error;
    }
    return target.isTls ? startTls(socket, target.hostname, tls, signal) : socket;
  };
}

const aborted = (signal: AbortSignal) =>
  once(signal, 'abort').then(() => {
    throw new Error('stopped');
  });

async function reachOne(
  addresses: string[],
  port: number,
  signal: AbortSignal,
  rateLimiter: AddressRateLimiter,
): Promise<Socket> {
  // IPv4 first, because more hosts have working IPv4 than working IPv6.
  const candidates = addresses.toSorted((one, other) => isIP(one) - isIP(other)).slice(0, ADDRESSES_TRIED);
  const last = candidates.pop();
  for (const address of candidates) {
    countRequest(rateLimiter, address);
    try {
      return await reach(address, port, signal, NEXT_ADDRESS_AFTER_MS);
    } catch {
      // Try the next address.
    }
  }
  countRequest(rateLimiter, last ?? '');
  return reach(last ?? '', port, signal);
}

/** @throws TargetError postponed */
function countRequest(rateLimiter: AddressRateLimiter, address: string): void {
  const retryAfterMs = rateLimiter.take(address);
  if (retryAfterMs > 0) throw postponed(retryAfterMs);
}

/** @param timeoutMs 0 is no limit */
async function reach(address: string, port: number, signal: AbortSignal, timeoutMs = 0): Promise<Socket> {
  signal.throwIfAborted();
  const socket = connect({ host: address, port, noDelay: true });
  // A timer of the socket, because the garbage collector can remove a source of AbortSignal.any (Node issue 57736).
  socket.setTimeout(timeoutMs, () => socket.destroy(new Error('no connection in time')));
  await waitForEvent(socket, 'connect', signal);
  return socket.setTimeout(0).removeAllListeners('timeout');
}

/**
 * A server chooses the group of a classic Diffie-Hellman exchange, before its certificate is looked at. In TLS 1.2 one of its own with 10,000
 * bits cost half a second in one turn, in TLS 1.3 that of 8,192 bits a tenth (Node 20, 2026-11-30). So only elliptic curves are offered, which
 * cost 2 ms. Servers that know none are older than TLS 1.2.
 */
const EXCHANGES = { ciphers: `${DEFAULT_CIPHERS}:!DHE`, ecdhCurve: 'X25519:prime256v1:secp384r1:secp521r1' };

async function startTls(socket: Socket, hostname: string, options: ConnectionOptions, signal: AbortSignal) {
  const name = hostname.replace(/\.$/, '');
  const handshake = limitTls(socket, name);
  const secure = connectTls({
    ...options,
    socket: handshake.stream,
    // The name that the certificate must match. SNI does not allow IP addresses.
    host: name,
    servername: isIP(name) ? '' : name,
    ALPNProtocols: ['http/1.1'],
    ...EXCHANGES,
    // A server could ask for one handshake after another.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED cannot disable it.
    rejectUnauthorized: true,
  });
  await waitForEvent(secure, 'secureConnect', signal);
  handshake.end(secure);
  return secure;
}

async function waitForEvent(socket: Socket, event: 'connect' | 'secureConnect', signal: AbortSignal) {
  // Without a listener, a later error of the socket would end the process.
  socket.on('error', () => {});
  try {
    await once(socket, event, { signal });
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}
