import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { newHouseNumber } from '../../../src/modules/packages/intake/house-number.js';
import { rounds } from '../../support/harness/effort.js';
import { emptyQueue, eventsOf, waitingJobs } from '../../support/receivers/outbound.js';
import { untilAdmitted, type Reply } from '../../support/service/service.js';
import { withService } from '../../support/fixture/with-service.js';
import { unchecked } from '../../support/fixture/sent.js';

const { IEX, HRB } = DEMO.couriers;
const TENANT = DEMO.tenants.demo;

const { api, service } = withService({ poolSize: 30 });
beforeEach(() => emptyQueue(service().owner));

type Row = Record<string, unknown>;
type Parcel = Record<string, string | number | null>;

const update = (as: string, package_id: string, fields: object = {}) =>
  api.as(as).updatePackage({ package_id, ...fields });

const select = async (statement: string, values: unknown[] = []) =>
  (await service().owner.query<Row>(statement, values)).rows;

let serial = 0;
const freshNumber = () => `UPD${process.pid}N${(serial += 1)}`;

/** Inserts a package of IEX-1001 directly, with the given columns changed. */
async function addPackage(row: Parcel = {}): Promise<string> {
  const id = randomUUID();
  const number = String(row['tracking_number'] ?? freshNumber());
  const full = {
    tenant_id: TENANT,
    id,
    courier_id: IEX,
    user_code: 'IEX-1001',
    first_name: 'Ann',
    last_name: 'Lee',
    tracking_number: number,
    tracking_key: number,
    house_number: newHouseNumber(),
    weight_lb: 4.25,
    length_in: 10,
    width_in: 5.5,
    height_in: null,
    package_type: 'box',
    shipper: 'Books',
    description: null,
    status: 'received',
    warehouse_id: DEMO.warehouses.primary,
    received_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
    ...row,
  };
  await service().owner.query(
    'insert into packages select * from jsonb_populate_record(null::packages, $1)',
    [JSON.stringify(full)],
  );
  return id;
}

async function rowOf(id: string): Promise<Row> {
  const [row] = await select('select * from packages where id = $1', [id]);
  return row ?? {};
}

/** Returns what an update writes apart from the row. */
const tracesOf = async (id: string) => ({
  audited: await select(
    "select * from audit_entries where entity_id = $1 and action = 'package.updated' order by id",
    [id],
  ),
  syncs: await select('select * from package_syncs where package_id = $1', [id]),
  // The event is recorded when the synchronisation is sent.
  webhookEvents: await eventsOf(service().owner, [id]),
  deliveryJobs: await waitingJobs(service().owner, 'deliver'),
});

const NO_TRACES = { audited: [], syncs: [], webhookEvents: [], deliveryJobs: [] };
const deliveryJobOf = (courierId: string) => ({ tenantId: TENANT, courierId, endpoint: 'update_package' });

