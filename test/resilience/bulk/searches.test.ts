import { expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { countWaiting } from '../../support/harness/meanwhile.js';
import { newNumber } from '../../support/builders/parcels.js';
import { withService } from '../../support/fixture/with-service.js';
import { until } from '../../support/service/processes.js';

// Searches that take long, by one user, while others of its tenant work.

const POOL = 10;
const SEARCHES = 40;

const { api, service } = withService({ poolSize: POOL });

const SEARCH = [
  ['packages by q', (as: string) => api.as(as).listPackages({ q: 'Zephyrine' }).answer()],
  [
    'packages by a part of the shipper',
    (as: string) => api.as(as).listPackages({ shipper: 'phyr' }).answer(),
  ],
  ['packages by a name', (as: string) => api.as(as).listPackages({ firstName: 'Zephyrine' }).answer()],
  ['pre-alerts', (as: string) => api.as(as).listPrealerts({ search: 'Zephyrine' }).answer()],
  [
    'customers',
    (as: string) => api.as(as).listCustomers({ courier_id: DEMO.couriers.IEX, search: 'Zephyrine' }).answer(),
  ],
] as const;

/** Runs work while no statement can read a table. */
async function whileUnreadable(table: string, work: () => Promise<void>): Promise<void> {
  const client = await service().owner.connect();
  try {
    await client.query(`begin; lock table ${table} in access exclusive mode`);
    await work();
  } finally {
    await client.query('rollback');
    client.release();
  }
}

test.each(SEARCH)(
  '%s: 40 searches of a user leave connections to the stations of its tenant',
  async (title, search) => {
    await api.as('manager').listCarriers().ok();
    await api.as('warehouse').listCarriers().ok();
    const table = title.startsWith('packages')
      ? 'packages'
      : title === 'customers'
        ? 'customers'
        : 'prealerts';
    let searches: ReturnType<typeof search>[] = [];
    await whileUnreadable(table, async () => {
      searches = Array.from({ length: SEARCHES }, () => search('manager'));
      await until(async () => (await countWaiting(service().owner)) >= 1);
      // More than the pool has, one after the other: each needs a connection.
      for (let count = 0; count < POOL; count += 1) await api.as('warehouse').listCarriers().ok();
      // A user has one search at a time, in each process.
      expect(await countWaiting(service().owner)).toBe(1);
    });
    const statuses = (await Promise.all(searches)).map(({ status }) => status);
    expect(statuses).toEqual(searches.map(() => 200));
  },
);

test('a search of another user waits for no search of the first one', async () => {
  let own: ReturnType<(typeof SEARCH)[0][1]>[] = [];
  await whileUnreadable('packages', async () => {
    own = Array.from({ length: SEARCHES }, () => SEARCH[0][1]('manager'));
    await until(async () => (await countWaiting(service().owner)) >= 1);
    own.push(SEARCH[0][1]('warehouse'));
    await until(async () => (await countWaiting(service().owner)) >= 2);
  });
  expect((await Promise.all(own)).map(({ status }) => status)).toEqual(own.map(() => 200));
});

test('searches of a user for large and for small pages are one at a time, all together', async () => {
  let pages: ReturnType<(typeof SEARCH)[0][1]>[] = [];
  await whileUnreadable('packages', async () => {
    pages = [25, 501, 25, 501].map((limit) =>
      api.as('manager').listPackages({ q: 'Zephyrine', limit }).answer(),
    );
    await until(async () => (await countWaiting(service().owner)) >= 1);
    // All have arrived when one that was sent after them is answered.
    await api.as('warehouse').listCarriers().ok();
    expect(await countWaiting(service().owner)).toBe(1);
  });
  expect((await Promise.all(pages)).map(({ status }) => status)).toEqual(pages.map(() => 200));
});

test('a list without a text is not limited', async () => {
  const number = newNumber();
  await api.as('warehouse').receivePackage({ tracking_number: number, weight: 1 }).created();
  let lists: ReturnType<(typeof SEARCH)[0][1]>[] = [];
  await whileUnreadable('packages', async () => {
    lists = Array.from({ length: 4 }, () =>
      api
        .as('manager')
        .listPackages({ status: ['received'] })
        .answer(),
    );
    await until(async () => (await countWaiting(service().owner)) >= 4);
  });
  expect((await Promise.all(lists)).map(({ status }) => status)).toEqual(lists.map(() => 200));
});

test('300 searches of a number by the system of a courier at once are all served', async () => {
  const searches = Array.from({ length: 300 }, () =>
    api.as('iex').listPackages({ trackingNumber: '1Z999AA1' }).answer(),
  );
  expect((await Promise.all(searches)).map(({ status }) => status)).toEqual(searches.map(() => 200));
});
