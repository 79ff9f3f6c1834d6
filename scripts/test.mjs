// npm test: everything that a fresh clone needs, then the whole suite. Arguments go to jest.
import { randomInt } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { jestStatus } from './jest.mjs';
import { prepare, root } from './prepare.mjs';
import { lastingReport, repeatFailed } from './check/repeat-failed.mjs';

const args = process.argv.slice(2);
// Jest says nothing about a file that does not exist, if another one does.
const missing = args.filter((arg) => /^test\/.*\.ts$/.test(arg) && !existsSync(join(root, arg)));
if (missing.length > 0) {
  process.stderr.write(`There is no ${missing.join(', ')}.\n`);
  process.exit(1);
}
prepare({ installsHooks: true });
const RECORD = join(root, 'coverage', 'run.json');
rmSync(RECORD, { force: true });
// A run tries only samples of some long lists (test/support/harness/effort.ts). A repetition tries the same ones.
process.env.TEST_SEED ??= String(randomInt(100_000));
if (process.env.TEST_LONG !== '1')
  process.stdout.write(`Samples of this run: TEST_SEED=${process.env.TEST_SEED}\n`);
const status = await jestStatus(args);
// Only a complete run has a record.
process.exitCode = status !== 0 && existsSync(RECORD) ? await repeat() : status;

/** Returns the exit status of the run with its repetitions. */
async function repeat() {
  const write = (text) => process.stdout.write(text);
  const record = JSON.parse(readFileSync(RECORD, 'utf8'));
  const runAlone = async (file) =>
    (await jestStatus(['--maxWorkers', '1', '--runTestsByPath', file], { TEST_REPEATED: '1' })) === 0;
  const { passed, failures } = await repeatFailed(record, { runAlone, write });
  // Of the installed packages' code, so it is imported after their installation.
  const { compareFacts } = await import('../test/support/contract/contract-facts.mjs');
  const { faults } = compareFacts();
  write(faults.map((fault) => `${fault}\n`).join(''));
  const failed = failures.reduce((sum, { count }) => sum + count, faults.length);
  write(lastingReport(failures));
  write(`${passed} passed, ${failed} failed\n`);
  return failed > 0 ? 1 : 0;
}
