import { createApp, type App } from './app.js';
import { ConfigError, readConfig, type Config } from './config.js';
import { openDb } from './db/open.js';
import { prepareDatabase, type PreparedDatabase } from './db/prepare.js';

/** How long requests under way may take to finish after a signal. */
const DRAIN_MS = 10_000;

const print = (line: string) => process.stderr.write(`${line}\n`);

try {
  await serve(readConfig());
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  for (const fault of error.faults) print(fault);
  process.exit(1);
}

async function serve(config: Config): Promise<void> {
  const database = await prepareDatabase(config, print);
  const db = openDb({
    url: database.url,
    size: config.poolSize,
    ...(database.assumeRole ? { assumeRole: database.assumeRole } : {}),
    onError: (error) => print(`A database connection broke: ${error.message}`),
  });
  const app = await createApp({ config, db });
  await listen(app, config, database);
  closeOnSignal(app, async () => {
    await db.close();
    await database.stop();
  });
  if (config.appEnv === 'development') greet(app);
}

/** A port that is taken is said in one line, and leaves no database server behind. */
async function listen({ server }: App, { host, port }: Config, database: PreparedDatabase): Promise<void> {
  try {
    await server.listen({ host, port });
  } catch (error) {
    await database.stop();
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError([`Cannot listen on ${host}:${port}: ${reason}. Set HOST or PORT.`]);
  }
}

function closeOnSignal({ server }: App, release: () => Promise<void>): void {
  const close = async (signal: string) => {
    server.log.info({ signal }, 'closing');
    // requests that hang must not keep the process: cut what is left after the deadline
    setTimeout(() => server.server.closeAllConnections(), DRAIN_MS).unref();
    await server.close();
    await release();
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void close(signal));
}

function greet({ server }: App): void {
  const address = server.server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const base = `http://127.0.0.1:${port}`;
  print(`
Crossdock is serving ${base}

  API reference    ${base}/docs
  Log in           curl -s ${base}/api/login.php -H 'Content-Type: application/json' \\
                     -d '{"action":"login","username":"admin","password":"crossdock-demo"}'
  Announce         curl -s ${base}/api/Prealert.php -H "X-API-KEY: $(printf 'a%.0s' $(seq 64))" \\
                     -H 'Content-Type: application/json' -d '{"UserCode":"IEX-1001","TrackingNumber":"HELLO-1"}'

The README's tour goes on from here. Ctrl-C stops.`);
}
