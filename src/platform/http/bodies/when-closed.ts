import type { FastifyReply } from 'fastify';

/**
 * Calls `end` once: after the response, or when the client leaves. A client that has left before, for example while the account was
 * checked, emits no event any more: then `end` is called at once.
 */
export function whenClosed({ raw, request }: FastifyReply, end: () => void): void {
  if (request.raw.socket.destroyed) end();
  else raw.once('close', end);
}
