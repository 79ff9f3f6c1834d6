// Our own: Fastify's return503OnClosing answers without our envelope, and node:http closes idle connections at once.
import { Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../../errors/errors.js';

/** How long idle connections stay open, so that requests on their way still get a response. */
const LINGER_MS = 500;
const IDLE_CHECK_MS = 50;

/**
 * Shuts down without losing requests: stops listening, finishes accepted requests, and rejects new requests on open
 * connections with 503. Each of these responses closes its connection.
 */
export function rejectWhileClosing(app: FastifyInstance): void {
  let isClosing = false;

  app.addHook('preClose', async () => {
    isClosing = true;
    await closeGracefully(app);
  });
  app.addHook('onRequest', async () => {
    if (!isClosing) return;
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
