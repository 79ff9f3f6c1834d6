import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { unchecked } from '../../../support/fixture/sent.js';
import { withCustomers, EDITORS, newCode, rowsOf, UNKNOWN_ID, distinguishable } from './customer-calls.js';

const { api, service, makeOne, stored, update, auditOf, list, auditEntries, create, remove, wrongTallies } =
  withCustomers();

describe('PUT /api/ManageCustomers.php', () => {
  test.each(EDITORS)('%s may change each field separately', async (as) => {
    const { courier_customer_id } = await makeOne({ branch: 'Old', email: 'old@mail.example' });
    const changes = {
      user_code: newCode(),
      first_name: 'New first',
      last_name: 'New last',
      branch: 'New branch',
      email: 'new@mail.example',
      is_active: 0,
    };
    for (const [field, value] of Object.entries(changes)) {
      const before = await stored(courier_customer_id);
      const reply = await update({ courier_customer_id, [field]: value }, as).answer();
      expect(reply).toMatchObject({ status: 200, body: { message: 'Customer updated.' } });
      const after = await stored(courier_customer_id);
      const wanted = field === 'is_active' ? false : value;
      expect(after).toEqual({ ...before, [field]: wanted, updated_at: after.updated_at });
      expect(after.updated_at.getTime()).toBeGreaterThanOrEqual(before.updated_at.getTime());
      expect((await auditOf(courier_customer_id)).at(-1)).toMatchObject({
        action: 'customer.updated',
        actor_id: DEMO.users[as as 'iex'],
        before: { [field]: before[field] },
        after: { [field]: wanted },
      });
    }
    expect(await auditOf(courier_customer_id)).toHaveLength(1 + Object.keys(changes).length);
  });

  test('returns the record as the list shows it', async () => {
    const { courier_customer_id } = await makeOne({ branch: 'B' });
    const reply = await update({ courier_customer_id, last_name: 'Answered' }).ok();
    expect([reply.data]).toEqual(rowsOf(await list({ search: 'Answered' }).answer()));
  });

  test('writes nothing if all values are equal, and the message says so', async () => {
    const fields = {
      first_name: 'Same',
      last_name: 'Same',
      branch: 'Same',
      email: 's@s.example',
      is_active: 1,
    };
    const one = await makeOne(fields);
    const before = await stored(one.courier_customer_id);
    const entries = await auditEntries();
    for (const body of [{ ...one, ...fields }, { courier_customer_id: one.courier_customer_id }]) {
      const reply = await update(body).ok();
      expect(reply.message).toMatch(/Nothing was changed/);
      expect(reply.data).toMatchObject(one);
    }
    expect(await stored(one.courier_customer_id)).toEqual(before);
    expect(await auditEntries()).toBe(entries);
  });

  test('blank text clears branch and email and is rejected for other fields', async () => {
    const { courier_customer_id } = await makeOne({ branch: 'B', email: 'e@mail.example' });
    await update({ courier_customer_id, branch: ' ', email: '' }).ok();
    expect(await stored(courier_customer_id)).toMatchObject({ branch: null, email: null });
    for (const field of ['user_code', 'first_name', 'last_name']) {
      for (const value of ['', ' ', null, 'x'.repeat(101)]) {
        const reply = await update({ courier_customer_id, [field]: value }).answer();
        expect([value, reply.status, reply.errors[0]?.field]).toEqual([value, 400, field]);
      }
    }
  });

  test('ignores courier, tenant, id and timestamps in the body', async () => {
    const { courier_customer_id } = await makeOne();
    const before = await stored(courier_customer_id);
    await update(
      {
        courier_customer_id,
        courier_id: DEMO.couriers.HRB,
        tenant_id: DEMO.tenants.two,
        id: UNKNOWN_ID,
        created_at: '2000-01-01 00:00:00',
        first_name: 'Mine',
      },
      'admin',
    ).ok();
    const after = await stored(courier_customer_id);
    expect(after).toEqual({ ...before, first_name: 'Mine', updated_at: after.updated_at });
  });

  test("rejects another customer's code with 409 and changes nothing, but accepts a sibling's code", async () => {
    const [one, other] = [await makeOne(), await makeOne()];
    const before = await stored(one.courier_customer_id);
    const taken = { ...one, user_code: other.user_code, first_name: 'Not stored' };
    await update(taken).refused(409, 'duplicate_user_code');
    expect(await stored(one.courier_customer_id)).toEqual(before);
    await update({ ...one, user_code: 'HRB-2002' }).ok();
  });

  test("a new code is applied to the customer's own pre-alerts only", async () => {
    const [one, other] = [await makeOne(), await makeOne()];
    await create({ user_code: one.user_code, first_name: 'Sibling', last_name: 'Sibling' }, 'hrb').ok();
    const announce = async (key: string, UserCode: string, TrackingNumber: string) => {
      const reply = await api.withKey(key).submitPrealert({ UserCode, TrackingNumber }).succeeded();
      return reply.data.prealert_id;
    };
    const { IEX, HRB } = DEMO.apiKeys;
    const own = [
      await announce(IEX, one.user_code, `A-${one.user_code}`),
      await announce(IEX, one.user_code, `B-${one.user_code}`),
    ];
    const others = [
      await announce(IEX, other.user_code, `C-${one.user_code}`),
      await announce(HRB, one.user_code, `D-${one.user_code}`),
    ];
    await service().owner.query("update prealerts set status = 'received' where id = $1", [own[1]]);
    const user_code = newCode();
    await update({ ...one, user_code }).ok();
    const codesOf = async (ids: string[]) => {
      const { rows } = await service().owner.query('select user_code from prealerts where id = any($1)', [
        ids,
      ]);
      return rows.map((row) => row.user_code).sort();
    };
    expect(await codesOf(own)).toEqual([user_code, user_code]);
    expect(await codesOf(others)).toEqual([one.user_code, other.user_code].sort());
    for (const id of own) {
      expect((await auditOf(id)).at(-1)).toMatchObject({
        action: 'prealert.user_code_changed',
        actor_id: DEMO.users.iex,
        before: { user_code: one.user_code },
        after: { user_code },
      });
    }
    // The package on its way finds its owner, although another customer has the old code by now.
    await create({ user_code: one.user_code, first_name: 'Newcomer', last_name: 'N' }).ok();
    const received = await api
      .as('warehouse')
      .receivePackage({ tracking_number: `A-${one.user_code}`, weight: 1, courier_id: DEMO.couriers.IEX })
      .succeeded();
    expect(received.data).toMatchObject({ matched_by: 'prealert', user_code });
  });

  test('packages keep the code and the name with which they were received', async () => {
    const one = await makeOne({ first_name: 'Before' });
    const body = { tracking_number: `KEEP-${one.user_code}`, weight: 1, user_code: one.user_code };
    const received = await api.as('warehouse').receivePackage(body).created();
    const row = async () => {
      const { rows } = await service().owner.query('select * from packages where id = $1', [
        received.data.package_id,
      ]);
      return rows[0];
    };
    const before = await row();
    expect(before).toMatchObject({ user_code: one.user_code, first_name: 'Before' });
    await update({ ...one, user_code: newCode(), first_name: 'After' }).ok();
    expect(await row()).toEqual(before);
    await remove({ query: { id: one.courier_customer_id } }).ok();
    expect(await row()).toEqual(before);
  });

  test('responds identically to missing, sibling and foreign customers and leaves them unchanged', async () => {
    const { courier_customer_id } = await makeOne();
    const { rows } = await service().owner.query('select id from customers where tenant_id = $1 limit 1', [
      DEMO.tenants.two,
    ]);
    const missing = await update({ courier_customer_id: UNKNOWN_ID, first_name: 'X' }, 'hrb').refused(
      404,
      'customer_not_found',
    );
    const missingToo = await remove({ query: { id: UNKNOWN_ID } }, 'hrb').answer();
    expect(distinguishable(missingToo)).toEqual(distinguishable(missing));
    for (const id of [courier_customer_id, rows[0].id]) {
      const before = await stored(id);
      // The user_code is already taken, but the response must not reveal it.
      const tries = [
        await update({ courier_customer_id: id, first_name: 'X' }, 'hrb').answer(),
        await update({ courier_customer_id: id, user_code: 'HRB-2001' }, 'hrb').answer(),
        await remove({ query: { id } }, 'hrb').answer(),
        await remove({ body: { courier_customer_id: id } }, 'hrb').answer(),
      ];
      for (const reply of tries) expect(distinguishable(reply)).toEqual(distinguishable(missing));
      expect(await stored(id)).toEqual(before);
    }
  });

  test('rejects anonymous callers and requires courier_customer_id', async () => {
    expect(await api.anonymous.updateCustomer(unchecked({})).answer()).toMatchObject({ status: 401 });
    for (const courier_customer_id of [undefined, 'x', '', null, 7]) {
      const reply = await update({ courier_customer_id, first_name: 'X' }).answer();
      expect(reply).toMatchObject({ status: 400, body: { errors: [{ field: 'courier_customer_id' }] } });
    }
  });
});

test('the tallies equal the counted rows after all tests above', async () => {
  expect(await wrongTallies()).toEqual([]);
});
