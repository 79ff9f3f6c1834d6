import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { lockParcel } from '../../../src/platform/db/locks.js';
import { rounds } from '../../support/harness/effort.js';
import {
  CUSTOMERS,
  makeParcels,
  newNumber,
  comparableReply,
  type Row,
} from '../../support/builders/parcels.js';
import { numbersWithLocks } from '../../support/scans/parcel-locks.js';
import { untilAdmitted, type Reply } from '../../support/service/service.js';
import { withService } from '../../support/fixture/with-service.js';

const TENANT = DEMO.tenants.demo;
const { IEX } = DEMO.couriers;
const CALLERS = rounds(60, 200);

const { api, service } = withService({ poolSize: 30 });
beforeAll(async () => {
  parcels = makeParcels(service());
}, 60_000);
let parcels: ReturnType<typeof makeParcels>;

let number: string;
let packageId: string;
beforeEach(async () => {
  number = newNumber();
  const measures = { weight: 42.27, length: 10, width: 5.5, shipper: 'Books' };
  packageId = await parcels.receive(number, { user_code: CUSTOMERS.IEX, ...measures });
});

const update = (fields: object, as = 'iex') => parcels.update(as, packageId, fields);
const fieldsOf = ({ body }: Reply) => (body['errors'] as { field: string }[]).map(({ field }) => field);
const updatesOf = async (id: string) =>
  (await parcels.auditOf(id)).filter(({ action }) => action === 'package.updated');

function expectDenied(reply: Reply, fields: string[]) {
  expect([reply.status, reply.body['status'], reply.body['code']]).toEqual([
    403,
    'fail',
    'permission_denied',
  ]);
  expect(fieldsOf(reply)).toEqual(fields);
  for (const error of reply.body['errors'])
    expect(error).toMatchObject({ code: 'staff_only', message: expect.stringContaining(error.field) });
}

async function expectUntouched(before: Row) {
  expect(await parcels.packageRow(packageId)).toEqual(before);
  expect(await updatesOf(packageId)).toEqual([]);
  expect(await parcels.select('select * from package_syncs where package_id = $1', [packageId])).toEqual([]);
}

describe('fields that only staff may change', () => {
  const FIELDS: [field: string, value: string | number][] = [
    ['tracking_number', 'MINE-NOW'],
    ['weight', 0.001],
    ['length', 0.01],
    ['width', 5.51],
    ['height', 3],
  ];

  test.each(FIELDS)("rejects a courier's change of %s with 403 and changes nothing", async (field, value) => {
    const before = await parcels.packageRow(packageId);
    expectDenied(await update({ [field]: value }), [field]);
    await expectUntouched(before);
  });

  test('rejects a request that mixes permitted and staff-only fields, and names every staff-only field', async () => {
    const before = await parcels.packageRow(packageId);
    const permitted = {
      user_code: 'IEX-1002',
      first_name: 'A',
      last_name: 'B',
      shipper: 'C',
      description: 'D',
    };
    expectDenied(
      await update({ ...Object.fromEntries(FIELDS), ...permitted, package_type: 'bag' }),
      FIELDS.map(([field]) => field),
    );
    expectDenied(await update({ ...permitted, weight: 42.271 }), ['weight']);
    await expectUntouched(before);
  });

  test('equal values are no change, alone or beside permitted fields', async () => {
    const equal = { tracking_number: ` ${number}\t`, weight: 42.27, length: 10.0, width: 5.5 };
    expect((await update(equal)).body['data'].fields_updated).toBe(0);
    expect((await update({ ...equal, shipper: 'Tools' })).body['data'].fields_updated).toBe(1);
    expect(await parcels.packageRow(packageId)).toMatchObject({ weight_lb: '42.270', shipper: 'Tools' });
  });

  test.each([
    ['user_code', 'IEX-1002'],
    ['first_name', 'Zoe'],
    ['last_name', 'Zimmer'],
    ['shipper', 'Tools'],
    ['description', 'A drill'],
    ['package_type', 'pallet'],
  ])('a courier may change %s', async (field, value) => {
    expect((await update({ [field]: value })).body['data'].fields_updated).toBe(1);
    expect(await parcels.packageRow(packageId)).toMatchObject({ [field]: value });
  });

  test.each(['admin', 'manager', 'warehouse'])('%s may change every field', async (as) => {
    const fields = { tracking_number: newNumber(), weight: 1, length: 2, width: 3, height: 4 };
    expect((await update(fields, as)).body['data'].fields_updated).toBe(5);
  });

  test('validates the body first, then the ownership of the package, then the fields', async () => {
    expect(await update({ weight: -1 })).toMatchObject({ status: 400, body: { code: 'validation_failed' } });
    const fields = { weight: 9, tracking_number: newNumber(), user_code: 'NOBODY' };
    const sibling = await parcels.update('hrb', packageId, fields);
    expect([sibling.status, sibling.body['code']]).toEqual([403, 'record_forbidden']);
    const unknown = await parcels.update('iex', randomUUID(), fields);
    expect([unknown.status, unknown.body['code']]).toEqual([404, 'package_not_found']);
    expectDenied(await update(fields), ['tracking_number', 'weight']);
  });

  test("the database rejects a courier's change of a weight", async () => {
    const client = await service().owner.connect();
    try {
      await client.query('begin');
      await client.query('set local role crossdock_app');
      await client.query(
        "select set_config('app.tenant_id', $1, true), set_config('app.courier_id', $2, true)",
        [TENANT, IEX],
      );
      const change = client.query('update packages set weight_lb = 0.001 where id = $1', [packageId]);
      await expect(change).rejects.toThrow(/row-level security/);
    } finally {
      await client.query('rollback');
      client.release();
    }
  });

  test(`of ${CALLERS} simultaneous updates, half of them by the courier, no weight of the courier is stored`, async () => {
    const replies = await Promise.all(
      Array.from({ length: CALLERS }, (_, index) =>
        untilAdmitted(() => update({ weight: index + 1 }, index % 2 ? 'iex' : 'warehouse')),
      ),
    );
    const statuses = replies.map(({ status }, index) => [index % 2 ? 'iex' : 'warehouse', status].join(' '));
    // The courier sends even weights and staff send odd ones, so that the courier never sends an equal value.
    expect(new Set(statuses)).toEqual(new Set(['iex 403', 'warehouse 200']));
    const updates = await updatesOf(packageId);
    expect(updates).toHaveLength(CALLERS / 2);
    expect(new Set(updates.map((entry) => entry['actor_id']))).toEqual(new Set([DEMO.users.warehouse]));
  }, 60_000);
});

