import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { createApp } from './app.js';
import { ConfigError, type Config } from './config/config.js';
import type { Background, BackgroundOptions } from './jobs/background.js';
import { removeAbandonedUploads } from './platform/files/abandoned-uploads.js';
import type { ReplicaOptions } from './platform/db/connections/replica.js';
import { openDb } from './platform/db/open-database.js';
import { openCells } from './startup/cells.js';
import type { PreparedDatabase } from './startup/prepare-database.js';
import { startTracing } from './platform/tracing/start-tracing.js';
import { watchProtections } from './startup/watch-protections.js';
import type { Membership } from './startup/processes/membership.js';
import type { Metrics } from './platform/metrics/metrics.js';
import {
  connectionOf,
  DRAIN_MS,
  print,
  queueConnectionOf,
  startMetrics,
  type Stop,
} from './startup/process.js';
import { openLog } from './platform/logging/log-stream.js';

/** How long statements of aborted requests may delay closing the pool, and a collector the end of the process. */
const CLOSE_MS = 500;

export type ServeOptions = {
  /** Returns what the terminal of a developer shows when the service serves. */
  welcome?: (base: string) => string;
  /** For one of several processes of a server: it serves with the others, and another process runs the jobs. */
  membership?: Membership;
  /** The metrics that the primary process serves. */
  metrics?: Metrics | undefined;
};

/** Serves requests until a signal arrives. Also runs jobs, unless RUN_WORKER=false. */
export async function serveFrom(
  database: PreparedDatabase,
  config: Config,
  stop: Stop,
  { welcome, membership, metrics: ofChild }: ServeOptions = {},
): Promise<void> {
  const connection = connectionOf(database);
  const served = !membership && config.metrics && (await startMetrics(config.metrics, connection));
  const metrics = served || ofChild;
  const poolSize = membership?.poolSize ?? config.poolSize;
  const log = openLog(config.logLevel);
  const tracing = await startTracing(config.tracing, log);
  const tracer = tracing?.tracer;
  const replica = config.databaseReplica && { ...config.databaseReplica, onChange: logReplica(log) };
  const db = openDb({
    ...connection,
    size: poolSize,
    replica,
    readsWhileReadOnly: true,
    shedsLoad: true,
    writeState: membership?.writeState,
  });
  metrics?.watchPool('service', db);
  const others = openCells({ config, metrics, poolSize });
  if (db.replica) metrics?.watchReplica(db.replica);
  try {
    const { server } = await createApp({
      config,
      db,
      cells: others.cells,
      limits: membership?.limits,
      readiness: membership?.readiness,
      metrics,
      tracer,
    });
    // A signal may have arrived during start-up.
    if (stop.signal()) return;
    await removeAbandonedUploads();
    const texts = await listen(server, config, membership !== undefined);
    membership?.reportStart({ base: baseOf(server, config), texts });
    if (served) server.log.info({ port: served.port }, 'serving metrics');
    const background =
      !membership && config.worker.inProcess
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
    if (!membership) server.log.info({ signal: stop.signal() }, 'closing');
    await Promise.all([drain(server), background?.stop(DRAIN_MS)]);
  } finally {
    await Promise.race([
      Promise.all([db.close(), others.close(), served ? served.close() : undefined, tracing?.stop()]),
      sleep(CLOSE_MS),
    ]);
  }
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

/**
 * Listens, and logs the addresses.
 *
 * @param isQuiet does not log them, because the primary process does
 * @returns the texts of the log
 */
async function listen(
  server: FastifyInstance,
  { host, port, tls, logLevel, embeddedPostgres, dataDir }: Config,
  isQuiet: boolean,
): Promise<string[]> {
  const texts: string[] = [];
  const listenTextResolver = (address: string) => {
    // Fastify does not see that listener.ts makes the server.
    const text = `Server listening at ${tls ? address.replace(/^http:/, 'https:') : address}`;
    texts.push(text);
    return text;
  };
  // Fastify has no option for it. The log of a request begins with the level of this moment.
  if (isQuiet) server.log.level = 'silent';
  try {
    await server.listen({ host, port, listenTextResolver });
    return texts;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const other = embeddedPostgres ? await describeOther(dataDir) : '';
    throw new ConfigError([`Cannot listen on ${host}:${port}: ${reason}.${other} Set HOST or PORT.`]);
  } finally {
    server.log.level = logLevel;
  }
}

/** Of a clone: a signal to npm does not end the service that npm has started. */
async function describeOther(dataDir: string): Promise<string> {
  const { findOtherOwner } = await import('./development/embedded-postgres/embedded-server.js');
  const pid = await findOtherOwner(dataDir).catch(() => undefined);
  return pid === undefined
    ? ''
    : ` The process ${pid} already serves the data folder ${dataDir}: end it with kill ${pid}.`;
}

/** Serves what was accepted, and cuts what has not ended in time. */
async function drain(server: FastifyInstance): Promise<void> {
  const timer = setTimeout(() => cutConnections(server), DRAIN_MS).unref();
  await server.close();
  clearTimeout(timer);
}

/** Logs how many connections are cut. Idle ones are closed by now, so each has a request that is not completed. */
function cutConnections({ server, log }: FastifyInstance): void {
  server.getConnections((_error, connections) =>
    log.warn(
      { event: 'requests.cut', connections, afterMs: DRAIN_MS },
      'requests that did not end in time are cut',
    ),
  );
  server.closeAllConnections();
}

function baseOf(app: FastifyInstance, { tls, host }: Config): string {
  const address = app.server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const isEverywhere = host === '0.0.0.0' || host === '::';
  return `${tls ? 'https' : 'http'}://${isEverywhere ? '127.0.0.1' : host}:${port}`;
}
