import type { FastifyRequest } from 'fastify';
import { BOUND_KINDS, BOUNDS_OF, QUOTAS, UNMETERED, type Unmetered } from '../../../generated/bounds.js';
import type { Operation } from '../contract/types.js';
import type { Db } from '../db/database.js';
import { ApiError } from '../errors/errors.js';
import { sentMediaType } from './bodies/forms.js';
import type {
  Grant,
  Refusal,
  WriteAllowance,
  WriteLimits,
  WriteOwner,
} from '../limits/written/write-allowance.js';
import { bytesOf, sizeOf } from '../limits/written/written-bytes.js';

export type Written = { allowance: WriteAllowance<Db>; limits: WriteLimits };

/**
 * Runs the work of a request within the allowance of what its caller may write. What the request did not write is given back.
 *
 * @throws ApiError quota_exceeded before the work, and what the work throws
 */
export async function withinAllowance<Result>(
  request: FastifyRequest,
  { allowance, limits }: Written,
  work: () => Promise<Result>,
): Promise<Result> {
  const { db, context } = request;
  const counted = countedAs(request);
  if (!db || !context || !counted) return work();
  const size = counted === 'bytes' ? await sizeOf(request, hasItems(request)) : undefined;
  const amount = size ? bytesOf(size) : 1;
  const owners = ownersOf(request, counted);
  const granted: Grant[] = [];
  const take = async (owner: WriteOwner) => {
    const taken = await allowance.take(owner, amount, db);
    if (!taken.isGranted) throw exceeded(request, owner, taken, limits);
    granted.push(taken);
  };
  const { tenantId } = context;
  context.setAllowance((id) => take({ tenantId, kind: 'courier', id }));
  try {
    for (const owner of owners) await take(owner);
    return await work();
  } finally {
    const written = context.hasWritten ? (size ? bytesOf(size, context.written) : amount) : 0;
    for (const each of granted) each.settle(written);
    if (granted.length === 0 && written > 0)
      // The transaction of the work has checked the credential.
      for (const owner of ownersOf(request, counted)) allowance.add(owner, written, db);
  }
}

/** The kind of what a request writes at most. */
const kindOf = (request: FastifyRequest) =>
  request.operation && BOUNDS_OF[request.operation.id]?.[sentMediaType(request) ?? ''];

/** Whether the operation reads items from what is sent. */
function hasItems(request: FastifyRequest): boolean {
  const kind = kindOf(request);
  return kind !== undefined && 'items' in BOUND_KINDS[kind];
}

/** What a request counts against; undefined for nothing. */
function countedAs(request: FastifyRequest): 'bytes' | 'secrets' | undefined {
  const { operation, body } = request;
  if (!operation || request.method === 'GET') return undefined;
  const kind = kindOf(request);
  if (kind === undefined || kind === 'read') return undefined;
  if (isAmong('replacements', operation, body)) return 'secrets';
  return isAmong('reads', operation, body) || isAmong('endings', operation, body) ? undefined : 'bytes';
}

/** The body has been validated, so an empty value or another type is not mistaken for one of the table. */
function isAmong(which: Unmetered, { id }: Operation, body: unknown): boolean {
  const patterns = UNMETERED[which][id];
  if (!patterns || typeof body !== 'object' || body === null) return false;
  const sent = new Map<string, unknown>(Object.entries(body));
  return patterns.some((pattern) =>
    Object.entries(pattern).every(([name, value]) => (sent.get(name) ?? null) === value),
  );
}

/** Returns none for the first request with a key or a service token in this process: what it claims may be invented. */
function ownersOf({ caller, db }: FastifyRequest, counted: 'bytes' | 'secrets'): WriteOwner[] {
  if (!caller || !db?.connectionShares.isKnown(caller)) return [];
  const { tenantId } = caller;
  if (counted === 'secrets' && caller.kind !== 'key')
    return [{ tenantId, kind: 'user_secrets', id: caller.userId }];
  const courierId =
    caller.kind === 'user' ? caller.courierId : (db.connectionShares.courierOfKey(caller) ?? null);
  if (courierId !== null) return [{ tenantId, kind: 'courier', id: courierId }];
  if (caller.kind === 'key') return [];
  return [
    { tenantId, kind: 'user', id: caller.userId },
    { tenantId, kind: 'staff', id: tenantId },
  ];
}

const QUOTA_OF = {
  courier: 'written_bytes',
  user: 'written_bytes',
  staff: 'staff_written_bytes',
  user_secrets: 'replaced_secrets',
} as const satisfies Record<WriteOwner['kind'], keyof typeof QUOTAS>;

function exceeded(
  request: FastifyRequest,
  { kind }: WriteOwner,
  { retryAfterSeconds }: Refusal,
  limits: WriteLimits,
): ApiError {
  const variant = QUOTA_OF[kind];
  const { policy, unit } = QUOTAS[variant];
  const limit = limits[kind];
  request.context?.noteRateLimit({
    policy,
    unit,
    quota: limit,
    windowSeconds: 86_400,
    remaining: 0,
    resetSeconds: retryAfterSeconds,
  });
  return new ApiError('quota_exceeded', { variant, args: { limit }, retryAfterSeconds });
}