describe('tracking number of another package', () => {
  test('a courier cannot take a number that a sibling courier has announced', async () => {
    const announced = newNumber();
    const prealertId = await parcels.announce('HRB', announced);
    expectDenied(await update({ tracking_number: announced }), ['tracking_number']);
    const reply = await parcels.scan(announced);
    expect(reply.status).toBe(201);
    expect(reply.body['data']).toMatchObject({
      courier_id: DEMO.couriers.HRB,
      user_code: CUSTOMERS.HRB,
      prealert_id: prealertId,
      duplicate: false,
      flagged: false,
    });
  });

  test('a courier gets identical responses for taken, announced, foreign and free numbers', async () => {
    const [taken, own, announced, foreign] = [newNumber(), newNumber(), newNumber(), newNumber()];
    await parcels.receive(taken, { user_code: CUSTOMERS.HRB });
    await parcels.receive(own, { user_code: CUSTOMERS.IEX });
    await parcels.announce('HRB', announced);
    const body = { tracking_number: foreign, weight: 1 };
    expect(await api.as('two/admin').receivePackage(body).status()).toBe(201);
    const numbers = [taken, own, announced, foreign, newNumber(), `${number}X`];
    const replies = [];
    for (const tracking_number of numbers) replies.push(comparableReply(await update({ tracking_number })));
    expect(new Set(replies).size).toBe(1);
    expect(replies[0]).toContain('permission_denied');
  });

  test('the response to a courier does not wait for a lock on the package with that number', async () => {
    // Two numbers can have one lock.
    const [own = '', taken = ''] = await numbersWithLocks(service().owner, 60, 62);
    packageId = await parcels.receive(own, { user_code: CUSTOMERS.IEX });
    const takenId = await parcels.receive(taken, { user_code: CUSTOMERS.HRB });
    const client = await service().owner.connect();
    try {
      await client.query('begin');
      await client.query('select id from packages where id = $1 for update', [takenId]);
      const { text, values } = lockParcel(TENANT, taken);
      await client.query(text, values);
      // A request by staff does wait for that lock.
      const staff = update({ tracking_number: taken }, 'admin');
      expectDenied(await update({ tracking_number: taken }), ['tracking_number']);
      await client.query('rollback');
      expect((await staff).status).toBe(409);
    } finally {
      client.release();
    }
  });
});
