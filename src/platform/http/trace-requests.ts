import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Attributes, Span, Tracer } from '../tracing/span.js';
import { HEALTH_CHECKS } from '../values/health-checks.js';
import { onClosed } from '../concurrency/when-closed.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Undefined unless the request is traced. */
    span?: Span | undefined;
  }
}

const UNTRACED = new Set<string>(HEALTH_CHECKS);

/** Traces the operations of the contract, except health checks. Call it before any other hook, because a hook that throws skips the rest. */
export function traceRequests(app: FastifyInstance, tracer: Tracer): void {
  app.addHook('onRequest', (request, reply, done) => {
    const operationId = request.routeOptions.schema?.operationId;
    if (operationId && !UNTRACED.has(operationId)) begin(tracer, operationId, request, reply);
    done();
  });
}

function begin(tracer: Tracer, operationId: string, request: FastifyRequest, { raw }: FastifyReply): void {
  const { routeOptions, method, headers } = request;
  const header = headers['traceparent'];
  const span = tracer.startRequest(
    operationId,
    {
      kind: 'server',
      // The route instead of the path, which may contain ids, and no query: it may contain a key.
      attributes: { 'http.request.method': method, 'http.route': routeOptions.url },
    },
    typeof header === 'string' ? header : undefined,
  );
  request.span = span;
  if (span) onClosed(raw, () => span.end(...endOf(request, raw)));
}

function endOf(
  { id, tenantId, failureCode, isProvoked }: FastifyRequest,
  { statusCode, writableFinished }: FastifyReply['raw'],
): [Attributes, string | undefined] {
  const attributes = {
    'crossdock.request.id': id,
    'crossdock.tenant.id': tenantId,
    'crossdock.failure.code': failureCode,
  };
  if (!writableFinished) return [attributes, 'aborted'];
  const isOurFault = statusCode >= 500 && !isProvoked;
  return [
    { ...attributes, 'http.response.status_code': statusCode },
    isOurFault ? (failureCode ?? String(statusCode)) : undefined,
  ];
}
