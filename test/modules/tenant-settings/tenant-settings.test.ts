import { afterEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { rounds } from '../../support/harness/effort.js';
import { whileUnwritable } from '../../support/harness/meanwhile.js';
import { unchecked } from '../../support/fixture/sent.js';
import { withService } from '../../support/fixture/with-service.js';

const { api, service } = withService();
const read = async (as = 'admin') => (await api.as(as).getTenantSettings().ok()).data;
const set = (body: object, as = 'admin') => api.as(as).updateTenantSettings(unchecked(body));
afterEach(() => service().owner.query('delete from tenant_settings'));

describe('tenant settings', () => {
  test('are UTC and USD until an administrator changes them, and each change is audited', async () => {
    expect(await read()).toEqual({
      time_zone: 'UTC',
      currency: 'USD',
      missing_after_hours: 24,
      updated_at: null,
    });
    const saved = await set({ time_zone: 'America/New_York' }).ok();
    expect(saved.message).toBe('Settings changed.');
    expect(saved.data).toEqual({
      time_zone: 'America/New_York',
      currency: 'USD',
      missing_after_hours: 24,
      updated_at: expect.stringMatching(/^\d{4}-/),
    });
    const same = await set({ time_zone: 'America/New_York', currency: 'USD' }).ok();
    expect(same.message).toMatch(/^The settings already have these values\./);
    expect((await set({}).ok()).message).toMatch(/^The request has no field to change\./);

    const { rows } = await service().owner.query(
      "select entity_id, actor_id, before, after from audit_entries where action = 'tenant.settings_changed'",
    );
    expect(rows).toEqual([
      {
        entity_id: DEMO.tenants.demo,
        actor_id: DEMO.users.admin,
        before: { time_zone: 'UTC', currency: 'USD', missing_after_hours: 24 },
        after: { time_zone: 'America/New_York', currency: 'USD', missing_after_hours: 24 },
      },
    ]);
  });

  test('are read by everybody who logs in, and changed by administrators only', async () => {
    await set({ time_zone: 'America/Jamaica' }).ok();
    for (const as of ['admin', 'manager', 'warehouse', 'iex'])
      expect(await read(as)).toMatchObject({ time_zone: 'America/Jamaica', currency: 'USD' });
    for (const as of ['manager', 'warehouse', 'iex'])
      await set({ time_zone: 'UTC' }, as).refused(403, 'permission_denied');
    await api.anonymous.getTenantSettings().refused(401, 'token_missing');
    await api.anonymous.updateTenantSettings({}).refused(401, 'token_missing');
  });

  test('name no time zone that the table cannot hold, whatever names PostgreSQL has', async () => {
    const { rows } = await service().owner.query<{ name: string }>(
      `select name from pg_timezone_names
       where name ~ '[0-9]' or name !~ '^[A-Z][A-Za-z]*([/_+-][A-Za-z0-9]+)*$' order by random() limit 60`,
    );
    const names = new Set([...rows.map(({ name }) => name), 'EST5EDT', 'GMT0', 'Etc/GMT+5']);
    for (const time_zone of names) {
      const { status } = await set({ time_zone }).answer();
      expect([time_zone, [200, 400].includes(status)]).toEqual([time_zone, true]);
    }
    await set({ time_zone: 'EST5EDT' }).refused(400, 'validation_failed');
    await set({ time_zone: 'America/New_York' }).ok();
  });

  test.each([
    [{ time_zone: 'Mars/Olympus' }, 'time_zone', 'invalid'],
    [{ time_zone: 'america/new_york' }, 'time_zone', 'invalid'],
    // PostgreSQL takes both in a statement, and means something else.
    [{ time_zone: 'EST5EDT4' }, 'time_zone', 'invalid'],
    [{ time_zone: '+05:00' }, 'time_zone', 'invalid'],
    // A file of PostgreSQL that no browser knows.
    [{ time_zone: 'posix/America/New_York' }, 'time_zone', 'invalid'],
    [{ time_zone: '' }, 'time_zone', 'minLength'],
    [{ time_zone: null }, 'time_zone', 'type'],
    [{ currency: 'usd' }, 'currency', 'invalid'],
    [{ currency: 'XYZ' }, 'currency', 'invalid'],
    // No decimals, and three.
    [{ currency: 'JPY' }, 'currency', 'invalid'],
    [{ currency: 'KWD' }, 'currency', 'invalid'],
    [{ currency: 'USDX' }, 'currency', 'maxLength'],
  ])('reject %j', async (body, field, code) => {
    const { errors } = await set(body, 'two/admin').refused(400, 'validation_failed');
    expect(errors).toMatchObject([{ field, code }]);
    expect(await read('two/admin')).toMatchObject({ time_zone: 'UTC', currency: 'USD' });
  });

  test('accept each time zone that browsers offer', async () => {
    const { rows } = await service().owner.query<{ name: string }>('select name from pg_timezone_names');
    const known = new Set(rows.map(({ name }) => name));
    expect(Intl.supportedValuesOf('timeZone').filter((name) => !known.has(name))).toEqual([]);
    for (const zone of ['Etc/GMT+5', 'America/Argentina/Buenos_Aires', 'America/Port-au-Prince', 'UTC'])
      expect((await set({ time_zone: zone }, 'two/admin').ok()).data.time_zone).toBe(zone);
  });

  test('simultaneous changes lose no field, and are audited once', async () => {
    const callers = rounds(20, 100);
    const change = () =>
      Promise.all(
        Array.from({ length: callers }, (_, n) =>
          set(n % 2 ? { time_zone: 'America/Jamaica' } : { currency: 'JMD' }, 'two/admin').ok(),
        ),
      );
    const replies = await whileUnwritable(service().owner, { table: 'tenant_settings', waiting: 2 }, change);
    expect(replies.filter(({ message }) => message === 'Settings changed.')).toHaveLength(2);
    expect(await read('two/admin')).toMatchObject({ time_zone: 'America/Jamaica', currency: 'JMD' });
    expect(await read('two/two')).toMatchObject({ time_zone: 'America/Jamaica', currency: 'JMD' });
  });
});

// Each layer must be sufficient alone.
describe.each([
  ['both layers', {}],
  ['row-level security alone', { applicationFilters: false }],
  ["the application's filters alone", { rowSecurity: false }],
] as const)('tenant settings with %s', (_name, options) => {
  const other = withService(options);

  test('a tenant reads and changes only its own settings', async () => {
    const as = (name: string) => other.api.as(name);
    await as('two/admin').updateTenantSettings({ time_zone: 'Asia/Kolkata', currency: 'INR' }).ok();
    expect((await as('admin').getTenantSettings().ok()).data.time_zone).toBe('UTC');
    await as('admin').updateTenantSettings({ time_zone: 'America/New_York' }).ok();
    const data = { time_zone: 'Asia/Kolkata', currency: 'INR' };
    expect((await as('two/two').getTenantSettings().ok()).data).toMatchObject(data);
    expect((await as('iex').getTenantSettings().ok()).data.time_zone).toBe('America/New_York');
  });
});
