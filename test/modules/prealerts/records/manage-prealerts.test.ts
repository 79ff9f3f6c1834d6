import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { withService } from '../../../support/fixture/with-service.js';
import { unchecked } from '../../../support/fixture/sent.js';
import { distinguishable, makePrealertCalls, newNumber, UNKNOWN_ID } from './prealert-calls.js';

const fixture = withService();
const { api, service } = fixture;
const { submit, storedPrealert, auditOf } = makePrealertCalls(fixture);

describe('POST /api/ManagePrealerts', () => {
  const create = (body: Record<string, unknown>, as = 'manager') =>
    api.as(as).createPrealert(unchecked(body));
  const valid = () => ({
    tracking_number: newNumber(),
    user_code: 'IEX-1001',
    vendor: 'Shein',
    courier_id: DEMO.couriers.IEX,
  });

  test('staff create a pre-alert for a named courier', async () => {
    const body = valid();
    const reply = await create(body).created();
    const id = reply.data.prealert_id;
    expect(await storedPrealert(id)).toMatchObject({
      courier_id: DEMO.couriers.IEX,
      vendor: 'Shein',
      status: 'pending',
    });
    expect(await auditOf(id)).toMatchObject([
      { action: 'prealert.created', actor_kind: 'user', actor_id: DEMO.users.manager },
    ]);
  });

  test('requires a courier_id from staff and responds 404 identically to unknown and foreign ones', async () => {
    const { courier_id: _, ...without } = valid();
    expect(await create(without).answer()).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'courier_id' }] },
    });
    const unknown = await create({ ...valid(), courier_id: UNKNOWN_ID }).answer();
    const foreign = await create({ ...valid(), courier_id: DEMO.couriers.TWO }).answer();
    expect(unknown).toMatchObject({ status: 404, body: { code: 'courier_not_found' } });
    expect(distinguishable(foreign)).toEqual(distinguishable(unknown));
  });

  test("uses the courier's own account, whatever courier_id it sends", async () => {
    const reply = await create({ ...valid(), courier_id: DEMO.couriers.HRB }, 'iex').created();
    expect((await storedPrealert(reply.data.prealert_id)).courier_id).toBe(DEMO.couriers.IEX);
    expect(await create({ ...valid(), user_code: 'HRB-2001' }, 'iex').answer()).toMatchObject({
      status: 400,
    });
  });

  test('requires an active customer of the courier', async () => {
    for (const user_code of ['IEX-1200', 'HRB-2001', 'NOBODY']) {
      expect(await create({ ...valid(), user_code }).answer()).toMatchObject({
        status: 400,
        body: { code: 'unknown_user_code' },
      });
    }
  });

  test('rejects a number that the courier has already announced with 409', async () => {
    const body = valid();
    await create(body).created();
    expect(await create(body).answer()).toMatchObject({
      status: 409,
      body: { code: 'duplicate_tracking_number' },
    });
  });
});

describe('PUT and DELETE /api/ManagePrealerts', () => {
  const makeOne = async () => {
    const tracking_number = newNumber();
    const reply = await submit({
      UserCode: 'IEX-1001',
      TrackingNumber: tracking_number,
      Description: 'old',
      Reference: 'R',
    }).succeeded();
    return { prealert_id: reply.data.prealert_id, tracking_number };
  };
  const replace = (body: Record<string, unknown>, as = 'manager') =>
    api.as(as).replacePrealert(unchecked(body));
  const remove = (prealert_id: string, as = 'manager') => api.as(as).deletePrealert({ prealert_id });

  test('PUT replaces the editable fields, clears an omitted description and returns the record', async () => {
    const { prealert_id } = await makeOne();
    const tracking_number = newNumber();
    const reply = await replace(
      { prealert_id, tracking_number, user_code: 'IEX-1002', vendor: 'Temu' },
      'iex',
    ).ok();
    expect(reply.data).toMatchObject({
      prealert_id,
      tracking_number,
      user_code: 'IEX-1002',
      vendor: 'Temu',
      description: null,
      reference: 'R',
      courier_name: 'Island Express',
    });
    const [, entry] = await auditOf(prealert_id);
    expect(entry).toMatchObject({
      action: 'prealert.replaced',
      before: { description: 'old' },
      after: { description: null },
    });
  });

  test('PUT rejects a number that the courier has already announced with 409 and changes nothing', async () => {
    const [one, other] = [await makeOne(), await makeOne()];
    const before = await storedPrealert(one.prealert_id);
    const reply = await replace({
      ...one,
      tracking_number: other.tracking_number,
      user_code: 'IEX-1002',
      vendor: 'x',
    }).answer();
    expect(reply.status).toBe(409);
    expect(await storedPrealert(one.prealert_id)).toEqual(before);
  });

  test('PUT accepts the unchanged number', async () => {
    const one = await makeOne();
    expect(await replace({ ...one, user_code: 'IEX-1002', vendor: 'x' }).status()).toBe(200);
  });

  test("PUT rejects a sibling courier's customer with 400", async () => {
    const one = await makeOne();
    expect(await replace({ ...one, user_code: 'HRB-2001', vendor: 'x' }).answer()).toMatchObject({
      status: 400,
    });
  });

  test('DELETE removes the record permanently and audits it', async () => {
    const { prealert_id, tracking_number } = await makeOne();
    expect(await remove(prealert_id, 'iex').status()).toBe(200);
    expect(await storedPrealert(prealert_id)).toBeUndefined();
    const entries = await auditOf(prealert_id);
    expect(entries.at(-1)).toMatchObject({
      action: 'prealert.deleted',
      before: { tracking_number },
      after: null,
    });
    expect(await remove(prealert_id).status()).toBe(404);
  });

  test('responds to records of siblings and other tenants as if they did not exist, and changes nothing', async () => {
    const { prealert_id } = await makeOne();
    const { rows } = await service().owner.query('select id from prealerts where tenant_id = $1', [
      DEMO.tenants.two,
    ]);
    const fields = { tracking_number: newNumber(), user_code: 'HRB-2001', vendor: 'x' };
    const missing = await remove(UNKNOWN_ID, 'hrb').answer();
    expect(missing).toMatchObject({ status: 404, body: { code: 'prealert_not_found' } });
    for (const id of [prealert_id, rows[0].id]) {
      expect(distinguishable(await remove(id, 'hrb').answer())).toEqual(distinguishable(missing));
      expect(distinguishable(await replace({ prealert_id: id, ...fields }, 'hrb').answer())).toEqual(
        distinguishable(missing),
      );
      expect(await storedPrealert(id)).toMatchObject({ id });
    }
  });
});

test('the tallies equal the counted rows after all tests above', async () => {
  const counted = await service().owner.query(
    'select courier_id, status, count(*)::int as n from prealerts group by 1, 2 order by 1, 2',
  );
  const tallied = await service().owner.query(
    'select courier_id, status, sum(total)::int as n from prealert_tallies group by 1, 2 having sum(total) <> 0 order by 1, 2',
  );
  expect(tallied.rows).toEqual(counted.rows);
});
