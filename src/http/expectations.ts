import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';

/**
 * A client that sends `Expect: 100-continue` waits with its body until it is told to go on. It is told so when the
 * request has been admitted; by itself Node says it at once, so that refused uploads of 10 MiB were sent all the same.
 */
export function continueWhenAdmitted(app: FastifyInstance): void {
  const waiting = new WeakSet<IncomingMessage>();

  app.server.on('checkContinue', (request, response) => {
    waiting.add(request);
    app.server.emit('request', request, response);
  });
  // the first hook after onRequest, in which requests are refused
  app.addHook('preParsing', async ({ raw }, reply) => {
    if (waiting.delete(raw)) reply.raw.writeContinue();
  });
  app.addHook('onSend', async ({ raw }, reply) => {
    // the body will not come, and what comes instead is no part of this request (RFC 9110, 10.1.1)
    if (waiting.has(raw)) void reply.header('connection', 'close');
  });
}
