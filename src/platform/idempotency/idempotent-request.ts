import { buffer } from 'node:stream/consumers';
import type { FastifyError } from 'fastify';
import { makeContext, type RequestContext } from '../context/request-context.js';
import type { Hold } from '../context/request-state.js';
import type { Tx } from '../db/scope.js';
import { ApiError, type FailureCode } from '../errors/errors.js';
import { wrapFailure } from '../http/replies/envelope.js';
import { toApiError } from '../http/replies/error-handler.js';
import { JSON_TYPE, type HttpResponse } from '../http/replies/responses.js';
import { findStored, store, type KeyedRequest } from './stored-response.js';
import { findStoredResponse, tryLockKey } from './stored-response-queries.js';

/**
 * Executes a request with an Idempotency-Key at most once, also when it is repeated concurrently. The response is stored in the
 * transaction of the handler's writes, and the next request with the same key gets it (decision 0020). Nothing is stored if the
 * handler has opened no transaction for writing, or it was rolled back: a repetition then runs the handler again, which duplicates
 * nothing.
 *
 * @throws ApiError idempotency_key_reused, idempotency_in_progress, and what the handler throws
 */
export async function runIdempotent(
  request: KeyedRequest,
  handle: () => Promise<HttpResponse>,
): Promise<HttpResponse> {
  const outcome = (await findStored(request, request.ctx)) ?? (await runOnce(request, handle));
  if ('apiError' in outcome) throw outcome.apiError;
  return outcome.response;
}

/** A response that is stored if the handler has written, or an error that is not stored. */
type Outcome = { response: HttpResponse } | { apiError: ApiError };

async function runOnce(request: KeyedRequest, handle: () => Promise<HttpResponse>): Promise<Outcome> {
  const hold = request.ctx.holdWrite((tx) => lockUnlessStored(request, tx));
  try {
    const outcome = await runHandler(request, handle, hold);
    const { transaction } = hold;
    if (transaction && 'response' in outcome && !(await store(request, transaction.tx, outcome.response)))
      throw new StoredMeanwhile();
    await transaction?.commit();
    return outcome;
  } catch (error) {
    await hold.transaction?.rollback(error);
    if (error instanceof StoredMeanwhile) return findStoredMeanwhile(request);
    return findCause(request, error);
  }
}

/** Another request with the key has stored its response since this request last read it. */
class StoredMeanwhile extends Error {}

async function lockUnlessStored({ ctx, key }: KeyedRequest, tx: Tx): Promise<void> {
  const [[lock], [stored]] = await tx.query([tryLockKey(key), findStoredResponse(ctx, key)]);
  assertLocked(lock);
  if (stored) throw new StoredMeanwhile();
}

function assertLocked(lock: { is_locked: boolean } | undefined): void {
  if (!lock?.is_locked) throw new ApiError('idempotency_in_progress', { retryAfterSeconds: 1 });
}

/** A refusal that is thrown after the writes does not undo them, for example the count of a wrong code. */
async function runHandler(
  request: KeyedRequest,
  handle: () => Promise<HttpResponse>,
  hold: Hold,
): Promise<Outcome> {
  try {
    const response = await handle();
    return { response: hold.transaction ? await withBufferedPayload(response) : response };
  } catch (error) {
    if (!hold.transaction || !(error instanceof ApiError)) throw error;
    return isRefusal(error) ? { response: toRefusal(request, error) } : { apiError: error };
  }
}

/** Buffers a stream or pieces, because both can be read only once, and a stored response is read twice. */
async function withBufferedPayload(response: HttpResponse): Promise<HttpResponse> {
  const { payload } = response;
  if (typeof payload === 'string' || Buffer.isBuffer(payload)) return response;
  if (Array.isArray(payload)) return { ...response, payload: Buffer.concat(payload) };
  return { ...response, payload: await buffer(payload) };
}

/** Whether the operation itself refused the request. */
const isRefusal = ({ code, httpStatus }: ApiError): boolean =>
  code === 'record_forbidden' || (REFUSAL_STATUSES.has(httpStatus) && !KEY_CODES.has(code));
const REFUSAL_STATUSES = new Set([400, 404, 409, 422]);
const KEY_CODES = new Set<FailureCode>(['idempotency_key_reused', 'idempotency_in_progress']);

function toRefusal({ ctx, operation }: KeyedRequest, apiError: ApiError): HttpResponse {
  const body = wrapFailure(apiError, operation, ctx.requestId, new Date());
  return {
    statusCode: apiError.httpStatus,
    headers: { 'content-type': JSON_TYPE },
    payload: JSON.stringify(body),
    code: apiError.code,
    errors: apiError.detail.errors,
  };
}

/**
 * Returns the stored response of a concurrent request with the same key, which may have caused the refusal.
 *
 * @throws the given error if there is none: nothing was written, so a repetition is executed again
 */
async function findCause(request: KeyedRequest, error: unknown): Promise<Outcome> {
  // toApiError also handles errors that are not Fastify's.
  if (!isRefusal(toApiError(error as FastifyError))) throw error;
  const [[lock]] = await ownContext(request).write([tryLockKey(request.key)]);
  assertLocked(lock);
  const found = await findStored(request, ownContext(request));
  if (!found) throw error;
  return found;
}

/** A context whose transactions are independent of the handler's, which may have begun or failed. */
const ownContext = ({ ctx, db, key }: KeyedRequest): RequestContext =>
  makeContext(db, key.caller, ctx.requestId);

async function findStoredMeanwhile(request: KeyedRequest): Promise<Outcome> {
  const found = await findStored(request, ownContext(request));
  // Stored while the user belonged to another courier, whose rows it no longer reads.
  if (!found) throw new ApiError('idempotency_key_reused');
  return found;
}
