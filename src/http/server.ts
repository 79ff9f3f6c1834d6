import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import helmet from '@fastify/helmet';
import Fastify, { type FastifyInstance } from 'fastify';
import type { Config } from '../config.js';
import { Fault } from '../errors.js';
import { newId } from '../ids.js';
import type { RequestMetrics } from '../metrics/requests.js';
import { makeValidatorCompiler } from '../contract/validator.js';
import { JSON_BODY_BYTES } from './body-limits.js';
import { answerRouterFailure } from './failures.js';
import { registerForms } from './forms.js';
import { makeRequestMeter } from './request-metrics.js';
import { answerInsteadOfNode, answerParserFailure } from './parser-failures.js';
import { parseJson } from './text.js';
import { refuseWithoutReading } from './unread-bodies.js';

export type Timeouts = { headersMs: number; requestMs: number };
const TIMEOUTS: Timeouts = { headersMs: 5_000, requestMs: 10_000 };

/** Fastify with our limits, parser, log lines and headers, and no route yet. */
export async function makeServer(
  config: Config,
  timeouts: Timeouts = TIMEOUTS,
  metrics?: RequestMetrics,
): Promise<FastifyInstance> {
  const meter = metrics && makeRequestMeter(metrics);
  const onBareAnswer = (status: number, socket: Duplex) => meter?.answeredOnSocket(status, socket);
  const listener = {
    headersTimeout: timeouts.headersMs,
    connectionsCheckingInterval: 500,
    // refused in the envelope instead, see assertOneHost
    requireHostHeader: false,
  };
  const app = Fastify({
    // with https set, Fastify reads nothing of http
    ...(config.tls ? { https: { ...readCertificate(config.tls), ...listener } } : { http: listener }),
    logger: { level: config.logLevel, serializers: { req: describeRequest } },
    genReqId: newId,
    requestIdHeader: false,
    trustProxy: config.trustProxy.length > 0 ? config.trustProxy : false,
    bodyLimit: JSON_BODY_BYTES,
    requestTimeout: timeouts.requestMs,
    keepAliveTimeout: 65_000,
    // answered in the envelope by refuseWhileClosing instead
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
    frameworkErrors(error, request, reply) {
      answerRouterFailure(error, request, reply);
      metrics?.requestRefused(reply.statusCode);
    },
    clientErrorHandler: (error, socket) => answerParserFailure(error, socket, onBareAnswer),
  });
  meter?.watch(app);
  answerInsteadOfNode(app, onBareAnswer);
  refuseWithoutReading(app);
  app.setValidatorCompiler(makeValidatorCompiler());
  // JSON.stringify alone: a serializer compiled from the schema would hide undeclared fields (decision 0002)
  app.setSerializerCompiler(() => (payload) => JSON.stringify(payload));
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_request: unknown, bytes: Buffer) => (bytes.length === 0 ? undefined : parseJson(bytes)),
  );
  await registerForms(app);
  await app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    },
    hsts: config.appEnv === 'development' ? false : { maxAge: 31_536_000 },
  });
  app.addHook('onRequest', async (request, reply) => {
    void reply.header('x-request-id', request.id);
    assertOneHost(request.raw);
  });
  return app;
}

/** With two, a proxy before us might have taken the other for the tenant's (RFC 9112, 3.2, refuses both). */
function assertOneHost({ rawHeaders, httpVersion }: IncomingMessage): void {
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length;
  if (hosts === 1 || (hosts === 0 && httpVersion === '1.0')) return;
  throw new Fault('malformed_request', 'Send exactly one Host header.');
}

/** What a log line says of a request: never its query, where a key may stand, and never its headers. */
function describeRequest(request: { method: string; url: string; ip: string; hostname: string }) {
  const path = request.url.split('?')[0];
  return { method: request.method, path, host: request.hostname, address: request.ip };
}

const readCertificate = ({ certFile, keyFile }: NonNullable<Config['tls']>) => ({
  cert: readFileSync(certFile),
  key: readFileSync(keyFile),
});
