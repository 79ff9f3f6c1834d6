import { beforeAll, describe, expect, test } from '@jest/globals';
import { CUSTOMERS, makeParcels, newNumber } from '../../../support/builders/parcels.js';
import { withService } from '../../../support/fixture/with-service.js';
import { makeFamily } from '../../../support/scans/related-numbers.js';

// Two FedEx numbers of 14 digits can end in the same valid 12. A pre-alert that is moved from one to the other is that of another parcel.

const { api, service } = withService();
beforeAll(() => {
  parcels = makeParcels(service());
});
let parcels: ReturnType<typeof makeParcels>;

const replace = async (prealert_id: string, tracking_number: string) => {
  const body = { prealert_id, user_code: CUSTOMERS.IEX, tracking_number, vendor: 'Shop' };
  return (await api.as('iex').replacePrealert(body).ok()).data.status;
};
const flagsOf = async (number: string) => parcels.statusOf(await parcels.announce('IEX', number));

describe('a courier keeps its flag', () => {
  /** IEX and HRB announce one of the numbers, and the parcel with the first long one arrives. */
  async function dispute(role: 'short' | 'one' = 'short') {
    const family = makeFamily();
    const id = await parcels.announce('IEX', family[role]);
    await parcels.announce('HRB', family[role]);
    await parcels.receive(family.one);
    expect(await parcels.statusOf(id)).toBe('flagged');
    return { family, id };
  }

  const otherCouriers = async (number: string) => {
    const [row] = await parcels.select('select id from prealerts where tracking_number = $1', [number]);
    return String(row?.['id']);
  };

  test.each(['two', 'other'] as const)('when it replaces the short number by %s', async (role) => {
    const { family, id } = await dispute();
    expect(await replace(id, family[role])).toBe('flagged');
    expect(await flagsOf(family.one)).toBe('flagged');
  });

  test('when it replaces the number several times', async () => {
    const { family, id } = await dispute();
    for (const number of [family.one, family.short, family.two, newNumber()])
      expect(await replace(id, number)).toBe('flagged');
    expect(await flagsOf(family.one)).toBe('flagged');
    expect(await flagsOf(family.short)).toBe('flagged');
  });

  test('when it changes something else, and then deletes the pre-alert', async () => {
    const { family, id } = await dispute();
    expect(await replace(id, family.short)).toBe('flagged');
    expect(await parcels.prealertRow(id)).toMatchObject({ tracking_key: family.one });
    await api.as('iex').deletePrealert({ prealert_id: id }).ok();
    expect(await flagsOf(family.one)).toBe('flagged');
  });

  test('when the short number of another parcel was scanned', async () => {
    const family = makeFamily();
    await parcels.receive(family.two, { user_code: CUSTOMERS.HRB });
    const id = await parcels.announce('IEX', family.one);
    await parcels.scan(family.short);
    expect(await parcels.prealertRow(id)).toMatchObject({ status: 'flagged', tracking_key: family.two });
    await api.as('iex').deletePrealert({ prealert_id: id }).ok();
    expect(await flagsOf(family.one)).toBe('flagged');
  });

  test('when a related parcel of another number is received', async () => {
    const { family, id } = await dispute('one');
    await api.as('iex').deletePrealert({ prealert_id: id }).ok();
    const [row] = await parcels.select('select id from packages where tracking_number = $1', [family.one]);
    const away = await parcels.update('admin', String(row?.['id']), { tracking_number: newNumber() });
    expect(away.status).toBe(200);
    await api
      .as('warehouse')
      .deletePrealert({ prealert_id: await otherCouriers(family.one) })
      .ok();
    const related = await parcels.announce('IEX', family.two);
    expect((await parcels.scan(family.short)).body['data']).toMatchObject({ user_code: CUSTOMERS.IEX });
    expect(await parcels.statusOf(related)).toBe('received');
    expect(await flagsOf(family.one)).toBe('flagged');
  });
});

test('a received pre-alert that is moved to a related number waits for that parcel', async () => {
  const { short, one, two } = makeFamily();
  const id = await parcels.announce('IEX', short);
  await parcels.receive(one);
  expect(await parcels.statusOf(id)).toBe('received');
  expect(await replace(id, two)).toBe('pending');
  const { data } = await api.as('warehouse').resolveScan({ scan: two }).ok();
  expect(data).toMatchObject({ next: 'receive', owner: { user_code: CUSTOMERS.IEX } });
  expect((await parcels.scan(two)).body['data']).toMatchObject({
    user_code: CUSTOMERS.IEX,
    prealert_id: id,
    flagged: false,
  });
  expect(await parcels.statusOf(id)).toBe('received');
});

test('a received pre-alert keeps its package when only something else is changed', async () => {
  const { short, one } = makeFamily();
  const id = await parcels.announce('IEX', short);
  await parcels.receive(one);
  expect(await replace(id, short)).toBe('received');
  expect(await parcels.prealertRow(id)).toMatchObject({ tracking_key: one, announced_key: short });
});

describe('a corrected number of a package', () => {
  const correct = async (packageId: string, tracking_number: string) =>
    expect(await parcels.update('admin', packageId, { tracking_number })).toMatchObject({ status: 200 });

  test('does not reopen the pre-alert of another package with a related number', async () => {
    const { short, one } = makeFamily();
    const ofOne = await parcels.announce('IEX', one);
    const packageId = await parcels.receive(one, { user_code: CUSTOMERS.IEX });
    await parcels.receive(`96${'1'.repeat(18)}00${short}`, { user_code: CUSTOMERS.IEX });
    const ofShort = await parcels.announce('IEX', short);
    expect(await parcels.statusOf(ofShort)).toBe('received');
    await correct(packageId, newNumber());
    expect([await parcels.statusOf(ofOne), await parcels.statusOf(ofShort)]).toEqual(['pending', 'received']);
  });

  test('keeps the pre-alert of the short number, if the new number ends in it too', async () => {
    const { short, one, two } = makeFamily();
    const id = await parcels.announce('IEX', short);
    const packageId = await parcels.receive(one);
    await correct(packageId, two);
    expect(await parcels.prealertRow(id)).toMatchObject({ status: 'received', tracking_key: two });
  });

  test('leaves no key of the package to a pre-alert of a related number', async () => {
    const { short, one, two } = makeFamily();
    const packageId = await parcels.receive(short, { courier_id: await courierOf('IEX') });
    const id = await parcels.announce('IEX', one);
    expect(await parcels.prealertRow(id)).toMatchObject({ status: 'pending', tracking_key: short });
    await correct(packageId, newNumber());
    expect(await parcels.prealertRow(id)).toMatchObject({ status: 'pending', tracking_key: one });
    expect((await parcels.scan(two)).body['data']).toMatchObject({ user_code: null });
    expect(await parcels.statusOf(id)).toBe('pending');
  });
});

const courierOf = async (code: 'IEX') => {
  const [row] = await parcels.select('select id from couriers where code = $1', [code]);
  return String(row?.['id']);
};
