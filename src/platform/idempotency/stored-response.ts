import type { Secrets } from '../access/secrets.js';
import type { RequestContext } from '../context/request-context.js';
import type { Operation } from '../contract/types.js';
import type { Db } from '../db/database.js';
import type { PlainTx } from '../db/statements.js';
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

export type QueryTx = Pick<PlainTx, 'query'>;

type StoredResponse = Pick<HttpResponse, 'statusCode' | 'headers' | 'code'> & { payload: string };

/** Returns false if a response is already stored. */
export async function store(
  { secrets, key, operation }: KeyedRequest,
  tx: QueryTx,
  response: HttpResponse,
): Promise<boolean> {
  const id = newId();
  const { statusCode, headers, code } = response;
  const payload = bytesOf(response).toString('base64');
  const text = JSON.stringify({ statusCode, headers, code, payload } satisfies StoredResponse);
  const answerCipher = secrets.encrypt(text, encryptionContext(key, id));
  const rows = await tx.query(insertStoredResponse(key, { id, operationId: operation.id, answerCipher }));
  return rows.length === 1;
}

/** Returns the stored response, marked as such. @throws ApiError idempotency_key_reused */
export async function findStored(
  { secrets, key }: KeyedRequest,
  ctx: RequestContext,
): Promise<{ response: HttpResponse } | undefined> {
  const [[stored]] = await ctx.preparedRead([findStoredResponse(ctx, key)]);
  if (!stored) return undefined;
  if (stored.request_hash !== key.requestHash) throw new ApiError('idempotency_key_reused');
  const text = secrets.decrypt(stored.answer_cipher, encryptionContext(key, stored.id));
  // The function `store` has written it.
  const response = JSON.parse(text) as StoredResponse;
  const headers = { ...response.headers, 'idempotency-replayed': 'true' };
  return { response: { ...response, headers, payload: Buffer.from(response.payload, 'base64') } };
}

export function bytesOf({ payload }: HttpResponse): Buffer {
  if (typeof payload === 'string') return Buffer.from(payload);
  if (Buffer.isBuffer(payload)) return payload;
  throw new Error('A stream cannot be stored.');
}

const encryptionContext = ({ caller: { tenantId } }: OwnedKey, rowId: string) => ({
  tenantId,
  rowId,
  field: 'idempotent_answer' as const,
});