describe('updated fields', () => {
  const CHANGES: [field: string, column: string, value: string | number, stored: string][] = [
    ['user_code', 'user_code', 'IEX-1002', 'IEX-1002'],
    ['first_name', 'first_name', 'Marcia', 'Marcia'],
    ['last_name', 'last_name', 'Campbell', 'Campbell'],
    ['shipper', 'shipper', 'Tools', 'Tools'],
    ['description', 'description', 'A drill', 'A drill'],
    ['package_type', 'package_type', 'pallet', 'pallet'],
    ['weight', 'weight_lb', 4.251, '4.251'],
    ['length', 'length_in', 12.25, '12.25'],
    ['width', 'width_in', 0.01, '0.01'],
    ['height', 'height_in', 9999.99, '9999.99'],
  ];

  test.each(CHANGES)('%s changes only its own column', async (field, column, value, stored) => {
    const id = await addPackage();
    const before = await rowOf(id);
    const reply = await update('warehouse', id, { [field]: value }).ok();
    expect(reply.body).toMatchObject({
      message: '1 field updated.',
      data: { fields_updated: 1, package_id: id },
    });
    const after = await rowOf(id);
    expect(after).toEqual({ ...before, [column]: stored, updated_at: after['updated_at'] });
    expect(after['updated_at']).not.toEqual(before['updated_at']);
    const { audited, syncs, webhookEvents, deliveryJobs } = await tracesOf(id);
    expect(audited).toMatchObject([
      {
        actor_id: DEMO.users.warehouse,
        before: { [column]: before[column] },
        after: { [column]: stored },
      },
    ]);
    expect(Object.keys(audited[0]?.['after'] as Row)).toEqual([column]);
    expect(syncs).toMatchObject([
      { status: 'queued', courier_id: IEX, dispatch_id: null, job_id: expect.any(String), settled_at: null },
    ]);
    expect(webhookEvents).toEqual([]);
    expect(deliveryJobs).toEqual([deliveryJobOf(IEX)]);
  });

  test('several fields together make one change, one audit entry and one queued synchronisation', async () => {
    const id = await addPackage();
    const fields = Object.fromEntries(CHANGES.map(([field, , value]) => [field, value]));
    const { data } = await update('admin', id, { ...fields, tracking_number: freshNumber() }).answer();
    expect(data.fields_updated).toBe(CHANGES.length + 1);
    const { audited, syncs, deliveryJobs } = await tracesOf(id);
    expect([audited.length, syncs.length, deliveryJobs.length]).toEqual([1, 1, 1]);
  });

  test('counts and writes only fields that differ', async () => {
    const id = await addPackage();
    const { data } = await update('admin', id, {
      weight: 4.25,
      shipper: 'Books',
      last_name: 'Li',
      width: 5.5,
    }).answer();
    expect(data.fields_updated).toBe(1);
    const { audited } = await tracesOf(id);
    expect(audited[0]?.['after']).toEqual({ last_name: 'Li' });
  });

  test('writes nothing if all values are equal, and the message says so', async () => {
    const number = freshNumber();
    const id = await addPackage({ tracking_number: number });
    const before = await rowOf(id);
    const same = {
      user_code: 'IEX-1001',
      first_name: 'Ann',
      last_name: 'Lee',
      shipper: 'Books',
      description: '',
      package_type: 'box',
      tracking_number: `  ${number}\t`,
      weight: 4.25,
      length: 10,
      width: 5.5,
    };
    for (const fields of [
      same,
      {},
      { weight: 4.25 },
      { status: 'lost', manifest_id: DEMO.manifests.draft },
    ]) {
      const reply = await update('admin', id, fields).ok();
      expect(reply.message).toMatch(/no changes/i);
      expect(reply.data).toEqual({ fields_updated: 0, package_id: id });
    }
    expect(await rowOf(id)).toEqual(before);
    expect(await tracesOf(id)).toEqual(NO_TRACES);
  });

  test('an empty string clears a text field', async () => {
    const id = await addPackage({ description: 'Pens' });
    const texts = ['user_code', 'first_name', 'last_name', 'shipper', 'description', 'package_type'];
    const empty = Object.fromEntries(texts.map((field) => [field, '']));
    expect((await update('admin', id, empty).ok()).data.fields_updated).toBe(6);
    const row = await rowOf(id);
    for (const field of texts) expect(row[field]).toBeNull();
    expect(row['courier_id']).toBe(IEX);
    expect((await update('admin', id, empty).ok()).data.fields_updated).toBe(0);
  });

  test.each([
    ...[0, -1, 100_000, 1.2345, 1e-10, '4', null].map((value) => ['weight', value]),
    ...['length', 'width', 'height'].flatMap((field) =>
      [0, -0.01, 10_000, 1.001].map((value) => [field, value]),
    ),
    ...['', ' ', '\u00a0', 'x'.repeat(256), 1].map((value) => ['tracking_number', value]),
    ...['x'.repeat(101), null].flatMap((value) =>
      ['user_code', 'first_name', 'last_name'].map((field) => [field, value]),
    ),
    ['shipper', 'x'.repeat(256)],
    ['description', 'x'.repeat(2_001)],
    ['package_type', 'x'.repeat(51)],
  ] as [string, unknown][])('rejects %s %j with 400 and names the field', async (field, value) => {
    const id = String(DEMO.packages.available.IEX[0]);
    const { errors } = await update('admin', id, { [field]: value }).refused(400, 'validation_failed');
    expect(new Set(errors.map((error) => error.field))).toEqual(new Set([field]));
  });

  test('accepts values at their limits', async () => {
    const id = await addPackage();
    const fields = {
      weight: 99_999.999,
      length: 9_999.99,
      shipper: 'x'.repeat(255),
      description: '😀'.repeat(2_000),
    };
    expect((await update('admin', id, fields).ok()).data.fields_updated).toBe(4);
    expect(await rowOf(id)).toMatchObject({
      weight_lb: '99999.999',
      length_in: '9999.99',
      shipper: fields.shipper,
    });
  });

  const WEIGHTS = rounds(50, 200);

  test(`stores ${WEIGHTS} random weights exactly and updates the tallies`, async () => {
    const id = await addPackage({ courier_id: HRB, user_code: null });
    const totalOf = async () =>
      BigInt(
        String(
          (await select('select sum(weight_lb) as w from package_tallies where courier_id = $1', [HRB]))[0]?.[
            'w'
          ],
        ).replace('.', ''),
      );
    const start = (await totalOf()) - 4_250n;
    for (let n = 0; n < WEIGHTS; n += 1) {
      const thousandths = BigInt(Math.floor(Math.random() * 99_999_999) + 1);
      const weight = Number(thousandths) / 1_000;
      await update('admin', id, { weight }).ok();
      expect(String((await rowOf(id))['weight_lb']).replace('.', '')).toBe(
        String(thousandths).padStart(4, '0'),
      );
      expect((await totalOf()) - start).toBe(thousandths);
    }
  }, 60_000);

  test('requires package_id and accepts it in capitals', async () => {
    const reply = await api
      .as('admin')
      .updatePackage(unchecked({ weight: 1 }))
      .answer();
    expect(reply).toMatchObject({ status: 400, body: { errors: [{ field: 'package_id' }] } });
    const id = await addPackage();
    expect((await update('admin', id.toUpperCase(), { weight: 1 }).ok()).data).toEqual({
      fields_updated: 1,
      package_id: id,
    });
    const { audited, syncs, deliveryJobs } = await tracesOf(id);
    expect([audited.length, syncs.length, deliveryJobs.length]).toEqual([1, 1, 1]);
  });
});

