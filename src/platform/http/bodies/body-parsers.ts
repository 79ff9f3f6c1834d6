import type { Readable } from 'node:stream';
import { errorCodes, type FastifyInstance, type FastifyRequest } from 'fastify';
import { bodyBytesOf, JSON_BODY_BYTES } from './body-limits.js';
import { readBytes } from './read-bytes.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The body as it was sent, of an operation that checks its signature. */
    rawBody?: Buffer;
  }
}

/** Registers the parser of a media type. A body without bytes is like no body. */
export function registerParser(
  app: FastifyInstance,
  mediaType: string,
  parse: (bytes: Buffer) => unknown,
): void {
  app.addContentTypeParser(mediaType, async (request: FastifyRequest, payload: Readable) => {
    const { operation } = request;
    const bytes = await readBytes(request, payload, {
      maxBytes: operation ? bodyBytesOf(operation) : JSON_BODY_BYTES,
      // The error handler words it for the operation.
      tooLarge: errorCodes.FST_ERR_CTP_BODY_TOO_LARGE,
    });
    if (operation?.keepsRawBody) request.rawBody = bytes;
    return bytes.length === 0 ? undefined : parse(bytes);
  });
}
