import { expect, test } from '@jest/globals';
import { withService } from '../../../support/fixture/with-service.js';
import { makePinCalls } from './pin-calls.js';

const { api, db, service } = withService();
const { atStation, list } = makePinCalls({ api, db });

test('a name of a station that somebody has made up is recognized without a statement', async () => {
  const { station } = await atStation();
  const [random = '', signature = ''] = station.split('.');
  const changed = random.startsWith('A') ? 'B' : 'A';
  const forged = [
    'made-up',
    random,
    `${random}.`,
    `${random}.${'0'.repeat(32)}`,
    `${changed}${random.slice(1)}.${signature}`,
    `x${station}`,
    `${station}0`,
    '.',
  ];
  const client = await service().owner.connect();
  try {
    // A statement would wait for the lock, and the request would be refused.
    await client.query('begin; lock table station_workers in access exclusive mode');
    for (const made of forged) expect(await list(made)).toEqual([]);
  } finally {
    // Closing the connection ends the transaction.
    client.release(true);
  }
  expect(await list(station)).toHaveLength(1);
});
