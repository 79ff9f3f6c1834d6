import { afterEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { withService } from '../../../support/fixture/with-service.js';
import { fieldsOf, makeSettingsCalls, UNTRIED } from './settings-calls.js';

const IEX = DEMO.couriers.IEX;

const fixture = withService();
const { service } = fixture;
const { read, update, updateIex, auditOf } = makeSettingsCalls(fixture);

describe('the format of packages', () => {
  const FORMATS = ['add_package_format', 'update_package_format'] as const;
  const flat = (name: string) => ({ [name]: 'flat' });

  afterEach(async () => {
    const reset = "add_package_format = 'event', update_package_format = 'event', api_url_add_package = null";
    await service().owner.query(`update couriers set ${reset} where id = $1`, [IEX]);
    await service().owner.query('delete from webhook_endpoints where courier_id = $1', [IEX]);
  });

  test.each(FORMATS)('%s is stored per courier and audited, and no other field changes', async (name) => {
    const before = (await read({ as: 'iex' }).ok()).data;
    const changed = await updateIex(flat(name)).ok();
    expect(changed.data).toEqual({ ...before, ...flat(name) });
    expect((await read({ as: 'admin', query: { id: IEX } }).ok()).data).toEqual(changed.data);
    expect((await read({ as: 'hrb' }).ok()).data[name]).toBe('event');
    expect((await auditOf(IEX)).at(-1)).toEqual({
      action: 'courier.updated',
      actor_id: DEMO.users.iex,
      before: { [name]: 'event' },
      after: flat(name),
      request_id: changed.headers.get('x-request-id'),
    });
    expect((await updateIex(flat(name)).ok()).message).toMatch(/Nothing was changed/);
    const restored = await update({ as: 'manager', query: { id: IEX }, body: { [name]: 'event' } }).ok();
    expect(restored.data).toEqual(before);
  });

  test.each(FORMATS)('%s can be an array of flat packages', async (name) => {
    const changed = await updateIex({ [name]: 'flat_array' }).answer();
    expect([changed.status, changed.data[name]]).toEqual([200, 'flat_array']);
  });

  test.each(FORMATS)('%s accepts only its three values', async (name) => {
    for (const value of ['', 'Flat', 'flat ', 'events', 'event_array', 1, null, ['flat']]) {
      const reply = await updateIex({ [name]: value }).answer();
      expect([value, reply.status, ...new Set(fieldsOf(reply))]).toEqual([value, 400, name]);
    }
    const reply = await updateIex({ action: 'regenerate_key', ...flat(name) }).answer();
    expect([reply.status, fieldsOf(reply)]).toEqual([400, [name]]);
  });

  test('a new format resumes a paused URL and keeps the other one paused', async () => {
    await updateIex({ api_url_add_package: 'https://api.island-express.example/packages' }).ok();
    await service().owner.query(
      `insert into webhook_endpoints (tenant_id, courier_id, endpoint, failures, failing_since, paused_at)
       select $1, $2, endpoint, 9, now(), now() from unnest(array['add_package', 'update_package']) endpoint`,
      [DEMO.tenants.demo, IEX],
    );
    expect((await updateIex({ address2: 'elsewhere' }).ok()).data.webhooks.add_package.state).toBe('paused');
    const { webhooks } = (await updateIex(flat('add_package_format')).ok()).data;
    expect(webhooks.add_package).toEqual({ ...UNTRIED, state: 'active' });
    expect(webhooks.update_package.paused_at).not.toBeNull();
  });
});
