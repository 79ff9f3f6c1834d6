import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { startBackground } from './jobs/background.js';
import { serveMetrics } from './platform/metrics/serve.js';
import { startTracing } from './platform/tracing/start-tracing.js';
import { connectionOf, DRAIN_MS, print, queueConnectionOf, runProcess } from './startup/process.js';
import { watchProtections } from './startup/watch-protections.js';

const CLOSE_MS = 500;

// Entry point of `crossdock worker`: runs jobs and serves no requests. Any number of workers may run at the same time.
await runProcess(
  async (database, config, stop) => {
    const connection = connectionOf(database);
    const log = pino({ level: config.logLevel });
    const metrics = config.metrics && (await serveMetrics(config.metrics, connection));
    if (metrics) log.info({ port: metrics.port }, 'serving metrics');
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
    if (config.appEnv === 'development') print('The Crossdock worker is running. Press Ctrl-C to stop.');
    await stop.received;
    log.info({ signal: stop.signal() }, 'closing');
    unwatch();
    await background.stop(DRAIN_MS);
    // A collector must not delay the end of the process.
    await Promise.race([tracing?.stop(), sleep(CLOSE_MS)]);
    await metrics?.close();
  },
  () => true,
);
