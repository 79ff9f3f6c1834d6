import type { FastifyRequest } from 'fastify';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { ApiError } from '../errors/errors.js';
import { networkOf } from '../values/network-address.js';

export type RequestLimit = { count(request: FastifyRequest): Promise<void> };

/**
 * The operator's own limit: requests a minute for each key or token, or each address where there is neither.
 * Counted in each replica for itself. Unset: no limit, good traffic is not throttled.
 */
export function openRequestLimit(perMinute: number | undefined): RequestLimit {
  if (perMinute === undefined) return { count: async () => {} };
  const limiter = new RateLimiterMemory({ points: perMinute, duration: 60 });
  return {
    async count(request) {
      const isServiceOperation = request.tenantId === undefined;
      if (isServiceOperation) return;
      await consume(limiter, subjectOf(request), 'rate_limited');
    },
  };
}

export type KeyFailures = { judge(fault: ApiError, request: FastifyRequest): Promise<ApiError> };

const KEY_FAILURES = { points: 300, duration: 15 * 60 };

/**
 * Turns the refusal of an API key into 429 when an address has sent too many wrong ones. Only refusals count and
 * only refusals change: a right key from the same address still works, many couriers share one.
 */
export function openKeyFailures(): KeyFailures {
  const limiter = new RateLimiterMemory(KEY_FAILURES);
  return {
    async judge(fault, { tenantId, clientAddress }) {
      if (fault.code !== 'key_invalid') return fault;
      try {
        await consume(limiter, `${tenantId} ${networkOf(clientAddress)}`, 'too_many_attempts');
        return fault;
      } catch (refusal) {
        if (refusal instanceof ApiError) return refusal;
        throw refusal;
      }
    },
  };
}

/** @throws ApiError with Retry-After when the subject has no points left */
export async function consume(
  limiter: RateLimiterMemory,
  subject: string,
  code: 'rate_limited' | 'too_many_attempts',
): Promise<void> {
  try {
    await limiter.consume(subject);
  } catch (refusal) {
    if (!(refusal instanceof RateLimiterRes)) throw refusal;
    throw new ApiError(code, {
      retryAfterSeconds: Math.max(1, Math.ceil(refusal.msBeforeNext / 1000)),
    });
  }
}

function subjectOf({ caller, tenantId, clientAddress }: FastifyRequest): string {
  switch (caller?.kind) {
    case 'user':
      return `user ${caller.tenantId} ${caller.userId}`;
    case 'key':
      return `key ${caller.tenantId} ${caller.keyHash}`;
    case undefined:
      return `address ${tenantId} ${networkOf(clientAddress)}`;
  }
}
