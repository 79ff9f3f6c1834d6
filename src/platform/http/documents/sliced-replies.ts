import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { isShared } from './static-documents.js';
import type { UnreadReplies } from '../connections/unread-replies.js';

const SLICE_BYTES = 64 * 1024;

/**
 * Streams large responses in slices as the client reads them. If they were written at once, TLS would encrypt the whole
 * response in memory, and a slow client could not be distinguished from one that does not read.
 */
export function sliceReplies(app: FastifyInstance, unread: Pick<UnreadReplies, 'responseBuffered'>): void {
  app.addHook('onSend', async (request, reply, payload: unknown) => {
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload;
    if (payload.length <= SLICE_BYTES) return payload;
    const bytes = typeof payload === 'string' ? Buffer.from(payload) : payload;
    if (!isShared(bytes)) unread.responseBuffered(request.raw.socket, bytes.length);
    void reply.header('content-length', bytes.length);
    return Readable.from(slicesOf(bytes));
  });
}

function* slicesOf(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length; start += SLICE_BYTES)
    yield bytes.subarray(start, start + SLICE_BYTES);
}
