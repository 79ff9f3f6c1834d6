import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { rounds } from '../../support/harness/effort.js';
import { eventsOf, setWebhookUrls, pendingDelivery } from '../../support/receivers/outbound.js';
import { untilAdmitted, type Reply } from '../../support/service/service.js';
import { withService } from '../../support/fixture/with-service.js';

const { IEX, HRB } = DEMO.couriers;
const CALLERS = rounds(60, 200);

const { api, service } = withService({ poolSize: 30 });
beforeAll(async () => {
  await setWebhookUrls(service().owner, [IEX, HRB]);
  await service().tokenOf('warehouse');
}, 60_000);

type Row = Record<string, unknown>;
const select = async (statement: string, values: unknown[] = []) =>
  (await service().owner.query<Row>(statement, values)).rows;
const rowOf = async (table: 'prealerts' | 'packages', id: string) =>
  (await select(`select * from ${table} where id = $1`, [id]))[0] ?? {};

const review = (prealert_id: string, fields: object = {}, as = 'warehouse') =>
  api.as(as).reviewPrealert({ prealert_id, reason: 'Name on the label.', ...fields });

let serial = 0;
const freshNumber = () => `REV${process.pid}N${(serial += 1)}`;

async function announce(tracking_number: string, courier_id: string, user_code: string): Promise<string> {
  const body = {
    tracking_number,
    courier_id,
    user_code,
    vendor: `Shop of ${user_code}`,
    description: 'Shoes',
  };
  const reply = await api.as('admin').createPrealert(body).created();
  return reply.data.prealert_id;
}

async function receive(tracking_number: string, fields: object = {}): Promise<string> {
  const body = { tracking_number, weight: 1, ...fields };
  const reply = await api.as('warehouse').receivePackage(body).created();
  return reply.data.package_id;
}

/** Creates a package that two couriers announced: it has no owner, and both pre-alerts are flagged. */
async function makeContested() {
  const number = freshNumber();
  const iex = await announce(number, IEX, 'IEX-1001');
  const hrb = await announce(number, HRB, 'HRB-2001');
  const packageId = await receive(number);
  expect(await rowOf('packages', packageId)).toMatchObject({ courier_id: null });
  for (const id of [iex, hrb]) expect(await rowOf('prealerts', id)).toMatchObject({ status: 'flagged' });
  return { number, iex, hrb, packageId };
}

const auditOf = (ids: string[]) =>
  select(
    `select action, entity_id, before, after, remarks, actor_id from audit_entries
     where entity_id = any($1) and action in ('prealert.reviewed', 'package.assigned') order by id`,
    [ids],
  );

