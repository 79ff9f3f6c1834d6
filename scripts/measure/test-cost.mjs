// npm run test:cost -- test/console: the CPU seconds of each test file, one file at a time.
import { runJest } from '../jest.mjs';
import { prepare } from '../prepare.mjs';

prepare();
await runJest([
  '--reporters=<rootDir>/test/support/jest/cost-reporter.mjs',
  '--maxWorkers=1',
  ...process.argv.slice(2),
]);
