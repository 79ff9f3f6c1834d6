import type { Socket } from 'node:net';
import { Agent, Client, Pool as OriginPool, type Dispatcher } from 'undici';
import type { AddressRateLimiter } from './address-rate-limit.js';
import type { OpenSocket } from './connect.js';
import { postponed } from './failures.js';

/** A request, the signal that its sender no longer waits, and who is told that it is not sent at all. */
export type StoppableRequest = Dispatcher.DispatchOptions & {
  signal: AbortSignal;
  reject(error: Error): void;
};

export type Connections = {
  dispatch(request: StoppableRequest, handler: Dispatcher.DispatchHandler): boolean;
  /** Waits for the requests that are under way. */
  close(): Promise<void>;
  /** Cuts them off. */
  destroy(): Promise<void>;
};

const LIMITS = {
  // an origin: as many as a worker has jobs at most, so that one courier never waits for another's
  connections: 500,
  pipelining: 1,
  // a connection was checked when it was made; a name that points elsewhere since is looked at again soon
  clientTtl: 10_000,
  keepAliveTimeout: 5000,
  keepAliveMaxTimeout: 5000,
  keepAliveTimeoutThreshold: 1000,
  maxHeaderSize: 16_384,
  // whoever sends has a time limit for all of it
  headersTimeout: 0,
  bodyTimeout: 0,
};

/** Kept connections to each origin, opened by `open` alone and used as often as `gate` lets them. Asks no proxy, follows nothing, unpacks nothing. */
export function makeConnections(open: OpenSocket, gate: AddressRateLimiter): Connections {
  return new Agent({
    ...LIMITS,
    factory: (origin, poolOptions) =>
      new OriginPool(origin, {
        ...poolOptions,
        factory: (_origin, options) => makeConnection(origin, options, open, gate),
      }),
  });
}

// undici does not tell a connector whom it connects for, and a request that waits for one cannot be given up.
function makeConnection(
  origin: string | URL,
  options: Client.Options,
  open: OpenSocket,
  gate: AddressRateLimiter,
): Client {
  let signal = AbortSignal.abort();
  let openSocket: Socket | undefined;
  const client = new Client(origin, {
    ...options,
    connect({ hostname, port, protocol }, done) {
      const isTls = protocol === 'https:';
      const target = { hostname, port: Number(port) || (isTls ? 443 : 80), isTls };
      open(target, signal).then(
        (socket) => {
          openSocket = socket;
          done(null, socket);
        },
        // as: sockets, TLS and TargetError throw nothing else
        (error: unknown) => done(error as Error, null),
      );
    },
  });
  const dispatch = client.dispatch.bind(client);
  // one request at a time: the one that it is given is the one that it connects for
  client.dispatch = (request: StoppableRequest, handler) => {
    // a new connection has been counted by `open`
    const retryAfterMs = openSocket && !openSocket.destroyed ? gate.take(openSocket.remoteAddress ?? '') : 0;
    if (retryAfterMs > 0) {
      request.reject(postponed(retryAfterMs));
      return true;
    }
    signal = request.signal;
    return dispatch(request, handler);
  };
  return client;
}
