import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { isLarge } from './body-limits.js';

/** How long a client that is still sending may take to notice that it was refused. */
const LINGER_MS = 5_000;

/**
 * A request that is refused before its body is read: the reply goes out at once, and the connection closes unless the
 * body is small. What is still on its way is thrown away as it arrives.
 */
export function rejectBeforeReading(app: FastifyInstance): void {
  const expecting = new WeakSet<IncomingMessage>();
  const begun = new WeakSet<IncomingMessage>();

  // by itself Node answers 100 Continue at once, and uploads that are refused are sent all the same
  app.server.on('checkContinue', (request, response) => {
    expecting.add(request);
    app.server.emit('request', request, response);
  });
  // the first hook after onRequest, in which requests are refused
  app.addHook('preParsing', async ({ raw }, reply) => {
    begun.add(raw);
    if (expecting.has(raw)) reply.raw.writeContinue();
  });
  app.addHook('onSend', async (request, reply) => {
    const { raw } = request;
    if (raw.complete) return;
    // a body that was not asked for will not come: the next bytes are another request's (RFC 9110, 10.1.1)
    if (!begun.has(raw) && (expecting.has(raw) || isLarge(request))) void reply.header('connection', 'close');
    lingerOnClose(raw);
  });
}

/**
 * Closes the sending side alone, while the client still sends: with unread bytes left, a full close would reset the
 * connection, and the client would lose the reply (RFC 9112, 9.6).
 */
function lingerOnClose(request: IncomingMessage): void {
  const { socket } = request;
  const close = socket.destroySoon.bind(socket);
  // Node's HTTP server closes a connection with this method, once the reply has been sent
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