const tally = (replies: Reply[]) => {
  const counts: Record<string, number> = {};
  for (const { status, body } of replies) {
    const key = status === 200 ? '200' : `${status} ${body['code']}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
};

describe('clearing a flag', () => {
  test("makes the pre-alert pending if the package is not the courier's, and leaves the package unchanged", async () => {
    const { iex, hrb, packageId } = await makeContested();
    const before = await rowOf('packages', packageId);
    const reply = await review(iex).ok();
    expect(reply.data).toEqual({
      prealert_id: iex,
      status: 'pending',
      package_id: null,
      assigned: false,
    });
    expect(await rowOf('prealerts', iex)).toMatchObject({ status: 'pending' });
    expect(await rowOf('prealerts', hrb)).toMatchObject({ status: 'flagged' });
    expect(await rowOf('packages', packageId)).toEqual(before);
    expect(await auditOf([iex, packageId])).toEqual([
      {
        action: 'prealert.reviewed',
        entity_id: iex,
        before: { status: 'flagged' },
        after: { status: 'pending' },
        remarks: 'Name on the label.',
        actor_id: DEMO.users.warehouse,
      },
    ]);
    expect(await eventsOf(service().owner, [packageId])).toEqual([]);
  });

  test('marks the pre-alert received and links it if staff have assigned the package to its customer', async () => {
    const { iex, packageId } = await makeContested();
    const body = { package_id: packageId, user_code: 'IEX-1001' };
    expect(await api.as('admin').updatePackage(body).status()).toBe(200);
    expect((await review(iex).ok()).data).toEqual({
      prealert_id: iex,
      status: 'received',
      package_id: packageId,
      assigned: false,
    });
    expect(await rowOf('packages', packageId)).toMatchObject({ prealert_id: iex });
  });

  test('marks the pre-alert received without a link if the package has its courier but no customer', async () => {
    const number = freshNumber();
    const [first, second] = [
      await announce(number, IEX, 'IEX-1001'),
      await announce(`420331021234${number}`, IEX, 'IEX-1002'),
    ];
    // Two spellings of one number count as one package. The key is set directly, because the label format is not
    // tested here.
    await service().owner.query('update prealerts set tracking_key = $2 where id = $1', [second, number]);
    const packageId = await receive(number);
    expect(await rowOf('packages', packageId)).toMatchObject({ courier_id: IEX, user_code: null });
    expect((await review(second).ok()).data).toMatchObject({ status: 'received', package_id: packageId });
    expect(await rowOf('packages', packageId)).toMatchObject({ user_code: null, prealert_id: null });
    // Assigning the first customer later is sent to the courier as an update.
    expect((await review(first, { assign: true }).ok()).data).toMatchObject({ assigned: true });
    expect(await rowOf('packages', packageId)).toMatchObject({ user_code: 'IEX-1001', prealert_id: first });
    expect(await select('select status from package_syncs where package_id = $1', [packageId])).toEqual([
      { status: 'queued' },
    ]);
    const webhookEvents = await eventsOf(service().owner, [packageId], 'package.created');
    expect(webhookEvents).toHaveLength(1);
  });

  test('rejects a pre-alert that is not flagged, or no longer flagged, and writes nothing', async () => {
    const { iex } = await makeContested();
    await review(iex).ok();
    const before = await auditOf([iex]);
    for (const id of [iex, DEMO.prealerts.received.IEX[0] ?? '']) {
      await review(id).refused(400, 'prealert_not_flagged');
    }
    expect(await auditOf([iex])).toEqual(before);
    expect((await review(randomUUID()).answer()).code).toBe('prealert_not_found');
  });

  test('requires a reason that is not blank', async () => {
    const { iex } = await makeContested();
    for (const reason of [undefined, '', '  ', 'x'.repeat(501)])
      expect(await review(iex, { reason }).status()).toBe(400);
    expect(await rowOf('prealerts', iex)).toMatchObject({ status: 'flagged' });
    expect(await review(iex, { reason: 'x'.repeat(500) }, 'manager').status()).toBe(200);
  });
});

describe('assigning the package', () => {
  test('sets owner and fields like intake, notifies only that courier and leaves the other pre-alert flagged', async () => {
    const { iex, hrb, packageId } = await makeContested();
    const reply = await review(iex, { assign: true }, 'admin').ok();
    expect(reply.data).toEqual({
      prealert_id: iex,
      status: 'received',
      package_id: packageId,
      assigned: true,
    });
    const [customer] = await select(
      "select first_name, last_name from customers where courier_id = $1 and user_code = 'IEX-1001'",
      [IEX],
    );
    const assigned = {
      courier_id: IEX,
      user_code: 'IEX-1001',
      prealert_id: iex,
      ...customer,
      shipper: 'Shop of IEX-1001',
      description: 'Shoes',
    };
    expect(await rowOf('packages', packageId)).toMatchObject({ ...assigned, status: 'received' });
    expect(await rowOf('prealerts', iex)).toMatchObject({ status: 'received' });
    expect(await rowOf('prealerts', hrb)).toMatchObject({ status: 'flagged' });
    const nothing = Object.fromEntries(Object.keys(assigned).map((key) => [key, null]));
    expect(await auditOf([iex, packageId])).toMatchObject([
      {
        action: 'prealert.reviewed',
        after: {
          status: 'received',
          package_id: packageId,
          after_receipt: false,
          announcements: { submitted: expect.any(Number), arrived: expect.any(Number) },
        },
      },
      { action: 'package.assigned', entity_id: packageId, before: nothing, after: assigned },
    ]);
    const webhookEvents = await eventsOf(service().owner, [packageId]);
    expect(webhookEvents).toMatchObject([
      { type: 'package.created', courier_id: IEX, data: { user_code: 'IEX-1001' } },
    ]);
    expect(webhookEvents[0]?.deliveries).toEqual(pendingDelivery(IEX, 'add_package'));
    // The tallies of the list are updated.
    const listed = await api.as('iex').listPackages({ trackingNumber: 'REV' }).ok();
    expect((listed.data as Row[]).map((row) => row['package_id'])).toContain(packageId);
    // A review of the other pre-alert makes it pending again.
    expect((await review(hrb).ok()).data).toMatchObject({ status: 'pending', package_id: null });
  });

  test('keeps the shipper and description recorded at intake', async () => {
    const number = freshNumber();
    const iex = await announce(number, IEX, 'IEX-1001');
    await announce(number, HRB, 'HRB-2001');
    const packageId = await receive(number, { shipper: 'Books Ltd', description: 'Books' });
    await review(iex, { assign: true }).ok();
    expect(await rowOf('packages', packageId)).toMatchObject({ shipper: 'Books Ltd', description: 'Books' });
  });

  test('assigns only the courier if the customer no longer exists', async () => {
    const { iex, packageId } = await makeContested();
    await service().owner.query("update prealerts set user_code = 'IEX-GONE' where id = $1", [iex]);
    expect((await review(iex, { assign: true }).ok()).data).toMatchObject({ assigned: true });
    expect(await rowOf('packages', packageId)).toMatchObject({ courier_id: IEX, user_code: null });
  });

  test('is rejected if the package is missing or has another owner, and the flag stays', async () => {
    const { hrb, iex, packageId } = await makeContested();
    await review(iex, { assign: true }).ok();
    const before = await rowOf('packages', packageId);
    await review(hrb, { assign: true }).refused(400, 'package_not_assignable');
    expect(await rowOf('packages', packageId)).toEqual(before);
    expect(await rowOf('prealerts', hrb)).toMatchObject({ status: 'flagged' });

    const [absent = ''] = DEMO.prealerts.flagged.IEX;
    await service().owner.query(
      "update prealerts set tracking_number = $2, tracking_key = $2, status = 'flagged' where id = $1",
      [absent, freshNumber()],
    );
    expect((await review(absent, { assign: true }).answer()).code).toBe('package_not_assignable');
    expect((await review(absent).ok()).data).toMatchObject({ status: 'pending' });
  });
});

describe('concurrent reviews', () => {
  test(`of ${CALLERS} callers who review one pre-alert, one clears the flag with one audit entry`, async () => {
    const { iex } = await makeContested();
    const replies = await Promise.all(
      Array.from({ length: CALLERS }, () => untilAdmitted(() => review(iex).answer())),
    );
    expect(tally(replies)).toEqual({ '200': 1, '400 prealert_not_flagged': CALLERS - 1 });
    expect(await auditOf([iex])).toHaveLength(1);
  });

  const ASSIGNMENT_ROUNDS = rounds(6, 20);

  test(`of concurrent assignments to both couriers, one succeeds and only that courier is notified, in ${ASSIGNMENT_ROUNDS} rounds`, async () => {
    for (let round = 0; round < ASSIGNMENT_ROUNDS; round += 1) {
      const { iex, hrb, packageId } = await makeContested();
      const replies = await Promise.all(
        [iex, hrb, iex, hrb].map((id) => untilAdmitted(() => review(id, { assign: true }).answer())),
      );
      expect(tally(replies)['200']).toBe(1);
      const owner = (await rowOf('packages', packageId))['courier_id'];
      const webhookEvents = await eventsOf(service().owner, [packageId]);
      expect(webhookEvents.map(({ type, courier_id }) => [type, courier_id])).toEqual([
        ['package.created', owner],
      ]);
      const statuses = [iex, hrb].map(async (id) => (await rowOf('prealerts', id))['status']);
      expect((await Promise.all(statuses)).sort()).toEqual(['flagged', 'received']);
    }
  });
});
