import { beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { CUSTOMERS, makeParcels, newNumber } from '../../support/builders/parcels.js';
import { untilAdmitted } from '../../support/service/service.js';
import { withService } from '../../support/fixture/with-service.js';

const { IEX, HRB } = DEMO.couriers;
const SCANNERS = 200;

const { service } = withService({ poolSize: 30 });
beforeAll(async () => {
  parcels = makeParcels(service());
}, 60_000);
let parcels: ReturnType<typeof makeParcels>;

const flaggingsOf = async (prealertId: string) =>
  (await parcels.auditOf(prealertId)).filter(({ action }) => action === 'prealert.flagged');

describe('number corrections by staff', () => {
  test("flag another courier's pre-alert of that number, and the next scan reports it", async () => {
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

  test('flag the pre-alert of another customer of the same courier', async () => {
    const announced = newNumber();
    const theirs = await parcels.announce('IEX', announced, 'IEX-1002');
    const id = await parcels.receive(newNumber(), { user_code: CUSTOMERS.IEX });
    await parcels.update('admin', id, { tracking_number: announced });
    expect(await parcels.statusOf(theirs)).toBe('flagged');
    expect(await parcels.packageRow(id)).toMatchObject({ user_code: CUSTOMERS.IEX, prealert_id: null });
  });

  test("link a package without a customer to its courier's pre-alert, as intake does", async () => {
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
      courier_id: IEX,
      user_code: CUSTOMERS.IEX,
      prealert_id: prealertId,
      ...customer,
    });
  });
});

describe('second scan', () => {
  test("flags another courier's pre-alert that came after the first scan and leaves the package unchanged", async () => {
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

  test('flags the pre-alert if another package already has its number', async () => {
    const announced = newNumber();
    const prealertId = await parcels.announce('IEX', announced);
    const id = await parcels.receive(newNumber(), { user_code: CUSTOMERS.HRB });
    // Older versions allowed couriers to change the number this way.
    await parcels.select('update packages set tracking_number = $2, tracking_key = $2 where id = $1', [
      id,
      announced,
    ]);
    const reply = await parcels.scan(announced);
    expect(reply.body['data']).toMatchObject({ package_id: id, duplicate: true, flagged: true });
    expect(await parcels.statusOf(prealertId)).toBe('flagged');
  });

  test('flags nothing if the pre-alert agrees with the owner or the package has none', async () => {
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

  test('the first scan of a number that two couriers announced reports the flag', async () => {
    const number = newNumber();
    await parcels.announce('IEX', number);
    await parcels.announce('HRB', number);
    expect((await parcels.scan(number)).body['data']).toMatchObject({ duplicate: false, flagged: true });
  });

  test(`of ${SCANNERS} simultaneous scans, one flags the pre-alert and all report it`, async () => {
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
