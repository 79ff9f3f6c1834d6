import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../errors/errors.js';

/** Asked by load balancers inside the network, which speak plain HTTP and know no host name. */
export const HEALTH_CHECKS: ReadonlySet<string> = new Set(['getHealth', 'getReadiness']);

/** Refuses everything that did not come over TLS, whatever its path: pages and unknown paths too. */
export function requireHttps(app: FastifyInstance): void {
  app.addHook('onRequest', async (request) => {
    if (!request.isSecure && !isHealthCheck(request)) throw new ApiError('https_required');
  });
}

const isHealthCheck = ({ routeOptions }: FastifyRequest): boolean =>
  HEALTH_CHECKS.has(routeOptions.schema?.operationId ?? '');
