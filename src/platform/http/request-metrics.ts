import type { Duplex } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { NO_OPERATION, type RequestMetrics } from '../metrics/requests.js';

export type RequestMeter = {
  /** Counts every request that reaches the framework. To be called before it has any other hook: one that throws skips the rest. */
  watch(app: FastifyInstance): void;
  /** Counts what was answered on the bare socket, for the request that was arriving there if there is one. */
  answeredOnSocket(status: number, socket: Duplex): void;
};

type Arriving = { bareStatus?: number };

export function makeRequestMeter(metrics: RequestMetrics): RequestMeter {
  const arriving = new WeakMap<Duplex, Arriving>();
  return {
    watch(app) {
      app.addHook('onRequest', (request, { raw }, done) => {
        const end = metrics.requestBegun();
        const { socket } = request.raw;
        const own: Arriving = {};
        arriving.set(socket, own);
        // close and not onResponse, which a client that leaves never brings about
        raw.once('close', () => {
          if (arriving.get(socket) === own) arriving.delete(socket);
          end(operationOf(request), own.bareStatus ?? (raw.writableFinished ? raw.statusCode : 'aborted'));
        });
        done();
      });
    },
    answeredOnSocket(status, socket) {
      const request = arriving.get(socket);
      if (request) request.bareStatus = status;
      else metrics.requestRefused(status);
    },
  };
}

/** By the route, because a request may be refused before the guards know its operation. */
const operationOf = ({ routeOptions }: FastifyRequest): string =>
  routeOptions.schema?.operationId ?? NO_OPERATION;
