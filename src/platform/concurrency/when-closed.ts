import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';

/**
 * What is to be done at the end of each response. One listener for all of it: Node warns of more than ten, with a stack and a line on
 * stderr for each response, and the stream of a large response adds several of its own.
 */
const ends = new WeakMap<ServerResponse, (() => void)[]>();

/** Calls `end` once after the response, or when the client disconnects, which Fastify's onResponse does not tell. */
export function onClosed(raw: ServerResponse, end: () => void): void {
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

/**
 * The same for work that can begin after the client has left, for example because the account was checked before: the response of such a
 * client has no event any more, and `end` is called at once.
 */
export function whenClosed({ raw, request }: FastifyReply, end: () => void): void {
  if (request.raw.socket.destroyed) end();
  else onClosed(raw, end);
}
