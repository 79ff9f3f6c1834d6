import { expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { makeContext } from '../../../../src/platform/context/request-context.js';
import { lockAdministrators } from '../../../../src/platform/db/locks.js';
import { withService } from '../../../support/fixture/with-service.js';
import { until } from '../../../support/service/processes.js';
import { makeTeamCalls } from './team-calls.js';

const POOL = 10;
const FLOOD = 200;

const fixture = withService({ poolSize: POOL });
const { api, db, service } = fixture;
const { makeColleague, manageTeam, manageWith } = makeTeamCalls(fixture);

/** Holds the lock of all changes of users of the tenant during the work. */
async function whileLocked(work: () => Promise<void>): Promise<void> {
  const client = await service().owner.connect();
  try {
    await client.query('begin');
    await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [
      `administrators ${DEMO.tenants.demo}`,
    ]);
    await work();
  } finally {
    await client.query('rollback');
    client.release();
  }
}

const countLocked = async (): Promise<number> => {
  const [row] = await db.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity
     where datname = current_database() and application_name = 'crossdock' and wait_event_type = 'Lock'`,
  );
  return row?.count ?? 0;
};

test(`${FLOOD} changes of the team by one owner at once use one connection, and all others are served`, async () => {
  const [owner, target] = [await makeColleague(), await makeColleague()];
  const flood: Promise<{ status: number }>[] = [];
  await whileLocked(async () => {
    for (let sent = 0; sent < FLOOD; sent += 1)
      flood.push(manageWith(owner.token, { action: 'disable', user_id: target.id }).answer());
    await until(async () => (await countLocked()) > 0);
    for (let round = 0; round < 5; round += 1) {
      await api.as('two/admin').listCustomers().ok();
      await api.as('admin').listCustomers().ok();
      await api.as('hrb').listCustomers().ok();
      await api.as('iex').listCustomers().ok();
      expect(await countLocked()).toBe(1);
    }
  });
  const statuses = (await Promise.all(flood)).map(({ status }) => status);
  expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(1);
  expect(await db.user(target.id)).toMatchObject({ is_active: false });
}, 60_000);

test('while the changes of an owner wait, a manager changes the team as soon as the lock is free', async () => {
  const [owner, target, colleague] = [await makeColleague(), await makeColleague(), await makeColleague()];
  const ended: string[] = [];
  let flood: Promise<unknown>[] = [];
  let managed: Promise<unknown> | undefined;
  await whileLocked(async () => {
    flood = Array.from({ length: 20 }, () =>
      manageWith(owner.token, { action: 'disable', user_id: target.id })
        .answer()
        .then(() => ended.push('owner')),
    );
    await until(async () => (await countLocked()) === 1);
    managed = manageTeam({ action: 'disable', user_id: colleague.id })
      .ok()
      .then(() => ended.push('manager'));
    await until(async () => (await countLocked()) === 2);
  });
  await managed;
  await Promise.all(flood);
  expect(ended.indexOf('manager')).toBeLessThan(10);
});

test('in the scope of the tenant, a request uses the share of its courier', async () => {
  const { id } = await makeColleague();
  const { token_version: tokenVersion } = await db.user(id);
  const caller = {
    kind: 'user' as const,
    tenantId: DEMO.tenants.demo,
    userId: id,
    role: 'courier' as const,
    courierId: DEMO.couriers.IEX,
    tokenVersion,
    expiresAt: Math.ceil(Date.now() / 1_000) + 600,
  };
  const change = () =>
    makeContext(service().db, caller, 'request')
      .asTenant()
      .write((tx) => tx.count(lockAdministrators(tx.tenantId)));
  let changes: Promise<unknown>[] = [];
  await whileLocked(async () => {
    changes = Array.from({ length: POOL }, change);
    // 40 % of the connections.
    await until(async () => (await countLocked()) === 4);
    for (let round = 0; round < 5; round += 1) {
      await api.as('admin').listCustomers().ok();
      await api.as('two/admin').listCustomers().ok();
      expect(await countLocked()).toBe(4);
    }
  });
  await Promise.all(changes);
});
