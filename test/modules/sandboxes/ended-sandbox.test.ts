import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { deleteExpired } from '../../../src/jobs/retention.js';
import { makeSandbox } from '../../support/fixture/sandboxes.js';
import { withService } from '../../support/fixture/with-service.js';

// What stays of a sandbox that has ended, and what does not.

const { HRB } = DEMO.couriers;
const { api, db, service } = withService();

describe('a sandbox that has ended', () => {
  test('has nothing encrypted', async () => {
    const { sandboxId } = await makeSandbox(service());
    await db.query(`update couriers set webhook_secret_cipher = 'v1.a', webhook_previous_secret_cipher = 'v1.b',
      webhook_secret_rotated_at = now(), api_token_cipher = 'v1.c' where tenant_id = '${sandboxId}'`);
    await api.as('iex').manageSandbox({ action: 'end' }).ok();
    const ciphers = await db.query<{ place: string }>(
      `select table_name || '.' || column_name as place from information_schema.columns
       where table_schema = 'public' and column_name like '%\\_cipher'`,
    );
    expect(ciphers.length).toBeGreaterThan(5);
    for (const { place } of ciphers) {
      const [table, column] = place.split('.');
      const rows = await db.query(
        `select from ${table} where tenant_id = '${sandboxId}' and ${column} is not null`,
      );
      expect([place, rows.length]).toEqual([place, 0]);
    }
  });

  test('is left out by frequent jobs after a day, and what is past its retention is deleted for ever after', async () => {
    const { sandboxId, courierId } = await makeSandbox(service());
    const tenantsOf = async (list: string) =>
      (await db.query<{ id: string }>(`select id from ${list}() as id`)).map(({ id }) => id);
    await db.query(
      `insert into carrier_states (tenant_id, courier_id, tracking_key, status, updated_at)
       values ('${sandboxId}', '${courierId}', 'OLD1', 'moving', now() - interval '181 days')`,
    );
    await api.as('iex').manageSandbox({ action: 'end' }).ok();
    expect(await tenantsOf('open_tenants')).toContain(sandboxId);
    await db.query(`update sandboxes set ended_at = now() - interval '25 hours' where id = '${sandboxId}'`);
    expect(await tenantsOf('open_tenants')).not.toContain(sandboxId);
    expect(await tenantsOf('open_tenants')).toContain(DEMO.tenants.demo);
    // Background migrations reach every row.
    expect(await tenantsOf('all_tenants')).toContain(sandboxId);
    await deleteExpired({ db: service().db, stopping: new AbortController().signal });
    expect(await db.count('carrier_states', { tenant_id: sandboxId })).toBe(0);
  });

  test('counts for no share of the connections, open or ended', async () => {
    const count = async () =>
      (await db.query<{ n: number }>('select count_live_tenants() as n')).map(({ n }) => n);
    const before = await count();
    await makeSandbox(service());
    expect(await count()).toEqual(before);
  });

  test('leaves what it has used up of its quotas to the next one', async () => {
    const first = await makeSandbox(service());
    await db.query(
      `insert into courier_quotas (tenant_id, courier_id, kind, period_start, used)
       values ('${first.sandboxId}', '${first.courierId}', 'feed_events', date_trunc('day', now()), 41)`,
    );
    await db.query(
      `insert into write_allowances (tenant_id, principal_kind, principal_id, courier_id, used, settled_at)
       values ('${first.sandboxId}', 'courier', '${first.courierId}', '${first.courierId}', 1099511627776, now())
       on conflict (tenant_id, principal_kind, principal_id) do update set used = excluded.used`,
    );
    const second = await makeSandbox(service());
    const quotas = await db.query(
      `select kind, used::int from courier_quotas where courier_id = '${second.courierId}'`,
    );
    expect(quotas).toEqual([{ kind: 'feed_events', used: 41 }]);
    const allowances = await db.query<{ used: string }>(
      `select used from write_allowances where principal_id = '${second.courierId}'`,
    );
    expect(allowances.map(({ used }) => Number(used))).toEqual([1_099_511_627_776]);
  });
});

test('a courier that is deactivated has no sandbox any more, and may make another when it is active again', async () => {
  const sandbox = await makeSandbox(service(), 'hrb');
  expect((await sandbox.send('listPrealerts')).status).toBe(200);
  await api.as('admin').manageCouriers({ action: 'deactivate', courier_id: HRB }).ok();
  expect((await sandbox.send('listPrealerts')).status).toBe(401);
  expect((await sandbox.send('submitPrealert', { key: sandbox.key, body: {} })).status).toBe(403);
  const { data } = await api.as('admin').listAuditEntries({ entity: 'courier', entity_id: HRB }).ok();
  expect(data.map(({ action }) => action)).toEqual(
    expect.arrayContaining(['courier.sandbox_ended', 'courier.deactivated']),
  );
  await api.as('admin').manageCouriers({ action: 'activate', courier_id: HRB }).ok();
  expect((await api.as('hrb').getSandbox({}).ok()).data.sandbox).toBeNull();
  await makeSandbox(service(), 'hrb');
});
