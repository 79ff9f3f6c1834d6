import { runProcess } from './startup/process.js';

// Loaded while PostgreSQL starts and responds, because loading it takes most of the time until the service serves (decision 0044).
const serving = import('./serve.js');

// Entry point of `crossdock serve`: serves requests and, unless RUN_WORKER=false, runs jobs.
await runProcess(
  async (...started) => (await serving).serveFrom(...started),
  ({ worker }) => worker.inProcess,
);
