import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { rounds } from '../../../support/harness/effort.js';
import { emptyQueue } from '../../../support/receivers/outbound.js';
import { withService } from '../../../support/fixture/with-service.js';
import { unchecked } from '../../../support/fixture/sent.js';
import { makeUpdates, type Row, deliveryJobOf, freshNumber, NO_TRACES } from './package-updates.js';

const { IEX, HRB } = DEMO.couriers;

const fixture = withService({ poolSize: 30 });
const { api, service } = fixture;
const { addPackage, rowOf, update, tracesOf, select } = makeUpdates(fixture);
beforeEach(() => emptyQueue(service().owner));

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
