import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { CUSTOMERS, makeParcels, newNumber, comparableReply } from '../../support/builders/parcels.js';
import { rounds } from '../../support/harness/effort.js';
import { withService } from '../../support/fixture/with-service.js';
import { unchecked } from '../../support/fixture/sent.js';

const { IEX } = DEMO.couriers;

const { api, service } = withService();
beforeAll(async () => {
  parcels = makeParcels(service());
}, 60_000);
let parcels: ReturnType<typeof makeParcels>;

let number: string;
let packageId: string;
let houseNumber: string;
beforeEach(async () => {
  number = newNumber();
  // A package of a known courier and an unknown customer.
  packageId = await parcels.receive(number, { courier_id: IEX });
  houseNumber = String((await parcels.packageRow(packageId))['house_number']);
});

const update = (fields: object, as = 'iex') => parcels.update(as, packageId, fields);
const shownNumber = async () =>
  (await api.as('iex').listPackages({ houseNumber }).ok()).data[0]?.tracking_number as string;
const userCode = async () => (await parcels.packageRow(packageId))['user_code'];
const masked = (text: string) => '*'.repeat(text.length - 4) + text.slice(-4);

describe('naming the customer of a package', () => {
  test('a courier cannot remove the customer that it named', async () => {
    expect(await shownNumber()).toBe(masked(number));
    expect((await update({ user_code: CUSTOMERS.IEX })).status).toBe(200);
    expect(await shownNumber()).toBe(number);
    const before = await parcels.packageRow(packageId);
    for (const fields of [{ user_code: '' }, { user_code: '', description: 'Pens', first_name: '' }]) {
      const reply = await update(fields);
      expect([reply.status, reply.body['code']]).toEqual([403, 'permission_denied']);
      expect(reply.body['errors']).toMatchObject([{ field: 'user_code', code: 'staff_only' }]);
    }
    expect(await parcels.packageRow(packageId)).toEqual(before);
    expect(before).toMatchObject({ user_code: CUSTOMERS.IEX, claimed_by: DEMO.users.iex });
  });

  test('a courier may name another of its customers and cannot remove that one either', async () => {
    await update({ user_code: CUSTOMERS.IEX });
    expect((await update({ user_code: 'IEX-1002' })).status).toBe(200);
    expect((await update({ user_code: '' })).status).toBe(403);
    expect(await userCode()).toBe('IEX-1002');
  });

  test("staff may remove the customer, which masks the number again and ends the courier's claim", async () => {
    await update({ user_code: CUSTOMERS.IEX });
    expect((await update({ user_code: '' }, 'warehouse')).status).toBe(200);
    expect(await shownNumber()).toBe(masked(number));
    await update({ user_code: 'IEX-1003' }, 'warehouse');
    // A courier may remove a customer that staff named.
    expect((await update({ user_code: '' })).status).toBe(200);
    expect(await userCode()).toBeNull();
  });

  test('responds identically to right, wrong and partly right guesses of the tracking number', async () => {
    const guesses = [number, `${number}X`, newNumber(), number.toLowerCase(), ` ${number} `];
    const replies = [];
    for (const tracking_number of guesses)
      for (const fields of [{}, { user_code: CUSTOMERS.IEX }, { shipper: 'Tools' }])
        replies.push(comparableReply(await update({ ...fields, tracking_number })));
    expect(new Set(replies).size).toBe(1);
    expect(replies[0]).toContain('permission_denied');
    expect(await userCode()).toBeNull();
    expect((await update({ tracking_number: masked(number), shipper: 'Tools' })).status).toBe(200);
  });
});

