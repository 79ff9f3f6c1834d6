// npm start and npm run worker: prepares a fresh clone, then starts the service, or only the worker.
import { prepare } from './prepare.mjs';

// A release has no default. A clone is for development.
process.env.APP_ENV ||= 'development';
prepare();
await import(process.argv[2] === 'worker' ? '../dist/src/worker.js' : '../dist/src/clone.js');
