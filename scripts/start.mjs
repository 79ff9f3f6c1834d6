// npm start and npm run worker: prepares a fresh clone, then starts the service, or only the worker.
import { fileURLToPath } from 'node:url';
import { prepare } from './prepare.mjs';

// A release has no default. A clone is for development.
process.env.APP_ENV ||= 'development';
if (process.argv.includes('--help') || process.argv.includes('-h')) {
  process.stdout.write(
    'Usage: npm start, or npm run worker. All settings are environment variables, which docs/settings.md lists.\n',
  );
  process.exit(0);
}
prepare({ installsHooks: true });
const [node, , ...given] = process.argv;
const isWorker = given[0] === 'worker';
const entry = isWorker ? '../dist/src/worker.js' : '../dist/fixtures/clone.js';
process.argv = [node, fileURLToPath(new URL(entry, import.meta.url)), ...given.slice(isWorker ? 1 : 0)];
await import(entry);
