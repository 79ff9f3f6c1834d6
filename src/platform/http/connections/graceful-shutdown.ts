// Our own: Fastify's return503OnClosing answers without our envelope, and node:http closes idle connections at once.
import { Server } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../../errors/errors.js';

/** How long requests on their way are still served, and idle connections stay open for them. */
const LINGER_MS = 1_500;
const IDLE_CHECK_MS = 50;
/** Longer than two checks of haproxy with the files of deploy/proxy, after which it sends no more requests here. */
const ANNOUNCE_MS = 3_000;
/** Nobody asks whether this process is ready if the last question is older. */
const LATEST_CHECK_MS = 5_000;
const QUEUED_CONNECTIONS = 128;
/** A busy event loop takes long for so many turns, and a process that does not end in time is killed with what it has begun. */
const ACCEPT_MS = 1_000;

/** When a load balancer asked whether the server is ready. A balancer that asks one process sends requests to all of them. */
export type ReadinessWatch = {
  /** @param agoMs how long ago, if it was not now */
  noteAsked(agoMs?: number): void;
  askedAgoMs(): number;
};

export function watchReadiness(): ReadinessWatch {
  let askedAtMs = -Infinity;
  return {
    noteAsked: (agoMs = 0) => void (askedAtMs = performance.now() - agoMs),
    askedAgoMs: () => performance.now() - askedAtMs,
  };
}

/**
 * Shuts down without losing requests. If a load balancer asks /ready, that fails first, and everything else is served until the
 * balancer has noticed: it repeats few writes that get 503. Then the process stops listening, finishes accepted requests, and serves
 * those that are on their way on open connections. Later ones get 503. Each response then closes its connection.
 */
export function serveWhileClosing(app: FastifyInstance, readiness = watchReadiness()): void {
  let isClosing = false;
  let servesUntilMs = Infinity;

  app.addHook('preClose', async () => {
    isClosing = true;
    if (readiness.askedAgoMs() < LATEST_CHECK_MS) await sleep(ANNOUNCE_MS);
    await acceptQueued();
    servesUntilMs = performance.now() + LINGER_MS;
    await closeGracefully(app);
  });
  app.addHook('onRequest', async (request) => {
    const isReadiness = request.routeOptions.schema?.operationId === 'getReadiness';
    if (isReadiness) readiness.noteAsked();
    if (!isClosing || (performance.now() < servesUntilMs && !isReadiness)) return;
    throw new ApiError('unavailable', { variant: 'shutting_down', retryAfterSeconds: 1 });
  });
  app.addHook('onSend', async (_request, reply) => {
    if (!isClosing) return;
    // Fastify closes each connection from the beginning. Callers would then open new ones until the end, and those that are not
    // accepted by then are reset.
    if (servesUntilMs === Infinity) reply.raw.setHeader('connection', 'keep-alive');
    else void reply.header('connection', 'close');
  });
}

/** Node accepts one connection in each turn of the event loop, and closing resets those that wait in the system's queue. */
async function acceptQueued(): Promise<void> {
  const untilMs = performance.now() + ACCEPT_MS;
  for (let turn = 0; turn < QUEUED_CONNECTIONS && performance.now() < untilMs; turn += 1) await nextTurn();
}

/**
 * Resolves when all connections are closed. The close() of node:http immediately closes idle connections and loses requests
 * that are on their way; that of net only stops listening.
 */
async function closeGracefully({ server }: FastifyInstance): Promise<void> {
  const allClosed = new Promise<void>((resolve) => {
    Server.prototype.close.call(server, () => resolve());
  });
  await Promise.race([allClosed, sleep(LINGER_MS, undefined, { ref: false })]);
  // Repeated, because a response that was in progress when the shutdown began leaves its connection open.
  const timer = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
  await allClosed;
  clearInterval(timer);
}
