import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from './config/config.js';
import { startBackground } from './jobs/background.js';
import type { Metrics } from './platform/metrics/metrics.js';
import { startTracing } from './platform/tracing/start-tracing.js';
import type { PreparedDatabase } from './startup/prepare-database.js';
import { connectionOf, DRAIN_MS, queueConnectionOf, type Stop } from './startup/process.js';
import { watchProtections } from './startup/watch-protections.js';
import { openLog } from './platform/logging/log-stream.js';

/** How long a collector may delay the end of the process. */
const CLOSE_MS = 500;

/**
 * Runs jobs until a signal arrives.
 *
 * @param onStart called when jobs can run
 */
export async function runJobs(
  database: PreparedDatabase,
  config: Config,
  stop: Stop,
  { metrics, onStart }: { metrics: Metrics | undefined; onStart: () => void },
): Promise<void> {
  const connection = connectionOf(database);
  const log = openLog(config.logLevel);
  const tracing = await startTracing(config.tracing, log);
  const background = startBackground({
    config,
    connection,
    queueConnection: queueConnectionOf(database),
    log,
    metrics,
    tracer: tracing?.tracer,
  });
  const unwatch = watchProtections({ config, url: connection.url, log, metrics });
  onStart();
  await stop.received;
  unwatch();
  await background.stop(DRAIN_MS);
  await Promise.race([tracing?.stop(), sleep(CLOSE_MS)]);
}