describe('customer of a package', () => {
  test("rejects a user_code that is no active customer of the package's courier", async () => {
    const [inactive] = await select(
      'select user_code from customers where courier_id = $1 and not is_active',
      [IEX],
    );
    const id = await addPackage();
    for (const user_code of ['NOBODY', 'HRB-2001', 'iex-1002', String(inactive?.['user_code'])]) {
      const reply = await update('admin', id, { user_code, weight: 9 }).answer();
      expect(reply).toMatchObject({
        status: 400,
        body: { code: 'unknown_user_code', errors: [{ field: 'user_code' }] },
      });
    }
    expect((await rowOf(id))['weight_lb']).toBe('4.250');
  });

  test('accepts the unchanged code of a customer that was deactivated meanwhile', async () => {
    const [inactive] = await select(
      'select user_code from customers where courier_id = $1 and not is_active',
      [IEX],
    );
    const user_code = String(inactive?.['user_code']);
    const id = await addPackage({ user_code });
    expect((await update('admin', id, { user_code, weight: 9 }).ok()).data.fields_updated).toBe(1);
  });

  test('a new code links the package and leaves the names unchanged', async () => {
    const id = await addPackage({ user_code: null, first_name: null, last_name: null });
    const shown = async () =>
      (
        await api
          .as('iex')
          .listPackages(unchecked({ houseNumber: (await rowOf(id))['house_number'] }))
          .ok()
      ).data[0];
    expect((await shown())?.tracking_number).toContain('*');
    await update('iex', id, { user_code: 'IEX-1002' }).ok();
    expect(await shown()).toMatchObject({ user_code: 'IEX-1002', first_name: null, last_name: null });
    expect((await shown())?.tracking_number).toBe((await rowOf(id))['tracking_number']);
  });

  test('a code of exactly one courier sets the courier of a package without one and moves the tallies', async () => {
    const tallies = async () =>
      Object.fromEntries(
        (
          await select(
            'select courier_id, sum(total)::int as n, sum(weight_lb) as w from package_tallies where tenant_id = $1 group by 1',
            [TENANT],
          )
        ).map(({ courier_id, n, w }) => [courier_id, [n, Number(w)]]),
      ) as Record<string, [number, number]>;
    const nobody = { courier_id: null, user_code: null, first_name: null, last_name: null };
    const id = await addPackage(nobody);
    const before = await tallies();
    const reply = await update('warehouse', id, { user_code: 'HRB-2001', weight: 6.25 }).ok();
    expect(reply.data.fields_updated).toBe(2);
    expect(await rowOf(id)).toMatchObject({ courier_id: HRB, user_code: 'HRB-2001' });
    const { syncs, deliveryJobs } = await tracesOf(id);
    expect(syncs).toMatchObject([{ courier_id: HRB, status: 'queued' }]);
    expect(deliveryJobs).toEqual([deliveryJobOf(HRB)]);
    const after = await tallies();
    expect(after[HRB]?.[0]).toBe((before[HRB]?.[0] ?? 0) + 1);
    expect(after[HRB]?.[1]).toBeCloseTo((before[HRB]?.[1] ?? 0) + 6.25, 3);
    const zero = '00000000-0000-0000-0000-000000000000';
    expect(after[zero]?.[0]).toBe((before[zero]?.[0] ?? 0) - 1);
    expect(after[zero]?.[1]).toBeCloseTo((before[zero]?.[1] ?? 0) - 4.25, 3);
  });

  test('a code of two couriers is rejected for a package without a courier, and nothing is queued', async () => {
    for (const courier of [IEX, HRB]) {
      await service().owner.query(
        `insert into customers (tenant_id, id, courier_id, user_code, first_name, last_name)
         values ($1, gen_random_uuid(), $2, 'TWICE-1', 'T', 'T')`,
        [TENANT, courier],
      );
    }
    const id = await addPackage({ courier_id: null, user_code: null });
    const reply = await update('admin', id, { user_code: 'TWICE-1' }).answer();
    expect(reply).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'user_code', code: 'ambiguous' }] },
    });
    expect((await update('admin', id, { weight: 2 }).ok()).data.fields_updated).toBe(1);
    const { audited, ...rest } = await tracesOf(id);
    // The change is audited, but there is no courier to notify.
    expect({ audited: audited.length, ...rest }).toEqual({ ...NO_TRACES, audited: 1 });
  });
});

