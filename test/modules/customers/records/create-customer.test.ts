import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { withCustomers, newCode, EDITORS, rowsOf, UNKNOWN_ID, distinguishable } from './customer-calls.js';

const { api, service, create, stored, auditOf, list, makeOne, update, auditEntries, remove, wrongTallies } =
  withCustomers();

describe('POST /api/ManageCustomers.php', () => {
  const valid = () => ({ user_code: newCode(), first_name: 'Marcia', last_name: 'Campbell' });

  test.each(EDITORS)('%s may create a customer, stored without white space around the texts', async (as) => {
    const body = {
      user_code: `  ${newCode()} `,
      first_name: ' Ünï ✓',
      last_name: '%_\\',
      branch: 'New Kingston',
      email: 'a@b.example',
      is_active: 0,
      courier_id: DEMO.couriers.IEX,
    };
    const reply = await create(body, as).ok();
    expect(reply).toMatchObject({ status: 200, body: { message: 'Customer created.' } });
    expect(Object.keys(reply.data)).toEqual(['id']);
    const { id } = reply.data;
    const trimmed = { user_code: body.user_code.trim(), first_name: 'Ünï ✓' };
    expect(await stored(id)).toMatchObject({
      ...body,
      ...trimmed,
      is_active: false,
      tenant_id: DEMO.tenants.demo,
    });
    const [entry, ...more] = await auditOf(id);
    expect(more).toEqual([]);
    expect(entry).toMatchObject({
      action: 'customer.created',
      entity: 'customer',
      actor_kind: 'user',
      actor_id: DEMO.users[as as 'iex'],
      before: null,
      after: { ...body, ...trimmed, is_active: false },
    });
    expect(rowsOf(await list({ search: body.user_code }).answer())).toMatchObject([
      { courier_customer_id: id },
    ]);
  });

  test('stores no branch and email and an active customer by default', async () => {
    const { courier_customer_id } = await makeOne();
    expect(await stored(courier_customer_id)).toMatchObject({ branch: null, email: null, is_active: true });
    const blank = await makeOne({ branch: ' \t', email: '' });
    expect(await stored(blank.courier_customer_id)).toMatchObject({ branch: null, email: null });
  });

  test("takes its times from the database's clock, as the audit trail does", async () => {
    const { courier_customer_id: id } = await makeOne();
    await update({ courier_customer_id: id, first_name: 'Later' }).ok();
    const { rows } = await service().owner.query(
      `select c.created_at = min(e.at) as is_created_at, c.updated_at = max(e.at) as is_updated_at
       from customers c join audit_entries e on e.entity_id = c.id where c.id = $1 group by c.created_at, c.updated_at`,
      [id],
    );
    expect(rows).toEqual([{ is_created_at: true, is_updated_at: true }]);
  });

  test('rejects a code that the courier already has with 409, but accepts other cases and codes of siblings', async () => {
    const body = valid();
    await create(body).ok();
    const before = await auditEntries();
    for (const as of EDITORS) {
      await create({ ...body, first_name: 'Other', courier_id: DEMO.couriers.IEX }, as).refused(
        409,
        'duplicate_user_code',
      );
    }
    expect(await auditEntries()).toBe(before);
    expect(await create({ ...body, user_code: `${body.user_code}\u200b ` }).status()).toBe(409);
    await create({ ...body, user_code: body.user_code.toLowerCase() }).ok();
    await create(body, 'hrb').ok();
    await create({ ...body, user_code: 'HRB-2001' }).ok();
  });

  test('requires a courier_id from staff and responds 404 identically to unknown and foreign ones', async () => {
    const body = valid();
    expect(await create(body, 'admin').answer()).toMatchObject({
      status: 400,
      body: { code: 'validation_failed', errors: [{ field: 'courier_id', code: 'required' }] },
    });
    const unknown = await create({ ...body, courier_id: UNKNOWN_ID }, 'manager').refused(
      404,
      'courier_not_found',
    );
    const foreign = await create({ ...body, courier_id: DEMO.couriers.TWO }, 'manager').answer();
    expect(distinguishable(foreign)).toEqual(distinguishable(unknown));
  });

  test("uses the courier's own account, whatever courier_id it sends", async () => {
    for (const courier_id of [DEMO.couriers.HRB, DEMO.couriers.TWO, UNKNOWN_ID]) {
      const reply = await create({ ...valid(), courier_id }).ok();
      expect((await stored(reply.data.id)).courier_id).toBe(DEMO.couriers.IEX);
    }
  });

  test('the warehouse role may list but not change customers', async () => {
    const { courier_customer_id } = await makeOne();
    const replies = [
      await create({ ...valid(), courier_id: DEMO.couriers.IEX }, 'warehouse').answer(),
      await update({ courier_customer_id, first_name: 'X' }, 'warehouse').answer(),
      await remove({ query: { id: courier_customer_id } }, 'warehouse').answer(),
    ];
    for (const reply of replies)
      expect(reply).toMatchObject({ status: 403, body: { status: 'fail', code: 'permission_denied' } });
    await list({}, 'warehouse').ok();
  });

  test.each([
    ['user_code', '', 'x'.repeat(101), ' ', '\u3000', 12, null, undefined],
    ['first_name', '', 'x'.repeat(101), '\t', true, null, undefined],
    ['last_name', '', 'x'.repeat(101), '\n', [], null, undefined],
    ['branch', 'x'.repeat(101), 7, null],
    ['email', 'x', '@', 'a@', '@b', 'a b@c', 'a@b@c', 'a@b\r\nBcc: c@d', `${'x'.repeat(250)}@b.cd`, 7, null],
    ['is_active', 2, -1, '1', true, 0.5, null],
    ['courier_id', 'x', '', null, 7],
  ])('rejects invalid values of %s and names the field', async (field, ...values) => {
    const before = await auditEntries();
    for (const value of values) {
      const reply = await create({ ...valid(), [field]: value }).answer();
      expect([value, reply.status, reply.errors[0]?.field]).toEqual([value, 400, field]);
    }
    expect(await auditEntries()).toBe(before);
  });

  test('counts lengths in characters and accepts the limit', async () => {
    let names = 0;
    const long = (length: number) => '😀'.repeat(length - 6) + String((names += 1)).padStart(6, '0');
    const body = { user_code: long(100), first_name: long(100), last_name: long(100), branch: long(100) };
    const reply = await create(body).ok();
    expect(await stored(reply.data.id)).toMatchObject(body);
  });

  test('accepts pre-alerts for a new customer at once, but not for an inactive one', async () => {
    const announce = (UserCode: string) =>
      api.withKey(DEMO.apiKeys.IEX).submitPrealert({ UserCode, TrackingNumber: `FOR-${UserCode}` });
    await announce((await makeOne()).user_code).created();
    expect(await announce((await makeOne({ is_active: 0 })).user_code).status()).toBe(400);
  });
});

test('the tallies equal the counted rows after all tests above', async () => {
  expect(await wrongTallies()).toEqual([]);
});
