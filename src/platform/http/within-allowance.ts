import type { FastifyRequest } from 'fastify';
import { BOUNDS_OF, QUOTAS, UNMETERED } from '../../../generated/bounds.js';
import type { Operation } from '../contract/types.js';
import type { Db } from '../db/database.js';
import { ApiError } from '../errors/errors.js';
import { sentMediaType } from './bodies/forms.js';
import type { Refusal, WriteAllowance, WriteOwner } from '../limits/written/write-allowance.js';
import { writtenBytes } from '../limits/written/written-bytes.js';

/**
 * Runs the work of a request within the allowance of what its caller may write. What the request did not write is given back.
 *
 * @throws ApiError quota_exceeded before the work, and what the work throws
 */
export async function withinAllowance<Result>(
  request: FastifyRequest,
  { allowance, bytesPerDay }: Written,
  work: () => Promise<Result>,
): Promise<Result> {
  const { db, context } = request;
  if (!db || !context || !isMetered(request)) return work();
  const bytes = await writtenBytes(request);
  const owner = ownerOf(request);
  const taken = owner && (await allowance.take(owner, bytes, db));
  if (taken && !taken.isGranted) throw exceeded(request, taken, bytesPerDay);
  try {
    return await work();
  } finally {
    if (!context.hasWritten) taken?.giveBack();
    else if (!taken) addLate(request, allowance, bytes);
  }
}

export type Written = { allowance: WriteAllowance<Db>; bytesPerDay: number };

function isMetered(request: FastifyRequest): boolean {
  const { operation, body } = request;
  if (!operation || UNMETERED.includes(operation.id)) return false;
  const kinds = BOUNDS_OF[operation.id] ?? {};
  const kind = kinds[sentMediaType(request) ?? 'query'] ?? kinds['query'];
  return kind !== undefined && kind !== 'read' && !isRevocation(operation, body);
}

/** A leaked token can be revoked at any time. */
const isRevocation = ({ id }: Operation, body: unknown): boolean =>
  id === 'manageServiceTokens' &&
  typeof body === 'object' &&
  body !== null &&
  'action' in body &&
  body.action === 'revoke';

/** Returns undefined for the first request with a key or a service token in this process: what it claims may be invented. */
function ownerOf({ caller, db }: FastifyRequest): WriteOwner | undefined {
  if (!caller || !db?.connectionShares.isKnown(caller)) return undefined;
  const { tenantId } = caller;
  const courierId =
    caller.kind === 'user' ? caller.courierId : (db.connectionShares.courierOfKey(caller.keyHash) ?? null);
  if (courierId !== null) return { tenantId, kind: 'courier', id: courierId };
  return caller.kind === 'key' ? undefined : { tenantId, kind: 'user', id: caller.userId };
}

/** The transaction of the work has checked the credential. */
function addLate(request: FastifyRequest, allowance: WriteAllowance<Db>, bytes: number): void {
  const owner = ownerOf(request);
  if (owner && request.db) allowance.add(owner, bytes, request.db);
}

function exceeded(request: FastifyRequest, { retryAfterSeconds }: Refusal, limit: number): ApiError {
  const { policy, unit } = QUOTAS.written_bytes;
  request.context?.noteRateLimit({
    policy,
    unit,
    quota: limit,
    windowSeconds: 86_400,
    remaining: 0,
    resetSeconds: retryAfterSeconds,
  });
  return new ApiError('quota_exceeded', { variant: 'written_bytes', args: { limit }, retryAfterSeconds });
}
