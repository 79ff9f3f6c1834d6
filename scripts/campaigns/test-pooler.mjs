// npm run test:pooler: runs the tests of the contract and of all modules behind pgbouncer in transaction mode. Arguments for jest replace
// the list of tests.
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { runJest } from '../jest.mjs';
import { prepare } from '../prepare.mjs';

const TESTS = ['test/contract', 'test/modules', 'test/resilience/idempotency.test.ts'];

const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin'];
if (folders.some((folder) => existsSync(join(folder, 'pgbouncer')))) {
  prepare();
  const given = process.argv.slice(2);
  runJest(given.length > 0 ? given : TESTS, { TEST_POOLER: '1' });
} else {
  process.stdout.write('Skipped: pgbouncer is not installed.\n');
}
