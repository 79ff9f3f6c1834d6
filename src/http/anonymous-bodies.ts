import { Transform } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Fault } from '../errors.js';

/** More than any body that the contract lets a caller without a token send. */
const FREE_BYTES = 64 * 1024;

/** What is still being read beyond that, of all such requests together. */
const SHARED_BYTES = 16 * 1024 * 1024;

/**
 * Bounds the memory that strangers can hold by sending large bodies slowly: a hundred of 1 MiB would hold
 * 100 MiB. Beyond the shared part such a body is refused with 503; ordinary ones are never counted.
 */
export function boundAnonymousBodies(app: FastifyInstance): void {
  let heldBytes = 0;

  app.addHook('preParsing', async (request, _reply, payload) => {
    if (isFree(request)) return payload;
    let ownBytes = 0;
    const counted = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        ownBytes += chunk.length;
        heldBytes += chunk.length;
        if (heldBytes > SHARED_BYTES) done(new Fault('overloaded', undefined, { retryAfterSeconds: 1 }));
        else done(null, chunk);
      },
    });
    counted.once('close', () => (heldBytes -= ownBytes));
    // not pipeline(): it would take the connection down, and the reply with it
    payload.once('error', (error: Error) => counted.destroy(error));
    return payload.pipe(counted);
  });
}

function isFree({ caller, headers }: FastifyRequest): boolean {
  const declared = headers['content-length'];
  return caller?.kind === 'user' || (declared !== undefined && Number(declared) <= FREE_BYTES);
}
