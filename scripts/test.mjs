// npm test: everything that a fresh clone needs, then the whole suite. Arguments go to jest.
import { runJest } from './jest.mjs';
import { prepare } from './prepare.mjs';

prepare();
runJest(process.argv.slice(2));
