import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { isShared } from './static-documents.js';
import type { UnreadReplies } from '../connections/unread-replies.js';

const SLICE_BYTES = 64 * 1024;

/**
 * Streams large responses in slices as the client reads them. If they were written at once, TLS would encrypt the whole
 * response in memory, and a slow client could not be distinguished from one that does not read. Text in pieces is not joined, and each
 * piece is released when it has been sent.
 */
export function sliceReplies(app: FastifyInstance, unread: Pick<UnreadReplies, 'responseBuffered'>): void {
  app.addHook('onSend', async (request, reply, payload: unknown) => {
    const pieces = piecesOf(payload);
    if (!pieces) return payload;
    const size = pieces.reduce((sum, { length }) => sum + length, 0);
    if (size <= SLICE_BYTES) return Buffer.concat(pieces);
    if (!pieces.every(isShared)) unread.responseBuffered(request.raw.socket, size);
    void reply.header('content-length', size);
    return Readable.from(slicesOf(pieces));
  });
}

/** Returns nothing for a stream, and for a text that is sent as it is. */
function piecesOf(payload: unknown): Buffer[] | undefined {
  // Our handlers send no other lists: sendHttpResponse.
  if (Array.isArray(payload)) return payload as Buffer[];
  if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return undefined;
  if (payload.length <= SLICE_BYTES) return undefined;
  return [typeof payload === 'string' ? Buffer.from(payload) : payload];
}

function* slicesOf(pieces: Buffer[]): Generator<Buffer> {
  for (let piece = pieces.shift(); piece; piece = pieces.shift()) {
    for (let start = 0; start < piece.length; start += SLICE_BYTES)
      yield piece.subarray(start, start + SLICE_BYTES);
  }
}
