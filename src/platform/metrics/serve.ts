import { createServer } from 'node:http';
import Fastify, { type FastifyInstance } from 'fastify';
import { ConfigError } from '../../config/config.js';
import { limitPipelining } from '../http/connections/pipelining.js';
import { closeUnreadConnections, type UnreadReplies } from '../http/connections/unread-replies.js';
import { openProbe, type PoolOptions } from '../db/connections/pool.js';
import { makeBacklogReader } from './backlog.js';
import type { MetricObject } from './merge.js';
import { makeMetrics, METRICS_TYPE, type Metrics } from './metrics.js';

export type ServedMetrics = Metrics & Listener;

/**
 * Serves a process's metrics until they are closed.
 *
 * @param connection the application's connection; the metrics open a separate one of the same kind
 * @param readOthers returns the metrics of the child processes, if there are any
 * @throws ConfigError if it cannot listen on the address
 */
export async function serveMetrics(
  address: { host: string; port: number },
  connection: Omit<PoolOptions, 'size'>,
  readOthers?: () => Promise<MetricObject[][]>,
): Promise<ServedMetrics> {
  const probe = openProbe(connection);
  const metrics = makeMetrics(makeBacklogReader(probe), readOthers);
  const listener = await listenForScrapes(address, metrics);
  return {
    ...metrics,
    ...listener,
    async close() {
      await listener.close();
      await probe.end();
    },
  };
}

export type Listener = {
  /** The port in use. If the setting is 0, the system has chosen a free one. */
  port: number;
  close(): Promise<void>;
};

const TIMEOUTS = { headersTimeout: 5_000, requestTimeout: 10_000 };
const PATHS = ['/metrics', '/health'];

/**
 * Serves the metrics, and whether the process is alive, on a separate port. They are for the operator, and neither for
 * tenants nor for the public.
 *
 * @throws ConfigError if it cannot listen there
 */
export async function listenForScrapes(
  { host, port }: { host: string; port: number },
  metrics: Pick<Metrics, 'render'>,
): Promise<Listener> {
  const unread = closeUnreadConnections(() => {});
  const app = makeMetricsServer(unread);
  app.get('/metrics', async (_request, reply) => reply.type(METRICS_TYPE).send(await metrics.render()));
  app.get('/health', async (_request, reply) => reply.type('text/plain; charset=utf-8').send('ok\n'));
  await app.listen({ host, port }).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError([
      `Cannot serve metrics on ${host}:${port}: ${reason}. Set METRICS_HOST or METRICS_PORT.`,
    ]);
  });
  const address = app.server.address();
  return {
    port: typeof address === 'object' && address ? address.port : port,
    async close() {
      unread.stop();
      await app.close();
    },
  };
}

/** Fastify with the service's limits on pipelined requests and unread responses. It accepts only GET and reads no body. */
function makeMetricsServer(unread: UnreadReplies): FastifyInstance {
  const app: FastifyInstance = Fastify({
    serverFactory: (handle) =>
      createServer(TIMEOUTS, limitPipelining(handle, { ...unread, overflowed: () => {} }).dispatch),
    exposeHeadRoutes: false,
    forceCloseConnections: true,
  });
  // A hook, because it runs before Fastify reads the body.
  app.addHook('onRequest', async (request, reply) => {
    if (!request.is404) return;
    const isMethod = PATHS.includes(request.url.split('?')[0] ?? '');
    await (isMethod ? reply.code(405).header('allow', 'GET') : reply.code(404)).send();
  });
  app.setNotFoundHandler(() => {});
  return app;
}
