import { expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { rounds } from '../../support/harness/effort.js';
import { untilAdmitted, type Reply } from '../../support/service/service.js';
import { withService } from '../../support/fixture/with-service.js';
import { unchecked } from '../../support/fixture/sent.js';

const { api, service } = withService({ poolSize: 20 });

const CALLERS = rounds(50, 200);
const CREATE_ROUNDS = rounds(1, 5);

const tally = (replies: Reply[]) =>
  Object.fromEntries(
    [...new Set(replies.map(({ status }) => status))]
      .sort()
      .map((status) => [status, replies.filter((reply) => reply.status === status).length]),
  );

const callers = (call: (index: number) => Promise<Reply>) =>
  Promise.all(Array.from({ length: CALLERS }, (_, index) => untilAdmitted(() => call(index))));

const create = (body: object, as = 'iex') =>
  api.as(as).createCustomer(unchecked({ first_name: 'F', last_name: 'L', ...body }));

async function count(statement: string, ...values: unknown[]): Promise<number> {
  const { rows } = await service().owner.query<{ n: number }>(statement, values);
  return rows[0]?.n ?? -1;
}

test(`of ${CALLERS} callers who create one code at once, one gets 200 and ${CALLERS - 1} get 409, with one row and one audit entry`, async () => {
  for (let round = 0; round < CREATE_ROUNDS; round += 1) {
    const user_code = `RACE-${round}`;
    const replies = await callers((index) =>
      create({ user_code, courier_id: DEMO.couriers.IEX }, index % 2 ? 'iex' : 'manager').answer(),
    );
    expect(tally(replies)).toEqual({ 200: 1, 409: CALLERS - 1 });
    const winner = replies.find(({ status }) => status === 200)?.body['data'].id;
    expect(await count('select count(*)::int as n from customers where user_code = $1', user_code)).toBe(1);
    expect(await count('select count(*)::int as n from audit_entries where entity_id = $1', winner)).toBe(1);
    expect(
      await count("select count(*)::int as n from audit_entries where after ->> 'user_code' = $1", user_code),
    ).toBe(1);
  }
}, 120_000);

test(`of ${CALLERS} customers changed to one code at once, one gets it and the others are unchanged`, async () => {
  const ids: string[] = [];
  const made = await callers((index) => create({ user_code: `WANTS-${index}` }).answer());
  for (const reply of made) ids.push(String(reply.body['data'].id));
  const replies = await callers((index) =>
    api
      .as('iex')
      .updateCustomer({ courier_customer_id: ids[index], user_code: 'WANTED', first_name: 'Winner' })
      .answer(),
  );
  expect(tally(replies)).toEqual({ 200: 1, 409: CALLERS - 1 });
  expect(await count("select count(*)::int as n from customers where first_name = 'Winner'")).toBe(1);
  expect(await count("select count(*)::int as n from customers where user_code like 'WANTS-%'")).toBe(
    CALLERS - 1,
  );
}, 120_000);

test(`of ${CALLERS} callers who delete one customer, one gets 200 and ${CALLERS - 1} get 404, with one audit entry`, async () => {
  const made = await create({ user_code: 'DOOMED' }).ok();
  const { id } = made.data;
  const replies = await callers(() => api.as('iex').deleteCustomer(undefined, { query: { id } }).answer());
  expect(tally(replies)).toEqual({ 200: 1, 404: CALLERS - 1 });
  expect(
    await count(
      "select count(*)::int as n from audit_entries where entity_id = $1 and action = 'customer.deleted'",
      id,
    ),
  ).toBe(1);
}, 120_000);

test(`the same change sent ${CALLERS} times at once is applied and audited once`, async () => {
  const made = await create({ user_code: 'CHANGED' }).ok();
  const { id } = made.data;
  const replies = await callers(() =>
    api.as('iex').updateCustomer({ courier_customer_id: id, branch: 'Once' }).answer(),
  );
  expect(tally(replies)).toEqual({ 200: CALLERS });
  const changed = replies.filter(({ body }) => body['message'] === 'Customer updated.');
  expect(changed).toHaveLength(1);
  expect(
    await count(
      "select count(*)::int as n from audit_entries where entity_id = $1 and action = 'customer.updated'",
      id,
    ),
  ).toBe(1);
}, 120_000);

test(`tallies stay correct while ${CALLERS} callers of two couriers create, move and delete customers`, async () => {
  const work = async (index: number) => {
    const as = index % 2 ? 'iex' : 'hrb';
    const branch = `Branch ${index % 3}`;
    const made = await untilAdmitted(() => create({ user_code: `COUNT-${index}`, branch }, as).answer());
    if (made.status !== 200) return made;
    const { id } = made.data;
    const moved = { courier_customer_id: id, branch: `Branch ${index % 5}` };
    const updated = await untilAdmitted(() => api.as(as).updateCustomer(moved).answer());
    if (index % 4 > 0 || updated.status !== 200) return updated;
    return untilAdmitted(() => api.as(as).deleteCustomer(undefined, { query: { id } }).answer());
  };
  const replies = await callers(work);
  expect(tally(replies)).toEqual({ 200: CALLERS });
  const { rows } = await service().owner.query(
    `with counted as (
       select tenant_id, courier_id, '' as branch, count(*)::int as n from customers group by 1, 2
       union all
       select tenant_id, courier_id, branch, count(*)::int from customers where branch is not null group by 1, 2, 3
     ), tallied as (
       select tenant_id, courier_id, branch, sum(total)::int as n from customer_tallies group by 1, 2, 3 having sum(total) <> 0
     )
     select * from counted full join tallied using (tenant_id, courier_id, branch, n) where counted is null or tallied is null`,
  );
  expect(rows).toEqual([]);
}, 120_000);
