// Our own: Fastify puts bodies together and parses them as they end. Those that end at the same moment held the event loop for half a second.
import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { pause } from '../../concurrency/pause-when-due.js';
import { ApiError } from '../../errors/errors.js';
import { isLarge } from './body-limits.js';
import { countReceived } from './limit-held-bodies.js';

export type Reading = {
  maxBytes: number;
  /** Returns the error of a body that is larger. */
  tooLarge: () => Error;
  /** Called with each part as it arrives. */
  onChunk?: (chunk: Buffer) => void;
};

/**
 * Reads a body. Returns a large one in a turn of the event loop that no other body has, so that it may be parsed at once.
 *
 * @throws ApiError overloaded, or malformed_request if the client has left meanwhile; what `tooLarge` returns
 */
export async function readBytes(
  request: FastifyRequest,
  payload: Readable,
  reading: Reading,
): Promise<Buffer> {
  const { chunks, length } = await readChunks(request, payload, reading);
  if (isLarge(request)) {
    await pause();
    if (request.raw.socket.destroyed) throw new ApiError('malformed_request');
  }
  return Buffer.concat(chunks, length);
}

type Received = { chunks: Buffer[]; length: number };

// Events, because an iterator takes several turns for each part. The stream is not destroyed, because it would take the connection with
// it, and the client would lose the response.
function readChunks(request: FastifyRequest, payload: Readable, reading: Reading): Promise<Received> {
  const received: Received = { chunks: [], length: 0 };
  // The client has left already, so no event follows.
  if (payload.destroyed) return Promise.reject(new ApiError('malformed_request'));
  return new Promise((resolve, reject) => {
    const end = (error?: Error) => {
      payload.off('data', onData).off('end', onEnd).off('error', end).off('close', onClose);
      if (error) reject(error);
      else resolve(received);
    };
    const onEnd = () => end();
    const onClose = () => end(new ApiError('malformed_request'));
    const onData = (chunk: Buffer) => {
      try {
        addChunk(request, received, chunk, reading);
      } catch (error) {
        end(error as Error);
      }
    };
    payload.on('data', onData).on('end', onEnd).on('error', end).on('close', onClose);
  });
}

function addChunk(
  request: FastifyRequest,
  received: Received,
  chunk: Buffer,
  { maxBytes, tooLarge, onChunk }: Reading,
): void {
  received.length += chunk.length;
  if (received.length > maxBytes) throw tooLarge();
  countReceived(request, chunk.length);
  received.chunks.push(chunk);
  onChunk?.(chunk);
}
