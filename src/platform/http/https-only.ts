import type { FastifyInstance } from 'fastify';
import { ApiError } from '../errors/errors.js';
import { isHealthCheck } from '../values/health-checks.js';

/** Rejects every request without TLS, including the reference pages and unknown paths. */
export function requireHttps(app: FastifyInstance): void {
  app.addHook('onRequest', async (request) => {
    if (!request.isSecure && !isHealthCheck(request)) throw new ApiError('https_required');
  });
}
