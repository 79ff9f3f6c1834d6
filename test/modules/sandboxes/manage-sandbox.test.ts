import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { makeSandbox } from '../../support/fixture/sandboxes.js';
import { withService } from '../../support/fixture/with-service.js';

const { IEX, HRB } = DEMO.couriers;
const { api, db, service } = withService();

const read = async (as: string, query = {}) => (await api.as(as).getSandbox(query).ok()).data.sandbox;

describe('manageSandbox', () => {
  test('makes one sandbox per courier, and shows its credentials once', async () => {
    expect(await read('iex')).toBeNull();
    const { data, message } = await api.as('iex').manageSandbox({ action: 'create' }).ok();
    expect(message).toBe('Sandbox made. Store its credentials now, they are not shown again.');
    expect(data.credentials).toEqual({
      service_token: expect.stringMatching(/^cdk_\w{92}$/),
      api_key: expect.stringMatching(/^[0-9a-f]{64}$/),
      user_codes: ['IEX-1', 'IEX-2', 'IEX-3'],
    });
    expect(data.sandbox).toMatchObject({ courier_id: IEX, courier_name: 'Island Express' });
    expect(data.sandbox.base_path).toMatch(/^\/sandbox\/[0-9a-z]{20}$/);
    expect(await read('iex')).toEqual(data.sandbox);
    expect(await read('manager', { courier_id: IEX })).toEqual(data.sandbox);
    expect(await read('hrb')).toBeNull();
    await api.as('iex').manageSandbox({ action: 'create' }).refused(409, 'sandbox_exists');
    const stored = JSON.stringify(await db.query('select * from sandboxes'));
    expect(stored).not.toContain(data.credentials?.service_token);
    expect(stored).not.toContain(data.credentials?.api_key);
  });

  test('ends it, and makes another one with other credentials', async () => {
    const first = await makeSandbox(service());
    // From now on the server knows the path.
    expect((await first.send('listPrealerts')).status).toBe(200);
    const ended = await api.as('iex').manageSandbox({ action: 'end' }).ok();
    expect(ended).toMatchObject({ message: 'Sandbox ended.', data: { credentials: null } });
    expect(await read('iex')).toBeNull();
    await api.as('iex').manageSandbox({ action: 'end' }).refused(404, 'sandbox_not_found');
    expect((await first.send('listPrealerts')).status).toBe(401);
    expect((await first.send('submitPrealert', { key: first.key, body: {} })).status).toBe(403);
    const second = await makeSandbox(service());
    expect(second.basePath).not.toBe(first.basePath);
    expect((await second.send('listPrealerts', { token: first.token })).status).toBe(401);
    expect((await second.send('listPrealerts')).status).toBe(200);
  });

  test('of a courier is managed by its owners and by managers, and not by its other users', async () => {
    await makeSandbox(service());
    await db.query(`update users set is_courier_owner = false where username = 'iex'`);
    await api.as('iex').manageSandbox({ action: 'end' }).refused(403, 'permission_denied');
    expect(await read('iex')).not.toBeNull();
    await db.query(`update users set is_courier_owner = true where username = 'iex'`);
    await makeSandbox(service(), 'manager', { courier_id: IEX });
    await api.as('manager').manageSandbox({ action: 'create' }).refused(400, 'validation_failed');
    await api
      .as('two/admin')
      .manageSandbox({ action: 'create', courier_id: IEX })
      .refused(404, 'courier_not_found');
  });

  test('makes at most five a day', async () => {
    await makeSandbox(service(), 'hrb');
    for (let number = 2; number <= 5; number += 1) {
      await api.as('hrb').manageSandbox({ action: 'end' }).ok();
      await api.as('hrb').manageSandbox({ action: 'create' }).ok();
    }
    await api.as('hrb').manageSandbox({ action: 'end' }).ok();
    const tenants = await db.count('tenants');
    await api.as('hrb').manageSandbox({ action: 'create' }).refused(429, 'quota_exceeded');
    expect(await db.count('tenants')).toBe(tenants);
    expect(await read('hrb')).toBeNull();
  });

  test('makes one of twenty that are requested at the same time', async () => {
    await db.query("delete from courier_quotas where kind = 'sandboxes'");
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => api.as('hrb').manageSandbox({ action: 'create' }).answer()),
    );
    const made = replies.filter(({ status }) => status === 200);
    expect(made).toHaveLength(1);
    expect(await db.count('sandboxes', { courier_id: HRB, ended_at: null })).toBe(1);
  });

  test('is in the audit log of the live tenant', async () => {
    const { sandboxId } = await makeSandbox(service());
    const { data } = await api.as('admin').listAuditEntries({ entity: 'courier', entity_id: IEX }).ok();
    expect(data[0]).toMatchObject({ action: 'courier.sandbox_created', after: { sandbox_id: sandboxId } });
  });
});

describe('a new sandbox', () => {
  test('has a courier with the code of the live one, its rates, and three customers', async () => {
    const sandbox = await makeSandbox(service());
    const { data: customers } = (await sandbox.send('listCustomers')).body;
    expect(customers.map(({ user_code }: { user_code: string }) => user_code).sort()).toEqual(
      sandbox.userCodes,
    );
    const { data: settings } = (await sandbox.send('getCourierSettings')).body;
    expect(settings).toMatchObject({ courier_code: 'IEX', api_url_add_package: null, email: null });
    const tiersOf = (tenantId: string, courier: string) =>
      db.query(
        `select start_weight_lb, end_weight_lb, fee_usd from rate_tiers where tenant_id = '${tenantId}'
         and courier_id ${courier} order by 1`,
      );
    const live = await tiersOf(DEMO.tenants.demo, `= '${IEX}'`);
    expect(live.length).toBeGreaterThan(1);
    expect(await tiersOf(sandbox.sandboxId, 'is null')).toEqual(live);
  });

  test('takes pre-alerts with its API key, and its service token has every scope of a courier', async () => {
    const sandbox = await makeSandbox(service());
    const body = { UserCode: 'IEX-1', TrackingNumber: '1Z999AA10123456784' };
    const submitted = await sandbox.send('submitPrealert', { key: sandbox.key, body });
    expect(submitted.status).toBe(201);
    for (const id of ['listPrealerts', 'listCustomers', 'listCourierBills', 'listEvents'] as const)
      expect([id, (await sandbox.send(id)).status]).toEqual([id, 200]);
    expect(await db.count('prealerts', { tenant_id: DEMO.tenants.demo, user_code: 'IEX-1' })).toBe(0);
  });

  test('uses the default rates of the live tenant if the courier has none of its own', async () => {
    const sandbox = await makeSandbox(service(), 'hrb');
    const count = (tenantId: string) => db.count('rate_tiers', { tenant_id: tenantId, courier_id: null });
    expect(await count(sandbox.sandboxId)).toBe(await count(DEMO.tenants.demo));
  });
});