describe('pre-alert of a masked number', () => {
  const create = (trackingNumber: string, as = 'iex') =>
    api.as(as).createPrealert({
      tracking_number: trackingNumber,
      user_code: CUSTOMERS.IEX,
      vendor: 'V',
      courier_id: IEX,
    });
  const listed = async (prealertId: string) => {
    const { data } = await api.as('iex').listPrealerts({ limit: 500 }).answer();
    return data.find((each) => each.prealert_id === prealertId)?.status ?? '';
  };

  test('shows the courier the same status as for an unknown number, however it is created', async () => {
    const seen = new Set<string>();
    for (const guess of [number, `${number.slice(0, -5)}X${number.slice(-4)}`]) {
      seen.add(await listed(await parcels.announce('IEX', guess)));
      await parcels.select('delete from prealerts where tracking_number = $1', [guess]);
      const created = (await create(guess).created()).data.prealert_id;
      seen.add(await listed(created));
      const moved = newNumber();
      const fields = { prealert_id: created, user_code: CUSTOMERS.IEX, vendor: 'V' };
      const replace = (tracking_number: string) =>
        api.as('iex').replacePrealert({ ...fields, tracking_number });
      seen.add((await replace(moved).ok()).data.status);
      seen.add((await replace(guess).ok()).data.status);
    }
    expect([...seen]).toEqual(['pending']);
  });

  test.each(['warehouse', 'iex'])(
    'is received and linked to the package when %s names its customer',
    async (as) => {
      const prealertId = await parcels.announce('IEX', number);
      const other = await parcels.announce('IEX', newNumber());
      await update({ user_code: CUSTOMERS.IEX }, as);
      expect([await parcels.statusOf(prealertId), await parcels.statusOf(other)]).toEqual([
        'received',
        'pending',
      ]);
      expect(await parcels.packageRow(packageId)).toMatchObject({ prealert_id: prealertId });
      expect((await parcels.auditOf(prealertId)).at(-1)).toMatchObject({
        action: 'prealert.received',
        before: { status: 'pending' },
        after: { status: 'received' },
        actor_id: as === 'iex' ? DEMO.users.iex : DEMO.users.warehouse,
      });
    },
  );

  test('stays pending if another customer is named', async () => {
    const prealertId = await parcels.announce('IEX', number);
    await update({ user_code: 'IEX-1002' }, 'warehouse');
    expect(await parcels.statusOf(prealertId)).toBe('pending');
  });

  test('is received at once if staff create it or the customer is known', async () => {
    const byStaff = (await create(number, 'warehouse').created()).data.prealert_id;
    expect(await parcels.statusOf(byStaff)).toBe('received');
    const known = newNumber();
    await parcels.receive(known, { user_code: 'IEX-1002' });
    expect(await parcels.statusOf(await parcels.announce('IEX', known))).toBe('received');
  });

  const LINK_ROUNDS = rounds(20, 60);

  test(`never stays pending if it is created while staff name the customer, in ${LINK_ROUNDS} rounds`, async () => {
    for (let round = 0; round < LINK_ROUNDS; round += 1) {
      const fresh = newNumber();
      const id = await parcels.receive(fresh, { courier_id: IEX });
      const link = () => parcels.update('warehouse', id, { user_code: CUSTOMERS.IEX });
      const announce = () => parcels.announce('IEX', fresh);
      const early = round % 2 ? announce() : undefined;
      const linking = link();
      const prealertId = await (early ?? announce());
      await linking;
      expect(await parcels.statusOf(prealertId)).toBe('received');
    }
  }, 60_000);
});

test('no response to the courier contains the full number of a package without a customer', async () => {
  const aboard = { action: 'add_packages', manifest_id: DEMO.manifests.draft, package_ids: [packageId] };
  await api.as('admin').manageManifest(unchecked(aboard)).ok();
  await update({ description: 'Pens' });
  const today = new Date().toISOString().slice(0, 10);
  const period = { courier_id: IEX, start_date: today, end_date: today };
  const replies = await Promise.all([
    api.as('iex').listPackages({ houseNumber }).answer(),
    api.as('iex').listPackages({ trackingNumber: number }).answer(),
    api.as('iex').listPackages({ houseNumber, export: true }).answer(),
    api.as('iex').getManifest({ id: DEMO.manifests.draft }).answer(),
    api.as('iex').listPackageEvents({ package_id: packageId }).answer(),
    api.as('iex').previewCourierInvoice(period).answer(),
    api.as('iex').listEvents({ limit: 500 }).answer(),
  ]);
  expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
  for (const { bytes } of replies) expect(bytes.toString()).not.toContain(number);
  // These responses list the package, so they were really tested.
  for (const index of [0, 2, 3, 5, 6]) expect(replies[index]?.bytes.toString()).toContain(masked(number));
});
