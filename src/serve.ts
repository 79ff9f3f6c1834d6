import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { pino, type Logger } from 'pino';
import { createApp } from './app.js';
import { ConfigError, type Config } from './config/config.js';
import type { Background, BackgroundOptions } from './jobs/background.js';
import type { ReplicaOptions } from './platform/db/connections/replica.js';
import { openDb } from './platform/db/open-database.js';
import { openCells } from './startup/cells.js';
import type { PreparedDatabase } from './startup/prepare-database.js';
import type { serveMetrics, ServedMetrics } from './platform/metrics/serve.js';
import { startTracing } from './platform/tracing/start-tracing.js';
import { watchProtections } from './startup/watch-protections.js';
import { connectionOf, DRAIN_MS, print, queueConnectionOf, type Stop } from './startup/process.js';

/** How long statements of aborted requests may delay closing the pool, and a collector the end of the process. */
const CLOSE_MS = 500;

/**
 * Serves requests until a signal arrives. Also runs jobs, unless RUN_WORKER=false.
 *
 * @param welcome returns what the terminal of a developer shows when the service serves
 */
export async function serveFrom(
  database: PreparedDatabase,
  config: Config,
  stop: Stop,
  welcome?: (base: string) => string,
): Promise<void> {
  const connection = connectionOf(database);
  const metrics = config.metrics && (await startMetrics(config.metrics, connection));
  const log = pino({ level: config.logLevel });
  const tracing = await startTracing(config.tracing, log);
  const tracer = tracing?.tracer;
  const replica = config.databaseReplica && { ...config.databaseReplica, onChange: logReplica(log) };
  const db = openDb({
    ...connection,
    size: config.poolSize,
    replica,
    readsWhileReadOnly: true,
  });
  metrics?.watchPool('service', db);
  const others = openCells({ config, metrics });
  if (db.replica) metrics?.watchReplica(db.replica);
  try {
    const { server } = await createApp({ config, db, cells: others.cells, metrics, tracer });
    // A signal may have arrived during start-up.
    if (stop.signal()) return;
    await listen(server, config);
    if (metrics) server.log.info({ port: metrics.port }, 'serving metrics');
    const background = config.worker.inProcess
      ? await startJobs({
          config,
          connection,
          queueConnection: queueConnectionOf(database),
          log: server.log,
          metrics,
          tracer,
        })
      : undefined;
    const { log: serverLog } = server;
    const unwatch = background && watchProtections({ config, url: connection.url, log: serverLog, metrics });
    if (welcome && config.appEnv === 'development') print(welcome(baseOf(server, config)));
    await stop.received;
    unwatch?.();
    await Promise.all([drain(server, stop), background?.stop(DRAIN_MS)]);
  } finally {
    await Promise.race([
      Promise.all([db.close(), others.close(), metrics?.close(), tracing?.stop()]),
      sleep(CLOSE_MS),
    ]);
  }
}

/** Loaded only if there is a port for metrics. */
async function startMetrics(...options: Parameters<typeof serveMetrics>): Promise<ServedMetrics> {
  const { serveMetrics } = await import('./platform/metrics/serve.js');
  return serveMetrics(...options);
}

/** Loaded after the service has begun to serve, because requests need none of it. */
async function startJobs(options: BackgroundOptions): Promise<Background> {
  const { startBackground } = await import('./jobs/background.js');
  return startBackground(options);
}

function logReplica(log: Logger): ReplicaOptions['onChange'] {
  return ({ isServing, reason }) => {
    if (isServing) log.info('the replica serves reports');
    else log.warn({ err: reason }, 'the replica does not serve reports, the primary does');
  };
}

async function listen(server: FastifyInstance, { host, port, tls }: Config): Promise<void> {
  // Fastify does not see that listener.ts makes the server.
  const listenTextResolver = (address: string) =>
    `Server listening at ${tls ? address.replace(/^http:/, 'https:') : address}`;
  try {
    await server.listen({ host, port, listenTextResolver });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError([`Cannot listen on ${host}:${port}: ${reason}. Set HOST or PORT.`]);
  }
}

async function drain(server: FastifyInstance, stop: Stop): Promise<void> {
  server.log.info({ signal: stop.signal() }, 'closing');
  setTimeout(() => server.server.closeAllConnections(), DRAIN_MS).unref();
  await server.close();
}

function baseOf(app: FastifyInstance, { tls, host }: Config): string {
  const address = app.server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const isEverywhere = host === '0.0.0.0' || host === '::';
  return `${tls ? 'https' : 'http'}://${isEverywhere ? '127.0.0.1' : host}:${port}`;
}
