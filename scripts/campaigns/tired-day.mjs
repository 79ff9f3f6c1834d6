// npm run tired-day -- --sequences 10000 --windows 16 --minutes 300 --seed 1: plays random sequences of a tired day in browser windows,
// and compares what was scanned and weighed with what is stored. A failure names its seed and the first seed of its window. Repeat it
// with --seed <the first one> --sequences 20 --windows 1.
import { parseArgs } from 'node:util';
import { runJest } from '../jest.mjs';
import { prepare } from '../prepare.mjs';

const { values } = parseArgs({
  options: {
    sequences: { type: 'string', default: '1000' },
    windows: { type: 'string', default: '16' },
    minutes: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
  },
});
for (const [name, value] of Object.entries(values)) {
  if (!/^[1-9]\d{0,6}$/.test(value)) {
    process.stderr.write(`--${name} must be a whole number of at least 1.\n`);
    process.exit(1);
  }
}

prepare();
runJest(['test/long/tired-day.test.ts'], {
  TEST_LONG: '1',
  TIRED_SEQUENCES: values.sequences,
  TIRED_WINDOWS: values.windows,
  TIRED_MINUTES: values.minutes,
  TIRED_SEED: values.seed,
});
