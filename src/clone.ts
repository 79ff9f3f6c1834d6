import { loadDemo, welcome } from './development/clone/demo-data.js';
import { runProcess } from './startup/process.js';

// Loaded while PostgreSQL starts and responds (decision 0044).
const serving = import('./serve.js');

// Entry point of `npm start` in a clone of the repository: the server with the demo data, which no release contains (decision 0067).
await runProcess(
  async (...started) => (await serving).serveFrom(...started, welcome),
  ({ worker }) => worker.inProcess,
  loadDemo,
);
