import type { FastifyRequest } from 'fastify';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { ApiError } from '../errors/errors.js';
import { networkOf } from '../values/network-address.js';

export type RequestLimit = {
  count(request: FastifyRequest): Promise<void>;
  /** Counts the lines of a request that `count` has counted. It never refuses the request. */
  countLines(request: FastifyRequest, lines: number): Promise<void>;
};

/** The lines of a bulk request that count as one request. They cost the service at most as much. */
const LINES_PER_REQUEST = 10;

/**
 * The operator's request rate limit: requests per minute for each API key or user, or for each address where the
 * request has neither. Each replica counts separately. There is no limit if `perMinute` is undefined.
 */
export function makeRequestLimit(perMinute: number | undefined): RequestLimit {
  if (perMinute === undefined) return { count: async () => {}, countLines: async () => {} };
  const limiter = new RateLimiterMemory({ points: perMinute, duration: 60 });
  return {
    async count(request) {
      const isServiceOperation = request.tenantId === undefined;
      if (isServiceOperation) return;
      await consume(limiter, limiterKeyOf(request), 'rate_limited');
    },
    async countLines(request, lines) {
      const further = Math.ceil(lines / LINES_PER_REQUEST) - 1;
      // A penalty, because a limit below 100 would refuse 1,000 lines at any time.
      if (further > 0) await limiter.penalty(limiterKeyOf(request), further);
    },
  };
}

export type KeyFailureLimit = { countFailure(error: ApiError, request: FastifyRequest): Promise<ApiError> };

const KEY_FAILURES = { points: 300, duration: 15 * 60 };

/**
 * Limits failed API keys per address. `countFailure` returns the error to send: too_many_attempts (429) once the address
 * has sent too many invalid keys, otherwise the error it was given. A valid key from the same address still works,
 * because several couriers may share an address.
 */
export function makeKeyFailureLimit(): KeyFailureLimit {
  const limiter = new RateLimiterMemory(KEY_FAILURES);
  return {
    async countFailure(error, { tenantId, clientAddress }) {
      if (error.code !== 'key_invalid') return error;
      try {
        await consume(limiter, `${tenantId} ${networkOf(clientAddress)}`, 'too_many_attempts');
        return error;
      } catch (rejection) {
        if (rejection instanceof ApiError) return rejection;
        throw rejection;
      }
    },
  };
}

/** @throws ApiError with `code` and Retry-After when the key has no points left */
export async function consume(
  limiter: RateLimiterMemory,
  key: string,
  code: 'rate_limited' | 'too_many_attempts',
): Promise<void> {
  try {
    await limiter.consume(key);
  } catch (rejection) {
    if (!(rejection instanceof RateLimiterRes)) throw rejection;
    throw new ApiError(code, {
      retryAfterSeconds: Math.max(1, Math.ceil(rejection.msBeforeNext / 1000)),
    });
  }
}

function limiterKeyOf({ caller, tenantId, clientAddress }: FastifyRequest): string {
  switch (caller?.kind) {
    case 'user':
      return `user ${caller.tenantId} ${caller.userId}`;
    case 'key':
      return `key ${caller.tenantId} ${caller.keyHash}`;
    case undefined:
      return `address ${tenantId} ${networkOf(clientAddress)}`;
  }
}
