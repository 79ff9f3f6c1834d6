import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../errors/errors.js';

/** Called by load balancers inside the network, over plain HTTP and without a tenant's host name. */
export const HEALTH_CHECKS: ReadonlySet<string> = new Set(['getHealth', 'getReadiness']);

/** Rejects every request without TLS, including the reference pages and unknown paths. */
export function requireHttps(app: FastifyInstance): void {
  app.addHook('onRequest', async (request) => {
    if (!request.isSecure && !isHealthCheck(request)) throw new ApiError('https_required');
  });
}

export const isHealthCheck = ({ routeOptions }: FastifyRequest): boolean =>
  HEALTH_CHECKS.has(routeOptions.schema?.operationId ?? '');
