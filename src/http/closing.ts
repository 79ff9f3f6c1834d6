import type { FastifyInstance } from 'fastify';
import { Fault } from '../errors.js';

/** While the server closes, requests on open connections get 503 in the envelope and are told to go away. */
export function refuseWhileClosing(app: FastifyInstance): void {
  let isClosing = false;
  app.addHook('preClose', async () => {
    isClosing = true;
  });
  app.addHook('onRequest', async (_request, reply) => {
    if (!isClosing) return;
    void reply.header('connection', 'close');
    throw new Fault('unavailable', 'This replica is shutting down. Try again.', { retryAfterSeconds: 1 });
  });
}