describe('tracking number of a package', () => {
  const announce = async (courier: 'IEX' | 'HRB', number: string) =>
    (
      await api
        .withKey(DEMO.apiKeys[courier])
        .submitPrealert({ UserCode: courier === 'IEX' ? 'IEX-1001' : 'HRB-2001', TrackingNumber: number })
        .created()
    ).data.prealert_id;
  const statusOf = async (id: string) =>
    (await select('select status from prealerts where id = $1', [id]))[0]?.['status'];

  test('is trimmed, and its key is updated', async () => {
    const id = await addPackage();
    await update('admin', id, { tracking_number: '  420331669400111899223100009876 ' }).ok();
    expect(await rowOf(id)).toMatchObject({
      tracking_number: '420331669400111899223100009876',
      tracking_key: '9400111899223100009876',
    });
    // The short spelling of the same barcode: the number changes, the key does not.
    expect(
      (await update('admin', id, { tracking_number: '9400111899223100009876' }).ok()).data.fields_updated,
    ).toBe(1);
  });

  test('rejects a number of another package with 409 for staff and changes nothing', async () => {
    const taken = freshNumber();
    await addPackage({ tracking_number: taken, courier_id: HRB, user_code: 'HRB-2001' });
    const id = await addPackage();
    const before = await rowOf(id);
    const reply = await update('admin', id, { tracking_number: taken, weight: 9 }).answer();
    expect(reply).toMatchObject({ status: 409, body: { status: 'fail', code: 'duplicate_tracking_number' } });
    expect(await rowOf(id)).toEqual(before);
    expect(await tracesOf(id)).toEqual(NO_TRACES);
  });

  test("reopens the old number's pre-alert and marks the new number's as received", async () => {
    const [wrong, right] = [freshNumber(), freshNumber()];
    const [mistaken, waiting] = [await announce('IEX', wrong), await announce('IEX', right)];
    const received = await api
      .as('warehouse')
      .receivePackage({ tracking_number: wrong, weight: 1 })
      .succeeded();
    const id = received.data.package_id;
    expect([await statusOf(mistaken), await statusOf(waiting)]).toEqual(['received', 'pending']);
    await update('warehouse', id, { tracking_number: right }).ok();
    expect([await statusOf(mistaken), await statusOf(waiting)]).toEqual(['pending', 'received']);
    expect((await rowOf(id))['prealert_id']).toBe(waiting);
    const auditEntries = await select(
      'select action, entity_id from audit_entries where entity_id = any($1) and action <> $2',
      [[mistaken, waiting], 'prealert.created'],
    );
    expect(auditEntries).toContainEqual({ action: 'prealert.reopened', entity_id: mistaken });
    expect(auditEntries).toContainEqual({ action: 'prealert.received', entity_id: waiting });
    // The change can be reversed.
    await update('warehouse', id, { tracking_number: wrong }).ok();
    expect([await statusOf(mistaken), await statusOf(waiting)]).toEqual(['received', 'pending']);
  });

  test('flags the pre-alerts of a number that another courier announced', async () => {
    const number = freshNumber();
    const [theirs, own] = [await announce('HRB', number), await announce('IEX', number)];
    const id = await addPackage();
    await update('admin', id, { tracking_number: number }).ok();
    expect([await statusOf(theirs), await statusOf(own)]).toEqual(['flagged', 'flagged']);
    expect(await rowOf(id)).toMatchObject({ courier_id: IEX, prealert_id: null });
  });

  test('flags the pre-alert and sets no owner if the package has no courier', async () => {
    const number = freshNumber();
    const prealert = await announce('HRB', number);
    const id = await addPackage({ courier_id: null, user_code: null });
    await update('admin', id, { tracking_number: number }).ok();
    expect(await statusOf(prealert)).toBe('flagged');
    expect(await rowOf(id)).toMatchObject({ courier_id: null, prealert_id: null });
  });

  test('rejects right and wrong guesses of a masked number with identical responses', async () => {
    const number = `SECRET${freshNumber()}`;
    const id = await addPackage({ tracking_number: number, user_code: null });
    const before = await rowOf(id);
    const replies = [];
    for (const tracking_number of [number, `${number}X`, freshNumber(), '*'.repeat(number.length)]) {
      const { status, body } = await update('iex', id, { tracking_number }).answer();
      replies.push(JSON.stringify([status, body['code'], body['message'], body['errors']]));
    }
    expect(new Set(replies).size).toBe(1);
    expect(replies[0]).toContain('tracking_number');
    expect(await rowOf(id)).toEqual(before);
  });

  test('accepts the masked number as unchanged beside other changes', async () => {
    const id = await addPackage({ user_code: null });
    const row = await rowOf(id);
    const { data } = await api
      .as('iex')
      .listPackages(unchecked({ houseNumber: row['house_number'] }))
      .answer();
    const shown = data[0]?.tracking_number as string;
    expect(shown).toContain('*');
    const reply = await update('iex', id, { tracking_number: shown, description: 'Pens' }).ok();
    expect(reply.data.fields_updated).toBe(1);
    expect((await rowOf(id))['tracking_number']).toBe(row['tracking_number']);
  });
});

