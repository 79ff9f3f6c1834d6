import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../src/development/demo/seed.js';
import { eventsOf, giveUrls, promised } from '../../support/receivers/outbound.js';
import { startService, untilAdmitted, type Reply, type Service } from '../../support/service/service.js';

const { IEX, HRB } = DEMO.couriers;
const CALLERS = 200;

let service: Service;
beforeAll(async () => {
  service = await startService({ poolSize: 30 });
  await giveUrls(service.owner, [IEX, HRB]);
  await service.tokenOf('warehouse');
}, 60_000);
afterAll(() => service.stop(), 60_000);

type Row = Record<string, unknown>;
const select = async (statement: string, values: unknown[] = []) =>
  (await service.owner.query<Row>(statement, values)).rows;
const rowOf = async (table: 'prealerts' | 'packages', id: string) =>
  (await select(`select * from ${table} where id = $1`, [id]))[0] ?? {};

const review = (prealert_id: string, fields: object = {}, as = 'warehouse') =>
  service.call('reviewPrealert', { as, body: { prealert_id, reason: 'Name on the label.', ...fields } });

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
  const reply = await service.call('createPrealert', { as: 'admin', body });
  expect(reply.status).toBe(201);
  return String(reply.body['data'].prealert_id);
}

async function receive(tracking_number: string, fields: object = {}): Promise<string> {
  const body = { tracking_number, weight: 1, ...fields };
  const reply = await service.call('receivePackage', { as: 'warehouse', body });
  expect(reply.status).toBe(201);
  return String(reply.body['data'].package_id);
}

