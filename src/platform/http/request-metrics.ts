import type { Duplex } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { NO_OPERATION, type RequestMetrics } from '../metrics/requests.js';

export type RequestMeter = {
  /** Counts every request that reaches the framework. To be called before it has any other hook: one that throws skips the rest. */
  watch(app: FastifyInstance): void;
  /** Counts what was answered on the bare socket, for the request that was arriving there if there is one. */
  recordSocketResponse(status: number, socket: Duplex): void;
};

type OpenRequest = { socketStatus?: number };

export function makeRequestMeter(metrics: RequestMetrics): RequestMeter {
  const openRequests = new WeakMap<Duplex, OpenRequest>();
  return {
    watch(app) {
      app.addHook('onRequest', (request, { raw }, done) => {
        const end = metrics.requestStarted();
        const { socket } = request.raw;
        const own: OpenRequest = {};
        openRequests.set(socket, own);
        // close and not onResponse, which a client that leaves never brings about
        raw.once('close', () => {
          if (openRequests.get(socket) === own) openRequests.delete(socket);
          end(operationOf(request), own.socketStatus ?? (raw.writableFinished ? raw.statusCode : 'aborted'));
        });
        done();
      });
    },
    recordSocketResponse(status, socket) {
      const request = openRequests.get(socket);
      if (request) request.socketStatus = status;
      else metrics.requestRefused(status);
    },
  };
}

/** By the route, because a request may be refused before the guards know its operation. */
const operationOf = ({ routeOptions }: FastifyRequest): string =>
  routeOptions.schema?.operationId ?? NO_OPERATION;
