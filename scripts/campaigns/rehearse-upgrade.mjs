// npm run rehearse:upgrade: upgrades an installation of the last release to this version under 200 requests per second, with a
// failed start and with killed migrations. `-- --from <git ref>` begins with another version, `--rate 100` sends fewer.
import { parseArgs } from 'node:util';
import { runJest } from '../jest.mjs';
import { prepare } from '../prepare.mjs';

const { values } = parseArgs({ options: { from: { type: 'string' }, rate: { type: 'string' } } });

prepare();
runJest(['test/long/upgrade.test.ts'], {
  TEST_LONG: '1',
  ...(values.from ? { REHEARSE_FROM: values.from } : {}),
  ...(values.rate ? { REHEARSE_RATE: values.rate } : {}),
});
