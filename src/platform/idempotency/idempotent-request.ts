import { buffer } from 'node:stream/consumers';
import type { FastifyError } from 'fastify';
import type { Secrets } from '../access/secrets.js';
import type { Operation } from '../contract/types.js';
import { inUnitOfWork, type FinalStatement } from '../db/unit-of-work.js';
import { makeContext, type RequestContext } from '../context/request-context.js';
import type { Db } from '../db/database.js';
import type { Rows } from '../db/statements.js';
import { ApiError, type FailureCode } from '../errors/errors.js';
import { newId } from '../values/ids.js';
import { JSON_TYPE, type HttpResponse } from '../http/replies/responses.js';
import { wrapFailure } from '../http/replies/envelope.js';
import { toApiError } from '../http/replies/error-handler.js';
import {
  findStoredResponse,
  insertStoredResponse,
  tryLockKey,
  type OwnedKey,
} from './stored-response-queries.js';

/** A request that came with an Idempotency-Key. */
export type Attempt = {
  ctx: RequestContext;
  db: Db;
  secrets: Secrets;
  key: OwnedKey;
  operation: Operation;
  requestId: string;
};

/**
 * Does the work once, however often and at the same time it is asked for: the answer is kept in the transaction of what
 * the work writes, and the next request with the same key gets it (decision 0020). Work that writes nothing has nothing
 * to double, and is done anew.
 *
 * @throws ApiError idempotency_key_reused, idempotency_in_progress, and what the work throws
 */
export async function runIdempotent(
  attempt: Attempt,
  work: () => Promise<HttpResponse>,
): Promise<HttpResponse> {
  const end = (await findEarlier(attempt)) ?? (await workOnce(attempt, work));
  if ('fault' in end) throw end.fault;
  return end.answer;
}

/** An answer that is kept, or a refusal that is not. */
type End = { answer: HttpResponse } | { fault: ApiError };

async function workOnce(attempt: Attempt, work: () => Promise<HttpResponse>): Promise<End> {
  const { ctx, key } = attempt;
  try {
    return await inUnitOfWork<End>(
      {
        opening: [tryLockKey(key), findStoredResponse(ctx, key)],
        assertMayWork: assertFirst,
        closing: (end) => ('answer' in end ? keep(attempt, end.answer) : undefined),
      },
      (hasWritten) => workToItsEnd(attempt, work, hasWritten),
      (unit) => ctx.attachUnitOfWork(unit),
    );
  } catch (error) {
    if (error instanceof AnsweredMeanwhile) return findMeanwhile(attempt);
    return keepRefusal(attempt, error);
  }
}

/** Another request with the key has been answered since this one looked. */
class AnsweredMeanwhile extends Error {}

function assertFirst([locked, kept]: Rows[]): void {
  if (locked?.[0]?.['is_held'] !== true)
    throw new ApiError('idempotency_in_progress', { retryAfterSeconds: 1 });
  if (kept?.[0]) throw new AnsweredMeanwhile();
}

/** A refusal that comes after the writing has been meant to leave what was written: a wrong code that was counted. */
async function workToItsEnd(
  attempt: Attempt,
  work: () => Promise<HttpResponse>,
  hasWritten: () => boolean,
): Promise<End> {
  try {
    const answer = await work();
    return { answer: hasWritten() ? await toWhole(answer) : answer };
  } catch (error) {
    if (!hasWritten() || !(error instanceof ApiError)) throw error;
    return isKept(error) ? { answer: toRefusal(attempt, error) } : { fault: error };
  }
}

/** A stream can be read once, and an answer that is kept is read twice. */
async function toWhole(answer: HttpResponse): Promise<HttpResponse> {
  const { payload } = answer;
  if (typeof payload === 'string' || Buffer.isBuffer(payload)) return answer;
  return { ...answer, payload: await buffer(payload) };
}

