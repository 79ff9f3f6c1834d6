// npm start: everything that a fresh clone needs, then the service.
import { prepare } from './prepare.mjs';

prepare();
await import('../dist/src/main.js');
