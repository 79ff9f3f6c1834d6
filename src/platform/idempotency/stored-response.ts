import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { Secrets } from '../access/secrets.js';
import type { RequestContext } from '../context/request-context.js';
import type { Operation } from '../contract/types.js';
import type { Db } from '../db/database.js';
import type { ReadTx } from '../db/scope.js';
import { quotaExceeded, quotaOf, selectUsage } from '../limits/stored/quotas.js';
import { ApiError } from '../errors/errors.js';
import type { HttpResponse } from '../http/replies/responses.js';
import { newId } from '../values/ids.js';
import { findStoredResponse, insertStoredResponse, type OwnedKey } from './stored-response-queries.js';

/** A request with an Idempotency-Key. */
export type KeyedRequest = {
  ctx: RequestContext;
  db: Db;
  secrets: Secrets;
  key: OwnedKey;
  operation: Operation;
};

type StoredResponse = Pick<HttpResponse, 'statusCode' | 'headers' | 'code'> & { payload: string };

const STORED_BYTES = quotaOf('stored_bytes');

/** Smaller payloads gain little. */
const COMPRESSED_FROM_BYTES = 2 * 1024;

/** Returns false if a response is already stored. */
export async function store(
  { secrets, key, operation }: KeyedRequest,
  tx: ReadTx,
  response: HttpResponse,
): Promise<boolean> {
  const id = newId();
  const { statusCode, headers, code } = response;
  const encoded = await encode(bytesOf(response));
  const text = JSON.stringify({
    statusCode,
    headers: { ...headers, ...encoded.headers },
    code,
    payload: encoded.payload.toString('base64'),
  } satisfies StoredResponse);
  const answerCipher = secrets.encrypt(text, encryptionContext(key, id));
  const statement = insertStoredResponse(key, { id, operationId: operation.id, answerCipher }, STORED_BYTES);
  const rows = await tx.query(statement);
  return rows.length === 1;
}

/**
 * Returns the stored response, marked as such.
 *
 * @throws ApiError idempotency_key_reused; quota_exceeded if there is none and the caller may not store more today
 */
export async function findStored(
  request: KeyedRequest,
  ctx: RequestContext,
): Promise<{ response: HttpResponse } | undefined> {
  const { secrets, key } = request;
  const [[stored], [usage]] = await ctx.read([
    findStoredResponse(ctx, key),
    selectUsage(ctx, STORED_BYTES, key.caller),
  ]);
  if (!stored) {
    if (usage && usage.used >= STORED_BYTES.limit) throw quotaExceeded(request.ctx, STORED_BYTES, usage);
    return undefined;
  }
  if (stored.request_hash !== key.requestHash) throw new ApiError('idempotency_key_reused');
  const text = secrets.decrypt(stored.answer_cipher, encryptionContext(key, stored.id));
  // The function `store` has written it.
  const response = JSON.parse(text) as StoredResponse;
  const { [ENCODING]: encoding, ...headers } = response.headers;
  const payload = Buffer.from(response.payload, 'base64');
  return {
    response: {
      ...response,
      headers: { ...headers, 'idempotency-replayed': 'true' },
      payload: encoding === undefined ? payload : await promisify(gunzip)(payload),
    },
  };
}

const ENCODING = 'content-encoding';

/**
 * Compresses a large payload, because an encrypted one cannot be compressed. The header lets processes of the previous release, which
 * return what they find, send a valid response during an upgrade.
 */
async function encode(payload: Buffer): Promise<{ headers: Record<string, string>; payload: Buffer }> {
  if (payload.length < COMPRESSED_FROM_BYTES) return { headers: {}, payload };
  return { headers: { [ENCODING]: 'gzip' }, payload: await promisify(gzip)(payload) };
}

function bytesOf({ payload }: HttpResponse): Buffer {
  if (typeof payload === 'string') return Buffer.from(payload);
  if (Buffer.isBuffer(payload)) return payload;
  throw new Error('A stream cannot be stored.');
}

const encryptionContext = ({ caller: { tenantId } }: OwnedKey, rowId: string) => ({
  tenantId,
  rowId,
  field: 'idempotent_answer' as const,
});
