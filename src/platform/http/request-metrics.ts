import type { Duplex } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { NDJSON } from '../contract/types.js';
import { LINES, NO_OPERATION, type RequestMetrics } from '../metrics/requests.js';
import { sentMediaType } from './bodies/forms.js';
import { onClosed } from '../concurrency/when-closed.js';

type OpenRequest = { socketStatus?: number };

export function makeRequestMeter(metrics: RequestMetrics) {
  const openRequests = new WeakMap<Duplex, OpenRequest>();
  return {
    /** Counts every request that reaches Fastify. Call it before any other hook, because a hook that throws skips the rest. */
    watch(app: FastifyInstance): void {
      app.addHook('onRequest', (request, { raw }, done) => {
        const end = metrics.requestStarted();
        const { socket } = request.raw;
        const own: OpenRequest = {};
        openRequests.set(socket, own);
        onClosed(raw, () => {
          if (openRequests.get(socket) === own) openRequests.delete(socket);
          // What a client provokes in a sandbox is no failure of the service: no alert may count it.
          const { isProvoked = false, failureCode } = request;
          if (failureCode === 'overloaded' && !isProvoked) metrics.overloaded();
          const status = raw.writableFinished ? raw.statusCode : 'aborted';
          end(operationOf(request), isProvoked ? 'provoked' : (own.socketStatus ?? status));
        });
        done();
      });
    },
    /** Counts a response that was written to the socket directly, for the socket's open request if there is one. */
    recordSocketResponse(status: number, socket: Duplex): void {
      const request = openRequests.get(socket);
      if (request) request.socketStatus = status;
      else metrics.requestRefused(status);
    },
  };
}

/**
 * Reads the operation from the route, because a request may be rejected before `request.operation` is set. A body of many lines
 * takes longer than one record, so it has a label of its own.
 */
function operationOf(request: FastifyRequest): string {
  const id = request.routeOptions.schema?.operationId ?? NO_OPERATION;
  const hasLines = request.operation?.lineLimits && sentMediaType(request) === NDJSON;
  return hasLines ? `${id}${LINES}` : id;
}
