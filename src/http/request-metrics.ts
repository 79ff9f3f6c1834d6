import type { FastifyInstance, FastifyRequest } from 'fastify';
import { NO_OPERATION, type RequestMetrics } from '../metrics/requests.js';

/** Counts every request that reaches the framework. The first of its hooks, since one that throws skips the others. */
export function measureRequests(app: FastifyInstance, metrics: RequestMetrics): void {
  app.addHook('onRequest', (request, reply, done) => {
    const end = metrics.requestBegun();
    // close and not onResponse, which a client that leaves never brings about
    reply.raw.once('close', () => {
      end(operationOf(request), reply.raw.writableFinished ? reply.raw.statusCode : 'aborted');
    });
    done();
  });
}

/** By the route, because a request may be refused before the guards know its operation. */
const operationOf = ({ routeOptions }: FastifyRequest): string =>
  routeOptions.schema?.operationId ?? NO_OPERATION;