function bytesOf({ payload }: HttpResponse): Buffer {
  if (typeof payload === 'string') return Buffer.from(payload);
  if (Buffer.isBuffer(payload)) return payload;
  throw new Error('A stream cannot be kept.');
}

/** What the operation itself refuses; the rest may be sent again with the same key. */
const isKept = ({ code, httpStatus }: ApiError): boolean =>
  code === 'record_forbidden' || (KEPT_STATUSES.has(httpStatus) && !OF_THE_KEY.has(code));
const KEPT_STATUSES = new Set([400, 404, 409, 422]);
const OF_THE_KEY = new Set<FailureCode>(['idempotency_key_reused', 'idempotency_in_progress']);

function toRefusal({ operation, requestId }: Attempt, fault: ApiError): HttpResponse {
  const body = wrapFailure(fault, operation, requestId, new Date());
  return {
    statusCode: fault.httpStatus,
    headers: { 'content-type': JSON_TYPE },
    payload: JSON.stringify(body),
    code: fault.code,
  };
}

/** A refusal that undid its transaction, or opened none, is kept by itself. @throws the error where it is none that is kept */
async function keepRefusal(attempt: Attempt, error: unknown): Promise<End> {
  // as: what was thrown may be anything, and is looked at in there
  const fault = toApiError(error as FastifyError);
  if (!isKept(fault)) throw error;
  const answer = toRefusal(attempt, fault);
  if (bytesOf(answer).length > MAX_REFUSAL_BYTES) throw error;
  const rows = await ownContext(attempt).transaction(async (tx) => {
    // refused for what the first request is doing perhaps, which alone may answer then
    assertFirst([await tx.query(tryLockKey(attempt.key))]);
    return tx.query(keep(attempt, answer).statement);
  });
  return rows.length === 1 ? { answer } : findMeanwhile(attempt);
}

/** It has changed nothing: without being kept it is found anew. */
const MAX_REFUSAL_BYTES = 1024 * 1024;

function keep({ secrets, key, operation }: Attempt, answer: HttpResponse): FinalStatement {
  const id = newId();
  const { statusCode, headers, code } = answer;
  const text = JSON.stringify({ statusCode, headers, code, payload: bytesOf(answer).toString('base64') });
  const answerCipher = secrets.encrypt(text, placeOf(key, id));
  return {
    statement: insertStoredResponse(key, { id, operationId: operation.id, answerCipher }),
    assertClosed(rows) {
      if (rows.length !== 1) throw new AnsweredMeanwhile();
    },
  };
}

/** Stored responses are read and refusals stored apart from the handler's work, before it or after it has failed. */
const ownContext = ({ db, key, requestId }: Attempt): RequestContext =>
  makeContext(db, key.caller, requestId);

/** The answer that was kept before, marked as such. @throws ApiError when it was to another request */
async function findEarlier(attempt: Attempt): Promise<{ answer: HttpResponse } | undefined> {
  const { ctx, secrets, key } = attempt;
  const [[kept]] = await ownContext(attempt).read([findStoredResponse(ctx, key)]);
  if (!kept) return undefined;
  if (kept.request_hash !== key.requestHash) throw new ApiError('idempotency_key_reused');
  // as: keep() has spelt it
  const answer = JSON.parse(secrets.decrypt(kept.answer_cipher, placeOf(key, kept.id))) as HttpResponse & {
    payload: string;
  };
  const headers = { ...answer.headers, 'idempotency-replayed': 'true' };
  return { answer: { ...answer, headers, payload: Buffer.from(answer.payload, 'base64') } };
}

async function findMeanwhile(attempt: Attempt): Promise<End> {
  const found = await findEarlier(attempt);
  if (!found) throw new Error('The answer of another request went missing.');
  return found;
}

const placeOf = ({ caller: { tenantId } }: OwnedKey, rowId: string) => ({
  tenantId,
  rowId,
  field: 'idempotent_answer' as const,
});
