import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { type Call } from '../../../support/service/service.js';
import { withCustomers, EDITORS } from './customer-calls.js';

const { api, makeOne, remove, stored, auditOf, create, wrongTallies } = withCustomers();

describe('DELETE /api/ManageCustomers.php', () => {
  test('deletes by query, body or both, and audits the deleted customer', async () => {
    const calls: ((id: string) => Call)[] = [
      (id) => ({ query: { id } }),
      (courier_customer_id) => ({ body: { courier_customer_id } }),
      (id) => ({ query: { id }, body: { courier_customer_id: id.toUpperCase() } }),
    ];
    for (const as of EDITORS) {
      for (const callFor of calls) {
        const { courier_customer_id: id, user_code } = await makeOne({
          branch: 'B',
          email: 'e@mail.example',
        });
        const reply = await remove(callFor(id), as).answer();
        expect(reply).toMatchObject({ status: 200, body: { data: { courier_customer_id: id } } });
        expect(await stored(id)).toBeUndefined();
        expect((await auditOf(id)).at(-1)).toMatchObject({
          action: 'customer.deleted',
          actor_id: DEMO.users[as as 'iex'],
          before: { user_code, branch: 'B', email: 'e@mail.example', courier_id: DEMO.couriers.IEX },
          after: null,
        });
        expect(await remove(callFor(id), as).status()).toBe(404);
      }
    }
  });

  test('accepts a JSON content type without a body', async () => {
    const HEADERS: Record<string, string>[] = [
      { 'content-type': 'application/json' },
      { 'content-type': 'application/json; charset=utf-8', 'content-length': '0' },
      { 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
    ];
    for (const headers of HEADERS) {
      const { courier_customer_id } = await makeOne();
      const reply = await remove({ query: { id: courier_customer_id }, headers }).answer();
      expect([headers, reply.status]).toEqual([headers, 200]);
      expect(await stored(courier_customer_id)).toBeUndefined();
    }
  });

  test('rejects a missing id and two different ids with 400 and deletes nothing', async () => {
    const [one, other] = [await makeOne(), await makeOne()];
    const id = one.courier_customer_id;
    const calls: [Call, string][] = [
      [{}, 'id'],
      [{ body: {} }, 'id'],
      [{ body: { id } }, 'id'],
      [{ query: { id: 'x' } }, 'id'],
      [{ query: { id: '' }, body: one }, 'id'],
      [{ query: { id: [id, id] } }, 'id'],
      [{ query: { id }, body: { courier_customer_id: other.courier_customer_id } }, 'courier_customer_id'],
      [{ query: { id }, body: { courier_customer_id: null } }, 'courier_customer_id'],
      [{ body: { courier_customer_id: 'x' } }, 'courier_customer_id'],
    ];
    for (const [call, field] of calls) {
      const reply = await remove(call).answer();
      expect([call, reply.status, reply.errors[0]?.field]).toEqual([call, 400, field]);
    }
    for (const each of [id, other.courier_customer_id])
      expect(await stored(each)).toMatchObject({ id: each });
    expect(await api.anonymous.deleteCustomer(undefined, { query: { id } }).answer()).toMatchObject({
      status: 401,
    });
  });

  test('keeps the pre-alerts, without a name until another customer has the code', async () => {
    const one = await makeOne({ first_name: 'Gone' });
    const number = `LEFT-${one.user_code}`;
    await api
      .withKey(DEMO.apiKeys.IEX)
      .submitPrealert({ UserCode: one.user_code, TrackingNumber: number })
      .succeeded();
    await remove({ query: { id: one.courier_customer_id } }).ok();
    const shown = () => api.as('iex').listPrealerts({ search: number });
    expect((await shown().ok()).data).toMatchObject([{ user_code: one.user_code, first_name: null }]);
    await create({ user_code: one.user_code, first_name: 'Next', last_name: 'N' }).ok();
    expect((await shown().ok()).data).toMatchObject([{ user_code: one.user_code, first_name: 'Next' }]);
  });
});

test('the tallies equal the counted rows after all tests above', async () => {
  expect(await wrongTallies()).toEqual([]);
});
