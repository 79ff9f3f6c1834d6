import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';

/** What is to be ended with each response. One listener for all of it: Node warns of more than ten. */
const ends = new WeakMap<ServerResponse, (() => void)[]>();

/**
 * Calls `end` once: after the response, or when the client leaves. A client that has left before, for example while the account was
 * checked, emits no event any more: then `end` is called at once.
 */
export function whenClosed({ raw, request }: FastifyReply, end: () => void): void {
  if (request.raw.socket.destroyed) {
    end();
    return;
  }
  const others = ends.get(raw);
  if (others) {
    others.push(end);
    return;
  }
  const all = [end];
  ends.set(raw, all);
  raw.once('close', () => {
    for (const each of all) each();
  });
}