describe('update access', () => {
  test.each(['admin', 'manager', 'warehouse', 'iex'])('%s may change a package of IEX', async (as) => {
    expect(await update(as, await addPackage(), { shipper: 'Tools' }).status()).toBe(200);
  });

  test("responds 403 to a sibling's package and 404 to foreign, unowned and unknown ones", async () => {
    const cases: [as: string, id: string, status: number, code: string][] = [
      ['hrb', await addPackage(), 403, 'record_forbidden'],
      ['iex', String(DEMO.packages.available.HRB[0]), 403, 'record_forbidden'],
      ['iex', String(DEMO.packages.two[0]), 404, 'package_not_found'],
      ['iex', String(DEMO.packages.ownerUnknown[0]), 404, 'package_not_found'],
      ['iex', randomUUID(), 404, 'package_not_found'],
      ['admin', String(DEMO.packages.two[0]), 404, 'package_not_found'],
      ['admin', randomUUID(), 404, 'package_not_found'],
      ['two/admin', await addPackage(), 404, 'package_not_found'],
      ['two/two', await addPackage(), 404, 'package_not_found'],
    ];
    for (const [as, id, status, code] of cases) {
      for (const fields of [
        { weight: 9 },
        {},
        { tracking_number: freshNumber() },
        { user_code: 'IEX-1002' },
      ]) {
        const reply = await update(as, id, fields).answer();
        expect([as, reply.status, reply.code]).toEqual([as, status, code]);
      }
      expect(await tracesOf(id)).toEqual(NO_TRACES);
    }
  });

  test('denies anonymous callers, API keys and disabled accounts', async () => {
    const body = { package_id: DEMO.packages.available.IEX[0], weight: 9 };
    expect(await api.anonymous.updatePackage(body).status()).toBe(401);
    expect(await api.withKey(DEMO.apiKeys.IEX).updatePackage(body).status()).toBe(401);
    expect(await api.as('disabled').updatePackage(body).status()).toBe(403);
  });

  test('accepts a new weight for a package of a completed manifest', async () => {
    const [id] = DEMO.packages.shipped.IEX;
    expect((await update('admin', String(id), { weight: 77.5 }).ok()).data.fields_updated).toBe(1);
    expect(await rowOf(String(id))).toMatchObject({ status: 'shipped', weight_lb: '77.500' });
  });
});

