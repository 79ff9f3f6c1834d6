import type { FastifyRequest } from 'fastify';
import { ApiError } from '../errors/errors.js';
import { isRefusedKey } from '../errors/refused-keys.js';
import type { RateLimit } from './headers/rate-limits.js';
import { consume, makeNetworkBudget, usageOf } from './network-budget.js';
import { makeOwnLimits } from './shared/shared-limits.js';
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
 * request has neither. Each server counts separately, with all of its processes. There is no limit if `perMinute` is undefined.
 */
export function makeRequestLimit(perMinute: number | undefined, limits = makeOwnLimits()): RequestLimit {
  if (perMinute === undefined) return { count: async () => {}, countLines: async () => {} };
  const limit = { policy: 'requests', quota: perMinute, windowSeconds: 60 };
  const limiter = limits.rateLimiter(limit);
  return {
    async count(request) {
      const isServiceOperation = request.tenantId === undefined;
      if (isServiceOperation) return;
      const usage = await consume(limiter, limit, limiterKeyOf(request), 'rate_limited');
      request.context?.noteRateLimit({ ...limit, ...usage });
    },
    async countLines(request, lines) {
      const further = Math.ceil(lines / LINES_PER_REQUEST) - 1;
      // A penalty, because a limit below 100 would refuse 1,000 lines at any time.
      if (further <= 0) return;
      const usage = usageOf(await limiter.penalty(limiterKeyOf(request), further));
      request.context?.noteRateLimit({ ...limit, ...usage });
    },
  };
}

export type KeyFailureLimit = { countFailure(error: ApiError, request: FastifyRequest): Promise<ApiError> };

const KEY_FAILURES: RateLimit = { policy: 'invalid-keys-per-address', quota: 300, windowSeconds: 15 * 60 };

/**
 * Limits failed API keys and service tokens per address, also those that have ended. `countFailure` returns the error to send: too_many_attempts (429) once the address
 * has sent too many invalid keys, otherwise the error it was given. A valid key from the same address still works,
 * because several couriers may share an address.
 */
export function makeKeyFailureLimit(limits = makeOwnLimits()): KeyFailureLimit {
  const failures = makeNetworkBudget(limits, KEY_FAILURES);
  return {
    async countFailure(error, { tenantId = '', clientAddress, context }) {
      if (!isRefusedKey(error.code)) return error;
      try {
        const usage = await failures.consume({ tenantId, address: clientAddress });
        context?.noteRateLimit({ ...KEY_FAILURES, ...usage });
        return error;
      } catch (rejection) {
        if (rejection instanceof ApiError) return rejection;
        throw rejection;
      }
    },
  };
}

function limiterKeyOf({ caller, tenantId, clientAddress }: FastifyRequest): string {
  switch (caller?.kind) {
    case 'user':
      return `user ${caller.tenantId} ${caller.userId}`;
    // By the secret: whoever knows only the id of a token could otherwise use up its rate.
    case 'token':
    case 'key':
      return `key ${caller.tenantId} ${caller.keyHash}`;
    case undefined:
      return `address ${tenantId} ${networkOf(clientAddress)}`;
  }
}
