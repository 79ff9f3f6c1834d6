import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { FastifyRequest } from 'fastify';
import stringify from 'safe-stable-stringify';
import type { Secrets } from '../access/secrets.js';
import type { Operation, UploadedFile } from '../contract/types.js';
import { MULTIPART, sentMediaType } from '../http/bodies/forms.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Where the request may be a repetition of another. */
    repeatable?: IdempotencyKey | undefined;
  }
}

/** Keyed hashes of a request's Idempotency-Key, and of everything that it asks for with it. */
export type IdempotencyKey = { keyHash: string; requestHash: string };

const HEADER = 'idempotency-key';

/**
 * What a request is known again by. Taken before defaults are filled in: a later version of the service may have
 * others. Two requests are the same when operation, query and fields are, however they are spelt; a credential is no
 * part of what is asked for. A file is its content: clients name it anew with each request.
 *
 * The hash is keyed because bodies hold passwords, which a plain one would let be guessed.
 */
export async function readIdempotencyKey(
  request: FastifyRequest,
  operation: Operation,
  secrets: Secrets,
): Promise<IdempotencyKey | undefined> {
  const key = request.headers[HEADER];
  if (typeof key !== 'string') return undefined;
  // as: the query parser makes an object
  const { api_key: _, ...query } = request.query as Record<string, unknown>;
  const mediaType = sentMediaType(request);
  const body = mediaType === MULTIPART ? await withFileHashes(request.body as object) : request.body;
  const asked = stringify({ operation: operation.id, query, mediaType, body });
  return {
    keyHash: secrets.lookupHash(key, 'idempotency_key'),
    requestHash: secrets.lookupHash(asked ?? '', 'idempotent_request'),
  };
}

async function withFileHashes(form: object): Promise<[string, unknown][]> {
  const fields = Object.entries(form) as [string, string | UploadedFile][];
  const hashed = fields.map(async ([name, value]): Promise<[string, unknown]> => [
    name,
    // in a list of its own: no text field is one
    typeof value === 'string' ? value : [await hashFile(value.path)],
  ]);
  return (await Promise.all(hashed)).sort(([a], [b]) => (a < b ? -1 : 1));
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
