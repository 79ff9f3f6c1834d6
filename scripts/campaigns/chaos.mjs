// npm run chaos: sends 10,000 events while workers are killed 50 times and PostgreSQL is restarted 5 times.
// `npm run chaos -- --kills 200` does more: 200 events per kill, a restart after every tenth kill. `npm run test:long`
// includes 10 kills.
import { parseArgs } from 'node:util';
import { runJest } from '../jest.mjs';
import { prepare } from '../prepare.mjs';

const { values } = parseArgs({ options: { kills: { type: 'string', default: '50' } } });
if (!/^\d{1,4}0$/.test(values.kills)) {
  process.stderr.write('--kills must be a multiple of ten.\n');
  process.exit(1);
}

prepare();
runJest(['test/long/outbound-chaos.test.ts'], {
  TEST_LONG: '1',
  CHAOS_KILLS: values.kills,
  CHAOS_KILLS_PER_RESTART: '10',
});
