// npm start and npm run worker: everything that a fresh clone needs, then the service, or the worker alone.
import { prepare } from './prepare.mjs';

prepare();
await import(process.argv[2] === 'worker' ? '../dist/src/worker.js' : '../dist/src/main.js');
