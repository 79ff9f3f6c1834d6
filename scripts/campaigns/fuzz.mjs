// npm run fuzz -- --requests 1000000 --seed 7: a longer run of the fuzz test. Prints the accepted and
// rejected requests per operation. On a failure it prints the seed and the smallest request that reproduces
// it.
import { parseArgs } from 'node:util';
import { runJest } from '../jest.mjs';
import { prepare } from '../prepare.mjs';

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
  },
});
for (const [name, value] of Object.entries(values)) {
  if (!/^\d{1,10}$/.test(value)) {
    process.stderr.write(`--${name} must be a whole number.\n`);
    process.exit(1);
  }
}

prepare();
process.stdout.write(`${values.requests} requests, seed ${values.seed}\n`);
runJest(['test/contract/fuzz.test.ts'], { FUZZ_REQUESTS: values.requests, FUZZ_SEED: values.seed });