/** A parcel that has come in and that two couriers had announced: nobody's, and both pre-alerts flagged. */
async function contested() {
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
  test('a parcel that is not the courier’s is awaited again, and stays as it was', async () => {
    const { iex, hrb, packageId } = await contested();
    const before = await rowOf('packages', packageId);
    const reply = await review(iex);
    expect(reply.body['data']).toEqual({
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
    expect(await eventsOf(service.owner, [packageId])).toEqual([]);
  });

  test('one whose parcel staff have given to its customer is received, and the parcel answers it', async () => {
    const { iex, packageId } = await contested();
    const body = { package_id: packageId, user_code: 'IEX-1001' };
    expect((await service.call('updatePackage', { as: 'admin', body })).status).toBe(200);
    expect((await review(iex)).body['data']).toEqual({
      prealert_id: iex,
      status: 'received',
      package_id: packageId,
      assigned: false,
    });
    expect(await rowOf('packages', packageId)).toMatchObject({ prealert_id: iex });
  });

  test('one whose parcel is its courier’s, of nobody in particular, is received and answered by nothing', async () => {
    const number = freshNumber();
    const [first, second] = [
      await announce(number, IEX, 'IEX-1001'),
      await announce(`420331021234${number}`, IEX, 'IEX-1002'),
    ];
    // two spellings of one number are one parcel; what the label adds is not read here, so that they are made alike
    await service.owner.query('update prealerts set tracking_key = $2 where id = $1', [second, number]);
    const packageId = await receive(number);
    expect(await rowOf('packages', packageId)).toMatchObject({ courier_id: IEX, user_code: null });
    expect((await review(second)).body['data']).toMatchObject({ status: 'received', package_id: packageId });
    expect(await rowOf('packages', packageId)).toMatchObject({ user_code: null, prealert_id: null });
    // and then it is given to the first's customer, which its courier is told as a change
    expect((await review(first, { assign: true })).body['data']).toMatchObject({ assigned: true });
    expect(await rowOf('packages', packageId)).toMatchObject({ user_code: 'IEX-1001', prealert_id: first });
    expect(await select('select status from package_syncs where package_id = $1', [packageId])).toEqual([
      { status: 'queued' },
    ]);
    const told = await eventsOf(service.owner, [packageId], 'package.created');
    expect(told).toHaveLength(1);
  });

  test('what is not flagged is refused, also the second time, and nothing is written', async () => {
    const { iex } = await contested();
    await review(iex);
    const before = await auditOf([iex]);
    for (const id of [iex, DEMO.prealerts.received.IEX[0] ?? '']) {
      const reply = await review(id);
      expect([reply.status, reply.body['code']]).toEqual([400, 'prealert_not_flagged']);
    }
    expect(await auditOf([iex])).toEqual(before);
    expect((await review(randomUUID())).body['code']).toBe('prealert_not_found');
  });

  test('a reason is asked for, one that says something', async () => {
    const { iex } = await contested();
    for (const reason of [undefined, '', '  ', 'x'.repeat(501)])
      expect((await review(iex, { reason })).status).toBe(400);
    expect(await rowOf('prealerts', iex)).toMatchObject({ status: 'flagged' });
    expect((await review(iex, { reason: 'x'.repeat(500) }, 'manager')).status).toBe(200);
  });
});

describe('assigning', () => {
  test('gives the parcel as intake would have, tells its courier alone, and leaves the other flagged', async () => {
    const { iex, hrb, packageId } = await contested();
    const reply = await review(iex, { assign: true }, 'admin');
    expect(reply.body['data']).toEqual({
      prealert_id: iex,
      status: 'received',
      package_id: packageId,
      assigned: true,
    });
    const [customer] = await select(
      "select first_name, last_name from customers where courier_id = $1 and user_code = 'IEX-1001'",
      [IEX],
    );
    const given = {
      ...{ courier_id: IEX, user_code: 'IEX-1001', prealert_id: iex, ...customer },
      ...{ shipper: 'Shop of IEX-1001', description: 'Shoes' },
    };
    expect(await rowOf('packages', packageId)).toMatchObject({ ...given, status: 'received' });
    expect(await rowOf('prealerts', iex)).toMatchObject({ status: 'received' });
    expect(await rowOf('prealerts', hrb)).toMatchObject({ status: 'flagged' });
    const nothing = Object.fromEntries(Object.keys(given).map((key) => [key, null]));
    expect(await auditOf([iex, packageId])).toMatchObject([
      { action: 'prealert.reviewed', after: { status: 'received', package_id: packageId } },
      { action: 'package.assigned', entity_id: packageId, before: nothing, after: given },
    ]);
    const told = await eventsOf(service.owner, [packageId]);
    expect(told).toMatchObject([
      { type: 'package.created', courier_id: IEX, data: { user_code: 'IEX-1001' } },
    ]);
    expect(told[0]?.deliveries).toEqual(promised(IEX, 'add_package'));
    // the totals that the list shows follow
    const listed = await service.call('retrievePackages', { as: 'iex', body: { trackingNumber: 'REV' } });
    expect((listed.body['data'] as Row[]).map((row) => row['package_id'])).toContain(packageId);
    // the desk tells the other courier that its parcel is still to come
    expect((await review(hrb)).body['data']).toMatchObject({ status: 'pending', package_id: null });
  });

  test('keeps what was noted at the scale', async () => {
    const number = freshNumber();
    const iex = await announce(number, IEX, 'IEX-1001');
    await announce(number, HRB, 'HRB-2001');
    const packageId = await receive(number, { shipper: 'Books Ltd', description: 'Books' });
    await review(iex, { assign: true });
    expect(await rowOf('packages', packageId)).toMatchObject({ shipper: 'Books Ltd', description: 'Books' });
  });

  test('gives the courier alone where its customer is gone', async () => {
    const { iex, packageId } = await contested();
    await service.owner.query("update prealerts set user_code = 'IEX-GONE' where id = $1", [iex]);
    expect((await review(iex, { assign: true })).body['data']).toMatchObject({ assigned: true });
    expect(await rowOf('packages', packageId)).toMatchObject({ courier_id: IEX, user_code: null });
  });

  test('is refused where the parcel is not here or is another’s, and the flag stays', async () => {
    const { hrb, iex, packageId } = await contested();
    await review(iex, { assign: true });
    const before = await rowOf('packages', packageId);
    const other = await review(hrb, { assign: true });
    expect([other.status, other.body['code']]).toEqual([400, 'package_not_assignable']);
    expect(await rowOf('packages', packageId)).toEqual(before);
    expect(await rowOf('prealerts', hrb)).toMatchObject({ status: 'flagged' });

    const [absent = ''] = DEMO.prealerts.flagged.IEX;
    await service.owner.query("update prealerts set tracking_key = $2, status = 'flagged' where id = $1", [
      absent,
      freshNumber(),
    ]);
    expect((await review(absent, { assign: true })).body['code']).toBe('package_not_assignable');
    expect((await review(absent)).body['data']).toMatchObject({ status: 'pending' });
  });
});

describe('at once', () => {
  test(`${CALLERS} callers review one: one clears the flag, one audit entry`, async () => {
    const { iex } = await contested();
    const replies = await Promise.all(
      Array.from({ length: CALLERS }, () => untilAdmitted(() => review(iex))),
    );
    expect(tally(replies)).toEqual({ '200': 1, '400 prealert_not_flagged': CALLERS - 1 });
    expect(await auditOf([iex])).toHaveLength(1);
  });

  test('the desk assigns one parcel to both couriers at once, 20 times: one has it, and it alone is told', async () => {
    for (let round = 0; round < 20; round += 1) {
      const { iex, hrb, packageId } = await contested();
      const replies = await Promise.all(
        [iex, hrb, iex, hrb].map((id) => untilAdmitted(() => review(id, { assign: true }))),
      );
      expect(tally(replies)['200']).toBe(1);
      const owner = (await rowOf('packages', packageId))['courier_id'];
      const told = await eventsOf(service.owner, [packageId]);
      expect(told.map(({ type, courier_id }) => [type, courier_id])).toEqual([['package.created', owner]]);
      const statuses = [iex, hrb].map(async (id) => (await rowOf('prealerts', id))['status']);
      expect((await Promise.all(statuses)).sort()).toEqual(['flagged', 'received']);
    }
  });
});
