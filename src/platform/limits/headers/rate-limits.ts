import type { FastifyInstance } from 'fastify';

/** A limit as it is described to clients, in the terms of draft-ietf-httpapi-ratelimit-headers. */
export type RateLimit = {
  /** The policy's name. */
  policy: string;
  /** What is allowed within the window. */
  quota: number;
  windowSeconds: number;
  /** What is counted; requests if undefined. */
  unit?: string;
};

/** What is left. Unknown for a limit whose count would tell something about other callers. */
export type RateLimitUsage = { remaining: number; resetSeconds: number };

export type NotedRateLimit = RateLimit & Partial<RateLimitUsage>;

/** Returns the headers RateLimit-Policy and RateLimit as Structured Fields, or none without limits. */
function rateLimitHeaders(limits: NotedRateLimit[]): Record<string, string> {
  const used = limits.flatMap(({ policy, remaining, resetSeconds }) =>
    remaining === undefined || resetSeconds === undefined
      ? []
      : [`"${policy}";r=${remaining};t=${resetSeconds}`],
  );
  return {
    ...(limits.length > 0 ? { 'ratelimit-policy': limits.map(describePolicy).join(', ') } : {}),
    ...(used.length > 0 ? { ratelimit: used.join(', ') } : {}),
  };
}

const describePolicy = ({ policy, quota, unit, windowSeconds }: RateLimit) =>
  `"${policy}";q=${quota}${unit === undefined ? '' : `;qu="${unit}"`};w=${windowSeconds}`;

/** Adds these headers to each response whose request was counted against a limit. */
export function sendRateLimits(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, _payload, done) => {
    const limits = request.context?.rateLimits ?? [];
    if (limits.length > 0) void reply.headers(rateLimitHeaders(limits));
    done();
  });
}
