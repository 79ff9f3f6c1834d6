import type { FastifyInstance, FastifyRequest } from 'fastify';
import { openBodySpace, openStrangersBodySpace } from '../../limits/body-space.js';
import type { Space } from '../../limits/byte-space.js';
import { isForm, isLarge } from './body-limits.js';
import { whenClosed } from '../../concurrency/when-closed.js';
import { holderOf } from './body-holder.js';

const spaces = new WeakMap<FastifyRequest, Space>();

/**
 * Limits the bytes of large bodies in memory, for each caller and for the process. A body with a Content-Length is refused with 503 before
 * it is read. It counts until the request is handled, also if the client has left, and its response is sent.
 */
export function limitHeldBodies(app: FastifyInstance): void {
  const handled = new WeakMap<FastifyRequest, () => void>();
  // After the hooks that check the account, so that nobody else takes a caller's space.
  app.addHook('preParsing', async (request, reply) => {
    // The files of a form are on disk, see spool-space.ts.
    if (!isLarge(request) || isForm(request) || isNeverRead(request)) return;
    const open = request.caller ? openBodySpace : openStrangersBodySpace;
    const space = open(holderOf(request));
    space.take(Number(request.headers['content-length'] ?? 0));
    spaces.set(request, space);
    let pending = 2;
    const end = () => {
      pending -= 1;
      if (pending === 0) space.free();
    };
    handled.set(request, end);
    whenClosed(reply, end);
  });
  app.addHook('onSend', async (request) => {
    handled.get(request)?.();
    handled.delete(request);
  });
}

/** Fastify reads no body of these, whatever the client announces. */
const isNeverRead = ({ method }: FastifyRequest): boolean => method === 'GET' || method === 'HEAD';

/** Counts a part of a body that has no Content-Length. @throws ApiError overloaded */
export function countReceived(request: FastifyRequest, bytes: number): void {
  if (request.headers['content-length'] === undefined) spaces.get(request)?.take(bytes);
}
