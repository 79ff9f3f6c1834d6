// Our own: Fastify's return503OnClosing answers without our envelope, and node:http closes idle connections at once.
import { Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../../errors/errors.js';

/** How long requests on their way are still served, and idle connections stay open for them. */
const LINGER_MS = 500;
const IDLE_CHECK_MS = 50;

/**
 * Shuts down without losing requests: stops listening, and finishes accepted requests. A request that is on its way on an open
 * connection is served too, because a proxy repeats few writes that get 503. Later ones get 503. Each response closes its
 * connection, so an open connection has at most one more request.
 */
export function serveWhileClosing(app: FastifyInstance): void {
  let isClosing = false;
  let lingersUntilMs = 0;

  app.addHook('preClose', async () => {
    isClosing = true;
    lingersUntilMs = performance.now() + LINGER_MS;
    await closeGracefully(app);
  });
  app.addHook('onRequest', async (request) => {
    if (!isClosing) return;
    const isReadiness = request.routeOptions.schema?.operationId === 'getReadiness';
    if (performance.now() < lingersUntilMs && !isReadiness) return;
    throw new ApiError('unavailable', { variant: 'shutting_down', retryAfterSeconds: 1 });
  });
  app.addHook('onSend', async (_request, reply) => {
    if (isClosing) void reply.header('connection', 'close');
  });
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
