import { expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { QUOTAS } from '../../../../generated/bounds.js';
import { withService } from '../../../support/fixture/with-service.js';
import { fresh, makeCourierCalls } from './courier-calls.js';

// A courier has allowances of its own, so the couriers that one user can create are limited.

const fixture = withService();
const { db } = fixture;
const { manage } = makeCourierCalls(fixture);

const { new_couriers: ofUser, staff_new_couriers: ofStaff } = QUOTAS;

const setUsed = (quota: 'new_couriers' | 'staff_new_couriers', id: string, used: number) =>
  db.query(
    `insert into principal_quotas (tenant_id, principal_kind, principal_id, kind, period_start, used)
     values ($1, $2, $3, $4, date_trunc('day', now() at time zone 'UTC') at time zone 'UTC', $5)
     on conflict (tenant_id, principal_kind, principal_id, kind, period_start) do update set used = excluded.used`,
    [DEMO.tenants.demo, quota === 'new_couriers' ? 'user' : 'staff', id, quota, used],
  );

const couriers = () => db.count('couriers', { tenant_id: DEMO.tenants.demo });
const usedBy = async (id: string) =>
  (await db.query<{ used: string }>('select used from principal_quotas where principal_id = $1', [id])).map(
    ({ used }) => Number(used),
  );

test('a user creates the couriers of a busy day of 40, and no more than 50', async () => {
  for (let n = 0; n < 40; n += 1) await manage(fresh(), 'manager').ok();
  expect(await usedBy(DEMO.users.manager)).toEqual([40]);
  for (let n = 40; n < ofUser.limit; n += 1) await manage(fresh(), 'manager').ok();
  const before = await couriers();
  const { message } = await manage(fresh(), 'manager').refused(429, 'quota_exceeded');
  expect(message).toContain(`The limit is ${ofUser.limit} new couriers per day`);
  const answer = await manage(fresh(), 'manager').answer();
  expect(answer.headers.get('ratelimit')).toContain('new-couriers');
  expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
  expect(await couriers()).toBe(before);
  // Another user still can, and what has not created a courier is not counted.
  const taken = fresh();
  await manage(taken, 'admin').ok();
  await manage(taken, 'admin').refused(409, 'duplicate_courier_code');
  expect(await usedBy(DEMO.users.admin)).toEqual([1]);
}, 120_000);

test('the users of the staff together have a limit, so that new users do not multiply it', async () => {
  await setUsed('new_couriers', DEMO.users.admin, 0);
  await setUsed('staff_new_couriers', DEMO.tenants.demo, ofStaff.limit - 1);
  await manage(fresh(), 'admin').ok();
  const before = await couriers();
  const { message } = await manage(fresh(), 'admin').refused(429, 'quota_exceeded');
  expect(message).toContain(`together created ${ofStaff.limit} couriers`);
  expect(await couriers()).toBe(before);
  await manage(fresh(), 'two/admin').ok();
});

test('requests at the same time do not pass the limit', async () => {
  await setUsed('staff_new_couriers', DEMO.tenants.demo, 0);
  await setUsed('new_couriers', DEMO.users.admin, ofUser.limit - 2);
  const before = await couriers();
  const answers = await Promise.all(Array.from({ length: 6 }, () => manage(fresh(), 'admin').answer()));
  const codes = answers.map(({ status }) => status);
  expect(codes.filter((status) => status === 200)).toHaveLength(2);
  expect(await couriers()).toBe(before + 2);
  expect(await usedBy(DEMO.tenants.demo)).toEqual([2]);
});
