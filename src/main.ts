import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { createApp } from './app.js';
import { ConfigError, readConfig, type Config } from './config.js';
import { openDb } from './db/open.js';
import { prepareDatabase, type PreparedDatabase } from './db/prepare.js';
import { serveMetrics } from './metrics/serve.js';

/** How long requests under way may take to finish after a signal; then their connections are cut. */
const DRAIN_MS = 7_500;
/** How long the statements of cut requests may hold the pool open. */
const RELEASE_MS = 500;
/** What starts us (docker, systemd, a rolling update) kills after ten seconds: end by ourselves before. */
const EXIT_MS = 9_500;

const print = (line: string) => process.stderr.write(`${line}\n`);

let stopSignal: NodeJS.Signals | undefined;
const toldToStop = new Promise<void>((resolve) => {
  const onSignal = (signal: NodeJS.Signals) => {
    stopSignal ??= signal;
    setTimeout(() => process.exit(1), EXIT_MS).unref();
    resolve();
  };
  // on, not once: under npm a Ctrl-C comes twice, from the terminal and from npm, and the second would kill us
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
});

try {
  const config = readConfig();
  const database = await prepareDatabase(config, print);
  try {
    await serveFrom(database, config);
  } finally {
    await database.stop();
  }
  process.exit(0);
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  for (const fault of error.faults) print(fault);
  process.exit(1);
}

/** Serves until a signal comes. */
async function serveFrom(database: PreparedDatabase, config: Config): Promise<void> {
  const connection = {
    url: database.url,
    ...(database.assumeRole ? { assumeRole: database.assumeRole } : {}),
    onError: (error: Error) => print(`A database connection broke: ${error.message}`),
  };
  const metrics = config.metrics ? await serveMetrics(config.metrics, connection) : undefined;
  const db = openDb({ ...connection, size: config.poolSize });
  metrics?.watchPool('service', db.pool);
  try {
    const { server } = await createApp({ config, db, ...(metrics ? { metrics } : {}) });
    // a signal that came meanwhile must not be answered with a greeting
    if (stopSignal) return;
    await listen(server, config);
    if (metrics) server.log.info({ port: metrics.port }, 'serving metrics');
    if (config.appEnv === 'development') greet(server, config);
    await toldToStop;
    await drain(server);
  } finally {
    await Promise.race([Promise.all([db.close(), metrics?.close()]), sleep(RELEASE_MS)]);
  }
}

async function listen(server: FastifyInstance, { host, port }: Config): Promise<void> {
  try {
    await server.listen({ host, port });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError([`Cannot listen on ${host}:${port}: ${reason}. Set HOST or PORT.`]);
  }
}

async function drain(server: FastifyInstance): Promise<void> {
  server.log.info({ signal: stopSignal }, 'closing');
  setTimeout(() => server.server.closeAllConnections(), DRAIN_MS).unref();
  await server.close();
}

function greet(app: FastifyInstance, { tls, host }: Config): void {
  const address = app.server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const isEverywhere = host === '0.0.0.0' || host === '::';
  const base = `${tls ? 'https' : 'http'}://${isEverywhere ? '127.0.0.1' : host}:${port}`;
  print(`
Crossdock is serving ${base}

  API reference    ${base}/docs
  Log in           curl -s ${base}/api/login.php -H 'Content-Type: application/json' \\
                     -d '{"action":"login","username":"admin","password":"crossdock-demo"}'
  Announce         curl -s ${base}/api/Prealert.php -H "X-API-KEY: $(printf 'a%.0s' $(seq 64))" \\
                     -H 'Content-Type: application/json' -d '{"UserCode":"IEX-1001","TrackingNumber":"HELLO-1"}'

The README's tour goes on from here. Ctrl-C stops.`);
}
