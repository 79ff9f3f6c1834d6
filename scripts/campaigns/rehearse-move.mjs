// npm run rehearse:move: moves one of three tenants between two servers under load, and back, and kills a move. `-- --rate 100`
// sends fewer than 200 requests per second.
import { parseArgs } from 'node:util';
import { runJest } from '../jest.mjs';
import { prepare } from '../prepare.mjs';

const { values } = parseArgs({ options: { rate: { type: 'string' } } });

prepare();
runJest(['test/long/move.test.ts'], {
  TEST_LONG: '1',
  ...(values.rate ? { REHEARSE_RATE: values.rate } : {}),
});
