import { pino } from 'pino';
import { startBackground } from './jobs/background.js';
import { serveMetrics } from './platform/metrics/serve.js';
import { connectionOf, DRAIN_MS, print, queueConnectionOf, runProcess } from './startup/process.js';

// npm run worker: works the queue, serves nothing. As many at once as you like.
await runProcess(
  async (database, config, stop) => {
    const connection = connectionOf(database);
    const log = pino({ level: config.logLevel });
    const metrics = config.metrics && (await serveMetrics(config.metrics, connection));
    if (metrics) log.info({ port: metrics.port }, 'serving metrics');
    const background = startBackground({
      config,
      connection,
      queueConnection: queueConnectionOf(database),
      log,
      metrics,
    });
    if (config.appEnv === 'development') print('Crossdock works the queue. Ctrl-C stops.');
    await stop.told;
    log.info({ signal: stop.signal() }, 'closing');
    await background.stop(DRAIN_MS);
    await metrics?.close();
  },
  () => true,
);
