// Our own: Fastify's return503OnClosing answers without our envelope, and node:http closes idle connections at once.
import { Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../../errors/errors.js';

/** How long an idle connection may still bring a request, to be told to go elsewhere. */
const LINGER_MS = 500;
const SWEEP_MS = 50;

/**
 * A replica that shuts down loses no request: it stops listening, finishes what it has accepted, and answers what
 * comes on open connections with 503 in the envelope; every one of these replies closes its connection.
 */
export function refuseWhileClosing(app: FastifyInstance): void {
  let isClosing = false;

  app.addHook('preClose', async () => {
    isClosing = true;
    await closeGently(app);
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
async function closeGently({ server }: FastifyInstance): Promise<void> {
  const allGone = new Promise<void>((resolve) => {
    Server.prototype.close.call(server, () => resolve());
  });
  await Promise.race([allGone, sleep(LINGER_MS, undefined, { ref: false })]);
  // again and again: a reply that was half sent when the closing began leaves its connection open
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
  await allGone;
  clearInterval(sweep);
}
