import { Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../../errors/errors.js';

/** How long an idle connection may still bring a request, to be told to go elsewhere. */
const LINGER_MS = 500;
const IDLE_CHECK_MS = 50;

/**
 * A replica that shuts down loses no request: it stops listening, finishes what it has accepted, and answers what
 * comes on open connections with 503 in the envelope; every one of these replies closes its connection.
 */
export function rejectWhileClosing(app: FastifyInstance): void {
  let isClosing = false;

  app.addHook('preClose', async () => {
    isClosing = true;
    await closeGracefully(app);
  });
  app.addHook('onRequest', async () => {
    if (!isClosing) return;
    throw new ApiError('unavailable', 'This replica is shutting down. Try again.', { retryAfterSeconds: 1 });
  });
  app.addHook('onSend', async (_request, reply) => {
    if (isClosing) void reply.header('connection', 'close');
  });
}

/**
 * Resolves when no connection is left. node:http's own close() cuts idle connections at once, and with them the
 * requests that are on their way; net's only stops listening.
 */
async function closeGracefully({ server }: FastifyInstance): Promise<void> {
  const allClosed = new Promise<void>((resolve) => {
    Server.prototype.close.call(server, () => resolve());
  });
  await Promise.race([allClosed, sleep(LINGER_MS, undefined, { ref: false })]);
  // again and again: a reply that was half sent when the closing began leaves its connection open
  const sweep = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
  await allClosed;
  clearInterval(sweep);
}
