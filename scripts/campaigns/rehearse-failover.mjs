// npm run rehearse:failover: kills the primary under 200 requests per second, promotes its synchronous standby, and compares every
// acknowledged row, job and webhook. No process of the service is restarted. `-- --rate 100` sends fewer.
import { parseArgs } from 'node:util';
import { runJest } from '../jest.mjs';
import { prepare } from '../prepare.mjs';

const { values } = parseArgs({ options: { rate: { type: 'string' } } });

prepare();
runJest(['test/long/failover.test.ts'], {
  TEST_LONG: '1',
  ...(values.rate ? { REHEARSE_RATE: values.rate } : {}),
});
