import { runJobs } from './run-jobs.js';
import { connectionOf, print, runProcess, startMetrics } from './startup/process.js';
import { openLog } from './platform/logging/log-stream.js';

// Entry point of `crossdock worker`: runs jobs and serves no requests. Any number of workers may run at the same time.
await runProcess(
  () => async (database, config, stop) => {
    const log = openLog(config.logLevel);
    const metrics = config.metrics && (await startMetrics(config.metrics, connectionOf(database)));
    if (metrics) log.info({ port: metrics.port }, 'serving metrics');
    const onStart = () => {
      if (config.appEnv === 'development') print('The Crossdock worker is running. Press Ctrl-C to stop.');
      void stop.received.then(() => log.info({ signal: stop.signal() }, 'closing'));
    };
    await runJobs(database, config, stop, { metrics, onStart });
    await metrics?.close();
  },
  () => true,
);
