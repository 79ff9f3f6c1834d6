import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { FastifyRequest } from 'fastify';
import stringify from 'safe-stable-stringify';
import type { Secrets } from '../access/secrets.js';
import { NDJSON, type Operation, type UploadedFile } from '../contract/types.js';
import { MULTIPART, sentMediaType } from '../http/bodies/forms.js';
import type { SentLines } from '../http/bodies/lines.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set if the request has an Idempotency-Key and its operation accepts one. */
    idempotencyKey?: IdempotencyKey | undefined;
  }
}

/** Keyed hashes of a request's Idempotency-Key, and of the request itself. */
export type IdempotencyKey = { keyHash: string; requestHash: string };

const HEADER = 'idempotency-key';

/**
 * Returns the hashes that identify a request. Two requests are the same if their operation (an operation may have two paths), query and fields are equal,
 * in any order and notation. The credential is not compared. A file is compared by its content, because clients may name it
 * differently in each attempt. Lines are compared as they were sent. The request is hashed before defaults are filled in, because a later version of the service
 * may have other defaults.
 *
 * The hash is keyed: bodies contain passwords, which could be guessed from a plain hash.
 */
export async function readIdempotencyKey(
  request: FastifyRequest,
  operation: Operation,
  secrets: Secrets,
): Promise<IdempotencyKey | undefined> {
  const key = request.headers[HEADER];
  if (typeof key !== 'string') return undefined;
  // The query parser returns an object.
  const { api_key: _, ...query } = request.query as Record<string, unknown>;
  const mediaType = sentMediaType(request);
  const body = await comparable(mediaType, request.body);
  const canonical = stringify({ operation: operation.sameAs, query, mediaType, body });
  return {
    keyHash: secrets.lookupHash(key, 'idempotency_key'),
    requestHash: secrets.lookupHash(canonical ?? '', 'idempotent_request'),
  };
}

async function comparable(mediaType: string | undefined, body: unknown): Promise<unknown> {
  if (mediaType === MULTIPART) return withFileHashes(body as object);
  // Lines are compared byte by byte: their parsed values would take long to put in order.
  return mediaType === NDJSON ? [(body as SentLines).sha256] : body;
}

async function withFileHashes(form: object): Promise<[string, unknown][]> {
  const fields = Object.entries(form) as [string, string | UploadedFile][];
  const hashed = fields.map(async ([name, value]): Promise<[string, unknown]> => [
    name,
    // An array, so that no text field has the same form.
    typeof value === 'string' ? value : [await hashFile(value.path)],
  ]);
  return (await Promise.all(hashed)).sort(([a], [b]) => (a < b ? -1 : 1));
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
