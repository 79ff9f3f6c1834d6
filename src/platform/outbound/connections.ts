import type { Socket } from 'node:net';
import { Agent, Client, Pool as OriginPool, type Dispatcher } from 'undici';
import type { AddressRateLimiter } from '../limits/address-rate-limit.js';
import type { OpenSocket } from './connect.js';
import { postponed } from './failures.js';
import { skipContinue } from './interim-responses.js';

/** A request, the signal that aborts it, and the maximum size of the response's body. */
type BoundedRequest = Dispatcher.DispatchOptions & { signal: AbortSignal; maxBytes: number };

export type Connections = {
  dispatch(request: BoundedRequest, handler: Dispatcher.DispatchHandler): boolean;
  /** Waits for requests in progress. */
  close(): Promise<void>;
  /** Aborts requests in progress. */
  destroy(): Promise<void>;
};

const LIMITS = {
  // Per origin: the maximum worker concurrency, so that couriers with the same host never wait for each other.
  connections: 500,
  pipelining: 1,
  // Addresses are checked when a connection is opened. A short lifetime makes changed DNS entries be checked again.
  clientTtl: 10_000,
  keepAliveTimeout: 5000,
  keepAliveMaxTimeout: 5000,
  keepAliveTimeoutThreshold: 1000,
  maxHeaderSize: 16_384,
  // Disabled, because each request has a timeout for the whole exchange.
  headersTimeout: 0,
  bodyTimeout: 0,
};

/** Keep-alive connection pools per origin. They use only `open` and the rate limiter: no proxy, no redirects, no decompression. */
export function makeConnections(open: OpenSocket, rateLimiter: AddressRateLimiter): Connections {
  return new Agent({
    ...LIMITS,
    factory: (origin, poolOptions) =>
      new OriginPool(origin, {
        ...poolOptions,
        factory: (_origin, options) => makeConnection(origin, options, open, rateLimiter),
      }),
  });
}

/**
 * TLS can emit an error of a socket after its `close`. undici 7.30 has no parser then, and throws a TypeError in the event, which would end the
 * thread of all couriers.
 */
function forgetUndici(socket: Socket): void {
  for (const event of ['error', 'end', 'readable']) socket.removeAllListeners(event);
  socket.on('error', () => undefined);
}

// undici passes no request to a connector, and a request that waits for a connection cannot be aborted.
function makeConnection(
  origin: string | URL,
  options: Client.Options,
  open: OpenSocket,
  rateLimiter: AddressRateLimiter,
): Client {
  let { signal, maxBytes } = { signal: AbortSignal.abort(), maxBytes: 0 };
  let openSocket: Socket | undefined;
  let expectResponse: (maxBytes: number) => void = () => undefined;
  const client = new Client(origin, {
    ...options,
    connect({ hostname, port, protocol }, done) {
      const isTls = protocol === 'https:';
      const target = { hostname, port: Number(port) || (isTls ? 443 : 80), isTls };
      open(target, signal).then(
        (socket) => {
          openSocket = socket;
          ({ expectResponse } = skipContinue(socket));
          expectResponse(maxBytes);
          done(null, socket);
          socket.once('close', () => forgetUndici(socket));
        },
        // Sockets, TLS and our own code only reject with errors.
        (error: unknown) => done(error as Error, null),
      );
    },
  });
  const dispatch = client.dispatch.bind(client);
  // A client handles one request at a time, so it connects for the request that was dispatched last.
  client.dispatch = (request: BoundedRequest, handler) => {
    // `open` counts the request of a new connection.
    const retryAfterMs =
      openSocket && !openSocket.destroyed ? rateLimiter.take(openSocket.remoteAddress ?? '') : 0;
    // undici reports an error of `dispatch` to the handler.
    if (retryAfterMs > 0) throw postponed(retryAfterMs);
    ({ signal, maxBytes } = request);
    expectResponse(maxBytes);
    return dispatch(request, handler);
  };
  return client;
}
