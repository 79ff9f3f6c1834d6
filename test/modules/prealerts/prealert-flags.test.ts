import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { CUSTOMERS, makeParcels, newNumber } from '../../support/builders/parcels.js';
import { untilAdmitted, type Reply } from '../../support/service/service.js';
import { withService } from '../../support/fixture/with-service.js';

const ROUNDS = Number(process.env['FLAG_ROUNDS'] ?? 20);
const CALLERS_PER_ROUND = 10;

const { api, service } = withService({ poolSize: 30 });
beforeAll(async () => {
  parcels = makeParcels(service());
}, 60_000);
let parcels: ReturnType<typeof makeParcels>;

let number: string;
let flagged: string;
beforeEach(async () => {
  number = `94001118992231${String(10_000_000 + Math.floor(Math.random() * 90_000_000))}`;
  flagged = await makeContested(number);
});

/** Creates pre-alerts of two couriers, receives the package and returns the flagged pre-alert of IEX. */
async function makeContested(trackingNumber: string): Promise<string> {
  const id = await parcels.announce('IEX', trackingNumber);
  await parcels.announce('HRB', trackingNumber);
  await parcels.receive(trackingNumber);
  expect(await parcels.statusOf(id)).toBe('flagged');
  return id;
}

const remove = (prealertId: string, as = 'iex') => api.as(as).deletePrealert({ prealert_id: prealertId });
const replace = (prealertId: string, trackingNumber: string, as = 'iex') =>
  api.as(as).replacePrealert({
    prealert_id: prealertId,
    tracking_number: trackingNumber,
    user_code: CUSTOMERS.IEX,
    vendor: 'V',
  });
const create = async (trackingNumber: string) => {
  const body = { tracking_number: trackingNumber, user_code: 'IEX-1002', vendor: 'V' };
  return (await api.as('iex').createPrealert(body).created()).data.prealert_id;
};
const review = (prealertId: string) =>
  api.as('warehouse').reviewPrealert({ prealert_id: prealertId, reason: 'Looked.' });
const labelOf = (trackingNumber: string) => `42033126${trackingNumber}`;

describe('flag of a pre-alert deleted by its courier', () => {
  test("applies to the courier's next pre-alert of the number, however it is created", async () => {
    const ways = [
      () => parcels.announce('IEX', number),
      () => parcels.announce('IEX', number, 'IEX-1003'),
      () => create(number),
      () => parcels.announce('IEX', labelOf(number)),
    ];
    let current = flagged;
    for (const make of ways) {
      expect(await remove(current).status()).toBe(200);
      current = await make();
      expect(await parcels.statusOf(current)).toBe('flagged');
    }
  });

  test('applies to a pre-alert that is changed to the number', async () => {
    await remove(flagged).ok();
    const other = await parcels.announce('IEX', newNumber());
    expect((await replace(other, number).ok()).data.status).toBe('flagged');
  });

  test("does not apply to another courier's pre-alert of the number", async () => {
    const theirs = await parcels.select('select id from prealerts where tracking_number = $1 and id <> $2', [
      number,
      flagged,
    ]);
    await remove(flagged).ok();
    await parcels.select('delete from prealerts where id = $1', [theirs[0]?.['id']]);
    expect(await parcels.statusOf(await parcels.announce('HRB', number))).toBe('pending');
  });

  test('is cleared permanently by a review of the next pre-alert', async () => {
    await remove(flagged).ok();
    const again = await parcels.announce('IEX', number);
    expect(await review(again).status()).toBe(200);
    await remove(again).ok();
    expect(await parcels.statusOf(await parcels.announce('IEX', number))).toBe('pending');
  });

  test('is cleared when staff delete the pre-alert', async () => {
    await remove(flagged).ok();
    const again = await parcels.announce('IEX', number);
    expect(await remove(again, 'warehouse').status()).toBe(200);
    expect(await parcels.statusOf(await parcels.announce('IEX', number))).toBe('pending');
  });
});

describe('flag of a pre-alert whose courier changes the number', () => {
  test('stays on the pre-alert in both directions and on the number', async () => {
    expect((await replace(flagged, newNumber()).ok()).data.status).toBe('flagged');
    const again = await parcels.announce('IEX', number);
    expect(await parcels.statusOf(again)).toBe('flagged');
    await remove(again).ok();
    expect((await replace(flagged, number).ok()).data.status).toBe('flagged');
  });
});

test('flags another spelling of a flagged number too', async () => {
  const listed = await parcels.select(
    "select id from prealerts where tracking_key = $1 and user_code like 'IEX%'",
    [number],
  );
  for (const { id } of listed) await remove(String(id)).ok();
  expect(await parcels.statusOf(await parcels.announce('IEX', labelOf(number)))).toBe('flagged');
});

test('leaves no flag for a deleted pre-alert that was not flagged', async () => {
  const pending = newNumber();
  await remove(await parcels.announce('IEX', pending)).ok();
  expect(await parcels.statusOf(await parcels.announce('IEX', pending))).toBe('pending');
  expect(await parcels.select('select * from prealert_flags where tracking_key = $1', [pending])).toEqual([]);
});

test(`a number that ${CALLERS_PER_ROUND} callers delete and announce at once keeps its flag, in ${ROUNDS} rounds`, async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const contested = `94001118992231${String(10_000_000 + Math.floor(Math.random() * 90_000_000))}`;
    const id = await makeContested(contested);
    const spellings = [contested, labelOf(contested), `420331261234${contested}`];
    await Promise.all(
      Array.from({ length: CALLERS_PER_ROUND }, (_, index) =>
        untilAdmitted<Pick<Reply, 'status' | 'body'>>(() =>
          index % 3 === 0
            ? remove(id).answer()
            : parcels.submit('IEX', spellings[index % spellings.length] ?? contested),
        ),
      ),
    );
    // Refused if one of the callers has announced it after the deletion.
    await parcels.submit('IEX', contested);
    const remaining = await parcels.select(
      "select status from prealerts where tracking_key = $1 and user_code like 'IEX%'",
      [contested],
    );
    expect(remaining).toHaveLength(1);
    expect(new Set(remaining.map(({ status }) => status))).toEqual(new Set(['flagged']));
  }
}, 60_000);
