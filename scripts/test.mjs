// npm test: everything that a fresh clone needs, then the whole suite. Arguments go to jest.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runJest } from './jest.mjs';
import { prepare, root } from './prepare.mjs';

const args = process.argv.slice(2);
// Jest says nothing about a file that does not exist, if another one does.
const missing = args.filter((arg) => /^test\/.*\.ts$/.test(arg) && !existsSync(join(root, arg)));
if (missing.length > 0) {
  process.stderr.write(`There is no ${missing.join(', ')}.\n`);
  process.exit(1);
}
prepare({ installsHooks: true });
runJest(args);
