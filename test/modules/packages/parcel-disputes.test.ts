import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../src/development/demo/seed.js';
import { CUSTOMERS, makeParcels, newNumber } from '../../support/builders/parcels.js';
import { startService, untilAdmitted, type Service } from '../../support/service/service.js';

const { IEX, HRB } = DEMO.couriers;
const SCANNERS = 200;

let service: Service;
let parcels: ReturnType<typeof makeParcels>;
beforeAll(async () => {
  service = await startService({ poolSize: 30 });
  parcels = makeParcels(service);
}, 60_000);
afterAll(() => service.stop(), 60_000);

const flaggingsOf = async (prealertId: string) =>
  (await parcels.auditOf(prealertId)).filter(({ action }) => action === 'prealert.flagged');

describe('staff that correct a number', () => {
  test('to one that another courier has announced flag its pre-alert, and a scan says so', async () => {
    const announced = newNumber();
    const theirs = await parcels.announce('IEX', announced);
    const id = await parcels.receive(newNumber(), { user_code: CUSTOMERS.HRB });
    const reply = await parcels.update('admin', id, { tracking_number: announced });
    expect(reply.body['data'].fields_updated).toBe(1);
    expect(await parcels.statusOf(theirs)).toBe('flagged');
    expect(await parcels.packageRow(id)).toMatchObject({ courier_id: HRB, user_code: CUSTOMERS.HRB });
    const scanned = await parcels.scan(announced);
    expect(scanned.status).toBe(200);
    expect(scanned.body['data']).toMatchObject({ package_id: id, duplicate: true, flagged: true });
    expect(scanned.body['message']).toMatch(/flagged/);
  });

  test('to one that another customer of the courier has announced flag it too', async () => {
    const announced = newNumber();
    const theirs = await parcels.announce('IEX', announced, 'IEX-1002');
    const id = await parcels.receive(newNumber(), { user_code: CUSTOMERS.IEX });
    await parcels.update('admin', id, { tracking_number: announced });
    expect(await parcels.statusOf(theirs)).toBe('flagged');
    expect(await parcels.packageRow(id)).toMatchObject({ user_code: CUSTOMERS.IEX, prealert_id: null });
  });

  test('of a package without a customer to one that its courier has announced link it, as intake would', async () => {
    const announced = newNumber();
    const prealertId = await parcels.announce('IEX', announced);
    const id = await parcels.receive(newNumber(), { courier_id: IEX });
    await parcels.update('admin', id, { tracking_number: announced });
    expect(await parcels.statusOf(prealertId)).toBe('received');
    const [customer] = await parcels.select(
      'select first_name, last_name from customers where user_code = $1',
      [CUSTOMERS.IEX],
    );
    expect(await parcels.packageRow(id)).toMatchObject({
      ...{ courier_id: IEX, user_code: CUSTOMERS.IEX, prealert_id: prealertId },
      ...customer,
    });
  });
});

describe('a second scan', () => {
  test('flags a pre-alert of another courier that came after the first, and leaves the package', async () => {
    const number = newNumber();
    const id = await parcels.receive(number, { user_code: CUSTOMERS.HRB });
    const before = await parcels.packageRow(id);
    const prealertId = await parcels.announce('IEX', number);
    expect(await parcels.statusOf(prealertId)).toBe('pending');
    const reply = await parcels.scan(number);
    expect(reply.status).toBe(200);
    expect(reply.body['data']).toMatchObject({ package_id: id, duplicate: true, flagged: true });
    expect(reply.body['message']).toMatch(/flagged/);
    expect(await parcels.statusOf(prealertId)).toBe('flagged');
    expect(await flaggingsOf(prealertId)).toMatchObject([
      { actor_id: DEMO.users.warehouse, before: { status: 'pending' }, after: { status: 'flagged' } },
    ]);
    expect(await parcels.packageRow(id)).toEqual(before);
  });

  test('flags the announcement of a parcel whose number another package was given before', async () => {
    const announced = newNumber();
    const prealertId = await parcels.announce('IEX', announced);
    const id = await parcels.receive(newNumber(), { user_code: CUSTOMERS.HRB });
    // as a courier could leave it before it lost the right to
    await parcels.select('update packages set tracking_number = $2, tracking_key = $2 where id = $1', [
      id,
      announced,
    ]);
    const reply = await parcels.scan(announced);
    expect(reply.body['data']).toMatchObject({ package_id: id, duplicate: true, flagged: true });
    expect(await parcels.statusOf(prealertId)).toBe('flagged');
  });

  test('flags nothing where the pre-alert agrees with the owner, or the package has none', async () => {
    const [known, unknown] = [newNumber(), newNumber()];
    await parcels.receive(known, { user_code: CUSTOMERS.IEX });
    await parcels.receive(unknown);
    for (const number of [known, unknown]) {
      const prealertId = await parcels.announce('IEX', number);
      const before = await parcels.statusOf(prealertId);
      expect((await parcels.scan(number)).body['data']).toMatchObject({ duplicate: true, flagged: false });
      expect(await parcels.statusOf(prealertId)).toBe(before);
      expect(await flaggingsOf(prealertId)).toEqual([]);
    }
  });

  test('the first scan of a number that two couriers have announced says that it is flagged', async () => {
    const number = newNumber();
    await parcels.announce('IEX', number);
    await parcels.announce('HRB', number);
    expect((await parcels.scan(number)).body['data']).toMatchObject({ duplicate: false, flagged: true });
  });

  test(`of ${SCANNERS} at once one flags, and all of them say so`, async () => {
    const number = newNumber();
    await parcels.receive(number, { user_code: CUSTOMERS.HRB });
    const prealertId = await parcels.announce('IEX', number);
    const replies = await Promise.all(
      Array.from({ length: SCANNERS }, () => untilAdmitted(() => parcels.scan(number))),
    );
    expect(new Set(replies.map(({ status, body }) => `${status} ${body['data'].flagged}`))).toEqual(
      new Set(['200 true']),
    );
    expect(await flaggingsOf(prealertId)).toHaveLength(1);
  }, 60_000);
});