describe('concurrent updates', () => {
  const SAME_CALLERS = rounds(100, 500);
  const DIFFERENT_CALLERS = rounds(60, 200);
  const NUMBER_ROUNDS = rounds(4, 30);

  test(`${SAME_CALLERS} callers with the same values make one change, one audit entry, one queued synchronisation and one delivery job`, async () => {
    const id = await addPackage();
    const fields = {
      weight: 8.125,
      user_code: 'IEX-1003',
      tracking_number: freshNumber(),
      description: 'Same',
    };
    const replies = await Promise.all(
      Array.from({ length: SAME_CALLERS }, (_, index) =>
        untilAdmitted(() => update(index % 2 ? 'admin' : 'warehouse', id, fields).answer()),
      ),
    );
    expect(replies.map(({ status }) => status)).toEqual(Array(SAME_CALLERS).fill(200));
    const counts = replies.map(({ data }) => data.fields_updated);
    expect(counts.filter((count) => count > 0)).toEqual([4]);
    const { audited, syncs, deliveryJobs } = await tracesOf(id);
    expect(audited).toHaveLength(1);
    expect(syncs).toMatchObject([{ status: 'queued', courier_id: IEX }]);
    expect(deliveryJobs).toEqual([deliveryJobOf(IEX)]);
  }, 120_000);

  test(`of ${DIFFERENT_CALLERS} callers with different values the last one wins, the audit log has no gap, and one synchronisation waits`, async () => {
    const id = await addPackage();
    const replies = await Promise.all(
      Array.from({ length: DIFFERENT_CALLERS }, (_, index) =>
        untilAdmitted(() => update('admin', id, { weight: index + 1 }).answer()),
      ),
    );
    expect(replies.map(({ data }) => data.fields_updated)).toEqual(Array(DIFFERENT_CALLERS).fill(1));
    const { audited, syncs, deliveryJobs } = await tracesOf(id);
    expect(audited).toHaveLength(DIFFERENT_CALLERS);
    expect(syncs).toMatchObject([{ status: 'queued', courier_id: IEX }]);
    expect(deliveryJobs).toEqual([deliveryJobOf(IEX)]);
    // Each change began with the value that another one wrote: an Eulerian path from the first weight to the last.
    const weightsOf = (side: string) => audited.map((entry) => (entry[side] as Row)['weight_lb']);
    const { weight_lb: last } = await rowOf(id);
    expect([...weightsOf('before'), Number(last).toFixed(3)].sort()).toEqual(
      ['4.250', ...weightsOf('after')].sort(),
    );
  }, 120_000);

  test('two packages and a scan that race for one number leave one package with it, and no caller gets a 500', async () => {
    for (let round = 0; round < NUMBER_ROUNDS; round += 1) {
      const [a, b] = [await addPackage(), await addPackage()];
      const wanted = freshNumber();
      const replies = await Promise.all([
        update('admin', a, { tracking_number: wanted }).answer(),
        update('warehouse', b, { tracking_number: wanted }).answer(),
        api.as('warehouse').receivePackage({ tracking_number: wanted, weight: 1 }).answer(),
      ]);
      const rows = await select('select id from packages where tracking_key = $1', [wanted]);
      expect(rows).toHaveLength(1);
      expect(replies.filter(({ status }) => status >= 500)).toEqual([]);
      expect(replies.slice(0, 2).filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
    }
  }, 60_000);

  test('concurrent updates and dispatches of the same packages all succeed with one synchronisation each and one delivery job', async () => {
    await service().owner.query(
      "update couriers set api_url_update_package = 'https://receiver.example.com/update' where id = $1",
      [IEX],
    );
    const ids: string[] = [];
    for (let n = 0; n < 20; n += 1) ids.push(await addPackage());
    const calls = Array.from({ length: 100 }, (_, index) =>
      untilAdmitted<Pick<Reply, 'status' | 'body'>>(() =>
        index % 5 === 0
          ? api.as('admin').listPackages({ action: 'queue_dispatch', package_ids: ids }).answer()
          : update('admin', String(ids[index % 20]), {
              weight: 1 + index,
              tracking_number: freshNumber(),
            }).answer(),
      ),
    );
    const replies = await Promise.all(calls);
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    for (const id of ids) {
      const { syncs, deliveryJobs } = await tracesOf(id);
      expect(syncs).toMatchObject([{ status: 'queued', courier_id: IEX }]);
      expect(deliveryJobs).toEqual([deliveryJobOf(IEX)]);
    }
  }, 60_000);
});
