import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { isLarge } from './body-limits.js';

/** How long a client that is still sending may take to read the response. */
const LINGER_MS = 5_000;

/**
 * Handles requests that are rejected before their body is read. The response is sent immediately, and the connection closes
 * unless the body is small. The rest of the body is discarded.
 */
export function rejectBeforeReading(app: FastifyInstance): void {
  const expectingContinue = new WeakSet<IncomingMessage>();
  const bodyRequested = new WeakSet<IncomingMessage>();

  // By default Node sends 100 Continue immediately, and clients would send uploads that are then rejected.
  app.server.on('checkContinue', (request, response) => {
    expectingContinue.add(request);
    app.server.emit('request', request, response);
  });
  // preParsing is the first hook after onRequest, where requests are rejected.
  app.addHook('preParsing', async ({ raw }, reply) => {
    bodyRequested.add(raw);
    if (expectingContinue.has(raw)) reply.raw.writeContinue();
  });
  app.addHook('onSend', async (request, reply) => {
    const { raw } = request;
    if (raw.complete) return;
    // Without 100 Continue the client may skip the body, and the next bytes may be a new request (RFC 9110, 10.1.1).
    if (!bodyRequested.has(raw) && (expectingContinue.has(raw) || isLarge(request)))
      void reply.header('connection', 'close');
    lingerOnClose(raw);
  });
}

/**
 * Closes only the sending side while the client still sends. A full close with unread bytes would reset the connection, and
 * the client would lose the response (RFC 9112, 9.6).
 */
function lingerOnClose(request: IncomingMessage): void {
  const { socket } = request;
  const close = socket.destroySoon.bind(socket);
  // Node's HTTP server calls this method to close a connection after the response.
  socket.destroySoon = () => {
    if (request.complete || socket.destroyed) {
      close();
      return;
    }
    const timer = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once('close', () => clearTimeout(timer));
    request.once('end', () => socket.destroy());
    request.resume();
    socket.end();
  };
}
