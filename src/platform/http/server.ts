import { Socket } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import type { Config } from '../../config/config.js';
import { newId } from '../values/ids.js';
import type { RequestMetrics } from '../metrics/requests.js';
import { makeValidatorCompiler } from '../contract/validator.js';
import { JSON_BODY_BYTES } from './bodies/body-limits.js';
import { respondToRouterError } from './replies/error-handler.js';
import { registerParser } from './bodies/body-parsers.js';
import { limitHeldBodies } from './bodies/limit-held-bodies.js';
import { registerForms } from './bodies/forms.js';
import { withLines } from './bodies/lines.js';
import { decorateRequests, makeForwarding } from './connections/forwarded-headers.js';
import { makeListener, type Timeouts } from './connections/listener.js';
import { traceRequests } from './trace-requests.js';
import type { Tracer } from '../tracing/span.js';
import { logStream } from '../logging/log-stream.js';
import { attributeRequests, describeRequest, makeLogController } from '../logging/request-log.js';
import { makeRequestMeter } from './request-metrics.js';
import type { SocketResponse } from './connections/parser-errors.js';
import { reportUntrustedProxies } from './connections/untrusted-proxies.js';
import { assertOneHost } from './connections/request-target.js';
import { parseJson } from './bodies/text.js';
import { closeUnreadConnections, type UnreadReplies } from './connections/unread-replies.js';
import { rejectBeforeReading } from './bodies/reject-before-reading.js';
import { makeOwnLimits, type SharedLimits } from '../limits/shared/shared-limits.js';
import { openDisk } from '../limits/spool-space.js';
import { ApiError } from '../errors/errors.js';
import { isHealthCheck } from '../values/health-checks.js';
import { IncomingMessage, ServerResponse } from 'node:http';
import helmet, { type HelmetOptions } from 'helmet';

type Server = { app: FastifyInstance; unread: UnreadReplies };

type ServerOptions = {
  timeouts?: Timeouts | undefined;
  metrics?: RequestMetrics | undefined;
  tracer?: Tracer | undefined;
  limits?: SharedLimits | undefined;
};

/** Returns Fastify with limits, parsers, logging and headers, and without routes. */
export async function makeServer(
  config: Config,
  { timeouts, metrics, tracer, limits = makeOwnLimits() }: ServerOptions = {},
): Promise<Server> {
  const meter = metrics && makeRequestMeter(metrics);
  const forwarding = makeForwarding(config.trustProxy);
  const unread = closeUnreadConnections((socket) => logClosedConnection(socket, 'unread'), timeouts?.unread);
  const app: FastifyInstance = Fastify({
    serverFactory: makeListener({
      config,
      limits,
      timeouts,
      forwarding,
      unread,
      onSocketResponse: (response) => {
        meter?.recordSocketResponse(response.status, response.socket);
        app.log.info(describeSocketResponse(response), 'request refused');
      },
      onPipelineOverflow: (socket) => logClosedConnection(socket, 'pipelining'),
      onConnectionRefused: (address) =>
        app.log.warn({ event: 'connection.refused', address }, 'connection refused'),
    }),
    logger: { level: config.logLevel, stream: logStream, serializers: { req: describeRequest } },
    logController: makeLogController(),
    genReqId: newId,
    requestIdHeader: false,
    bodyLimit: JSON_BODY_BYTES,
    // serveWhileClosing decides about requests on open connections, and refuses with an envelope.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
    // The listener handles clientError for each address that it listens on.
    clientErrorHandler: () => {},
    frameworkErrors(error, request, reply) {
      respondToRouterError(error, request, reply);
      metrics?.requestRefused(reply.statusCode);
    },
  });
  app.addHook('onClose', async () => unread.stop());
  meter?.watch(app);
  decorateRequests(app, forwarding);
  if (tracer) traceRequests(app, tracer);
  attributeRequests(app);
  limitHeldBodies(app);
  rejectBeforeReading(app);
  app.setValidatorCompiler(withLines(makeValidatorCompiler()));
  // Plain JSON.stringify: a serializer compiled from the schema would hide undeclared fields (decision 0002).
  app.setSerializerCompiler(() => (payload) => JSON.stringify(payload));
  app.removeAllContentTypeParsers();
  registerParser(app, 'application/json', parseJson);
  await registerForms(app, openDisk(limits));
  const headers = commonHeaders(config);
  app.addHook('onRequest', async (request, reply) => {
    void reply.headers(headers);
    void reply.header('x-request-id', request.id);
    assertOneHost(request.raw);
  });
  const needsHttps = config.appEnv !== 'development';
  reportUntrustedProxies(app, {
    config,
    forwarding,
    isRefused: (request) => needsHttps && lacksHttps(request),
    onRefused: () => metrics?.untrustedProxyRefused(),
  });
  if (needsHttps) requireHttps(app);
  return { app, unread };

  function logClosedConnection(socket: Socket, reason: 'unread' | 'pipelining'): void {
    app.log.warn(
      { event: 'connection.cut', reason, address: socket.remoteAddress },
      'connection closed by the server',
    );
  }
}

const commonHeaders = ({ appEnv }: Config): Record<string, string> => ({
  ...securityHeaders({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    },
    hsts: appEnv === 'development' ? false : { maxAge: 31_536_000 },
  }),
  // Cacheable responses replace this header: platform/http/documents/static-documents.ts, logos.
  'cache-control': 'no-store',
});

const describeSocketResponse = ({ status, code, requestId, socket }: SocketResponse) => ({
  reqId: requestId,
  code,
  address: socket.remoteAddress,
  res: { statusCode: status },
});

/** Rejects every request without TLS, including the reference pages and unknown paths. */
function requireHttps(app: FastifyInstance): void {
  app.addHook('onRequest', async (request) => {
    if (lacksHttps(request)) throw new ApiError('https_required');
  });
}

const lacksHttps = (request: FastifyRequest): boolean => !request.isSecure && !isHealthCheck(request);

/**
 * Returns helmet's headers, which are the same for every response. Not with @fastify/helmet, which builds helmet and its texts
 * anew for each request: a fortieth of a request's CPU time.
 */
function securityHeaders(options: HelmetOptions): Record<string, string> {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  helmet(options)(request, response, () => undefined);
  return Object.fromEntries(
    response.getHeaderNames().map((name) => [name, String(response.getHeader(name))]),
  );
}
