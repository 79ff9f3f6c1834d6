// npm start and npm run worker: prepares a fresh clone, then starts the service, or only the worker.
import { prepare } from './prepare.mjs';

// A release has no default. A clone is for development.
process.env.APP_ENV ||= 'development';
if (process.argv.includes('--help') || process.argv.includes('-h')) {
  process.stdout.write(
    'Usage: npm start, or npm run worker. All settings are environment variables, which docs/settings.md lists.\n',
  );
  process.exit(0);
}
prepare();
await import(process.argv[2] === 'worker' ? '../dist/src/worker.js' : '../dist/fixtures/clone.js');
