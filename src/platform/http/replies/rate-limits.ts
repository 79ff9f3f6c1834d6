import type { FastifyInstance } from 'fastify';
import { rateLimitHeaders } from '../../rate-limits/rate-limits.js';

/** Adds the headers RateLimit-Policy and RateLimit to each response whose request was counted against a limit. */
export function sendRateLimits(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, _payload, done) => {
    const limits = request.context?.rateLimits ?? [];
    if (limits.length > 0) void reply.headers(rateLimitHeaders(limits));
    done();
  });
}
