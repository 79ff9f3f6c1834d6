import { beforeEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { emptyQueue } from '../../../support/receivers/outbound.js';
import { withService } from '../../../support/fixture/with-service.js';
import { unchecked } from '../../../support/fixture/sent.js';
import { makeUpdates, TENANT, deliveryJobOf, NO_TRACES, freshNumber } from './package-updates.js';

const { IEX, HRB } = DEMO.couriers;

const fixture = withService({ poolSize: 30 });
const { api, service } = fixture;
const { select, addPackage, update, rowOf, tracesOf } = makeUpdates(fixture);
beforeEach(() => emptyQueue(service().owner));

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
