import { runProcess } from './startup/process.js';

// Entry point of `crossdock serve`: serves requests and, unless RUN_WORKER=false, runs jobs.
await runProcess(
  // Loaded while PostgreSQL starts and responds, because loading it takes most of the time until the service serves (decision 0044).
  async (config) =>
    config.apiProcesses > 1
      ? (await import('./startup/processes/primary.js')).openProcesses(config)
      : (await import('./serve.js')).serveFrom,
  ({ worker }) => worker.inProcess,
);
