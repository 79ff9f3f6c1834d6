import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import { isLoopbackAddress, isPublicAddress } from './addresses.js';
import { makeAddressRateLimiter, type AddressRateLimiter } from './address-rate-limit.js';
import { postponed, TargetError } from './failures.js';
import type { Resolve } from './resolve.js';
import type { OutboundRules } from './urls.js';

export type Target = {
  /** A name, or an address without brackets. */
  hostname: string;
  port: number;
  isTls: boolean;
};

/** @throws TargetError, or what the socket failed with */
export type OpenSocket = (target: Target, signal: AbortSignal) => Promise<Socket>;

export type ConnectOptions = OutboundRules & {
  resolve: Resolve;
  tls: ConnectionOptions;
  /** Absent: any number of requests to an address. */
  rateLimiter?: AddressRateLimiter;
};

// A name with more addresses must not have us knock on hundreds of doors.
const ADDRESSES_TRIED = 4;
// Four of them fit into the ten seconds that a webhook has.
const NEXT_ADDRESS_AFTER_MS = 2500;

/**
 * Opens connections that go where they were checked to go: the name is resolved once, every address that it has must be
 * allowed, and the socket is opened to one of these addresses. TLS still asks for the name and verifies it. Each
 * address that is tried counts as a request to it.
 */
export function makeOpenSocket({
  allowLoopback,
  resolve,
  tls,
  rateLimiter: gate = makeAddressRateLimiter(),
}: ConnectOptions): OpenSocket {
  const isAllowed = (address: string) =>
    isPublicAddress(address) || (allowLoopback && isLoopbackAddress(address));

  async function addressesOf(hostname: string): Promise<string[]> {
    if (isIP(hostname)) return [hostname];
    if (allowLoopback && hostname === 'localhost') return ['127.0.0.1', '::1'];
    return resolve(hostname);
  }

  function check(addresses: string[]): void {
    if (!addresses.every(isAllowed))
      throw new TargetError('unsafe_target', 'the host has an address that is not public');
  }

  return async (target, signal) => {
    // a lookup cannot be given up, but need not be waited for
    const addresses = await Promise.race([addressesOf(target.hostname), aborted(signal)]);
    check(addresses);
    const socket = await reachOne(addresses, target.port, signal, gate);
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
  gate: AddressRateLimiter,
): Promise<Socket> {
  // IPv4 first: more hosts have it working than have IPv6 working
  const candidates = addresses.toSorted((one, other) => isIP(one) - isIP(other)).slice(0, ADDRESSES_TRIED);
  const last = candidates.pop();
  for (const address of candidates) {
    countRequest(gate, address);
    try {
      return await reach(
        address,
        port,
        AbortSignal.any([signal, AbortSignal.timeout(NEXT_ADDRESS_AFTER_MS)]),
      );
    } catch {
      // the next one
    }
  }
  countRequest(gate, last ?? '');
  return reach(last ?? '', port, signal);
}

/** @throws TargetError postponed */
function countRequest(gate: AddressRateLimiter, address: string): void {
  const retryAfterMs = gate.take(address);
  if (retryAfterMs > 0) throw postponed(retryAfterMs);
}

async function reach(address: string, port: number, signal: AbortSignal): Promise<Socket> {
  signal.throwIfAborted();
  return waitForEvent(connect({ host: address, port, noDelay: true }), 'connect', signal);
}

async function startTls(socket: Socket, hostname: string, options: ConnectionOptions, signal: AbortSignal) {
  const name = hostname.replace(/\.$/, '');
  const secure = connectTls({
    ...options,
    socket,
    // whom the certificate must name; an address is not asked for by SNI
    host: name,
    servername: isIP(name) ? '' : name,
    ALPNProtocols: ['http/1.1'],
    // said aloud, because NODE_TLS_REJECT_UNAUTHORIZED would have it otherwise
    rejectUnauthorized: true,
  });
  return waitForEvent(secure, 'secureConnect', signal);
}

async function waitForEvent(socket: Socket, event: 'connect' | 'secureConnect', signal: AbortSignal) {
  // an error between this event and the next one's listener would end the process
  socket.on('error', () => {});
  try {
    await once(socket, event, { signal });
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}
