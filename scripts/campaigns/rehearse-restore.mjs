// npm run rehearse:restore: backs up a server under load, loses it, restores a base backup with archived WAL to a point in time, and a
// logical dump, and compares every row, encrypted field and audit chain.
import { parseArgs } from 'node:util';
import { runJest } from '../jest.mjs';
import { prepare } from '../prepare.mjs';

parseArgs({ options: {} });
prepare();
runJest(['test/long/restore.test.ts'], { TEST_LONG: '1' });
