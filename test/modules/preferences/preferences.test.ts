import { afterEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { rounds } from '../../support/harness/effort.js';
import { unchecked } from '../../support/fixture/sent.js';
import { withService } from '../../support/fixture/with-service.js';

const { api, service } = withService();
const read = async (as = 'manager') => (await api.as(as).getPreferences().ok()).data;
const change = (body: object, as = 'manager') => api.as(as).updatePreferences(unchecked(body));
afterEach(() => service().owner.query('delete from user_preferences'));

const NONE = { language: null, theme: null, views: [], columns: [], updated_at: null };
const ON_HOLD = { list: 'parcels', name: 'On hold', query: 'status=on_hold' };
const view = (number: number) => ({ list: 'parcels', name: `View ${number}`, query: `search=${number}` });
const times = <Item>(count: number, make: (number: number) => Item) =>
  Array.from({ length: count }, (_, number) => make(number));

describe('preferences', () => {
  test('are empty until the user changes them, and a change keeps what it does not name', async () => {
    expect(await read()).toEqual(NONE);
    const saved = await change({ language: 'es', views: [ON_HOLD] }).ok();
    expect(saved.message).toBe('Preferences changed.');
    expect(saved.data).toEqual({
      ...NONE,
      language: 'es',
      views: [ON_HOLD],
      updated_at: expect.stringMatching(/^\d{4}-/),
    });
    const columns = [{ list: 'parcels', columns: ['houseNumber', 'weight'] }];
    await change({ theme: 'dark', columns }).ok();
    expect(await read()).toMatchObject({ language: 'es', theme: 'dark', views: [ON_HOLD], columns });
    const reply = await api.as('manager').getPreferences().ok();
    expect(reply.message).toBe('1 saved view.');
  });

  test('replace a view of the same list and name in its place, and remove one or a choice with null', async () => {
    const claims = { list: 'unknown/claims', name: 'On hold', query: '' };
    await change({
      views: [ON_HOLD, view(1), claims],
      columns: [{ list: 'audit', columns: ['actor'] }],
    }).ok();
    await change({ language: 'en', views: [{ ...ON_HOLD, query: 'status=on_hold&sort=-weight' }] }).ok();
    expect((await read()).views).toEqual([
      { ...ON_HOLD, query: 'status=on_hold&sort=-weight' },
      view(1),
      claims,
    ]);
    const removed = { views: [{ ...ON_HOLD, query: null }], columns: [{ list: 'audit', columns: null }] };
    const { data } = await change({ ...removed, language: null }).ok();
    expect(data).toMatchObject({ language: null, views: [view(1), claims], columns: [] });
  });

  test('do not change, nor their time, if nothing is new', async () => {
    await change({ theme: 'light', views: [ON_HOLD] }).ok();
    const before = await read();
    const same = await change({ theme: 'light', views: [ON_HOLD, { ...view(9), query: null }] }).ok();
    expect(same.message).toMatch(/^The preferences already have these values\./);
    expect((await change({}).ok()).message).toMatch(/^The request has no field to change\./);
    expect(await read()).toEqual(before);
  });

  test('belong to one user: neither colleagues nor administrators see or change them', async () => {
    const everybody = ['admin', 'manager', 'warehouse', 'iex', 'two/admin', 'two/two'];
    for (const as of everybody) await change({ views: [{ ...ON_HOLD, name: as }] }, as).ok();
    for (const as of everybody) expect((await read(as)).views).toEqual([{ ...ON_HOLD, name: as }]);
    await api.anonymous.getPreferences().refused(401, 'token_missing');
    await api.anonymous.updatePreferences({}).refused(401, 'token_missing');
  });

  test('are not in the audit log', async () => {
    const entries = async () =>
      (await service().owner.query('select count(*)::int as n from audit_entries')).rows[0] as { n: number };
    await read('iex');
    const before = await entries();
    await change({ views: [ON_HOLD] }, 'iex').ok();
    expect(await entries()).toEqual(before);
  });

  test.each([
    [{ language: 'fr' }, 'language', 'enum'],
    [{ theme: 'blue' }, 'theme', 'enum'],
    [{ views: [{ ...ON_HOLD, list: 'secrets' }] }, 'views[0].list', 'enum'],
    [{ views: [{ ...ON_HOLD, name: '' }] }, 'views[0].name', 'pattern'],
    [{ views: [{ ...ON_HOLD, name: '   ' }] }, 'views[0].name', 'pattern'],
    [{ views: [{ ...ON_HOLD, name: 'a\nb' }] }, 'views[0].name', expect.any(String)],
    [{ views: [{ ...ON_HOLD, name: 'x'.repeat(41) }] }, 'views[0].name', 'maxLength'],
    [{ views: [{ list: 'parcels', name: 'No query' }] }, 'views[0].query', 'required'],
    [{ views: [{ ...ON_HOLD, query: '?status=on_hold' }] }, 'views[0].query', 'pattern'],
    [{ views: [{ ...ON_HOLD, query: 'search=<b>' }] }, 'views[0].query', 'pattern'],
    [{ views: [{ ...ON_HOLD, query: 'a'.repeat(1001) }] }, 'views[0].query', 'maxLength'],
    [{ views: times(61, view) }, 'views', 'maxItems'],
    [{ columns: [{ list: 'parcels', columns: [] }] }, 'columns[0].columns', 'minItems'],
    [{ columns: [{ list: 'parcels', columns: ['a b'] }] }, 'columns[0].columns[0]', 'pattern'],
    [
      { columns: [{ list: 'parcels', columns: times(41, (n) => `c${n}`) }] },
      'columns[0].columns',
      'maxItems',
    ],
  ])('reject %j', async (body, field, code) => {
    const { errors } = await change(body).refused(400, 'validation_failed');
    expect(errors).toMatchObject([{ field, code }]);
    expect(await read()).toEqual(NONE);
  });

  test('have at most 60 views, and a refused change stores nothing', async () => {
    await change({ views: times(60, view) }).ok();
    const refused = await change({ theme: 'dark', views: [view(60)] }).refused(409, 'preferences_full');
    expect(refused.message).toBe(
      'Nothing was saved. You can have 60 saved views, and 32 KiB of views and columns. Remove some views first.',
    );
    const { theme, views } = await read();
    expect({ theme, count: views.length }).toEqual({ theme: null, count: 60 });
    // One leaves as another one comes.
    await change({ views: [{ ...view(0), query: null }, view(60)] }).ok();
    expect((await read()).views).toHaveLength(60);
  });

  test('have at most 32 KiB of views and columns, in bytes', async () => {
    const wide = (number: number) => ({
      ...view(number),
      name: `${'ñ'.repeat(36)}${number}`,
      query: 'a'.repeat(1000),
    });
    await change({ views: times(29, wide) }).ok();
    await change({ views: [wide(29)] }).refused(409, 'preferences_full');
    await change({
      columns: [{ list: 'audit', columns: times(40, (n) => `${'c'.repeat(36)}${n}`) }],
    }).refused(409, 'preferences_full');
    expect((await read()).views).toHaveLength(29);
  });

  test('simultaneous changes of many devices lose nothing of each other', async () => {
    const devices = rounds(20, 60);
    await Promise.all(times(devices, (number) => change({ views: [view(number)] }).ok()));
    const names = (await read()).views.map(({ name }) => name).sort();
    expect(names).toEqual(times(devices, (number) => view(number).name).sort());
  });

  test('PostgreSQL refuses more than 64 KiB by itself', async () => {
    await change({ theme: 'dark' }).ok();
    const large = JSON.stringify([{ list: 'parcels', name: 'x', query: 'a'.repeat(70_000) }]);
    await expect(
      service().owner.query('update user_preferences set views = $1::jsonb where user_id = $2', [
        large,
        DEMO.users.manager,
      ]),
    ).rejects.toThrow(/size_is_bounded/);
  });
});

// Each layer must be sufficient alone.
describe.each([
  ['both layers', {}],
  ['row-level security alone', { applicationFilters: false }],
  ["the application's filters alone", { rowSecurity: false }],
] as const)('preferences with %s', (_name, options) => {
  const other = withService(options);

  test('a user with the same id in another tenant, a colleague and another courier have none of them', async () => {
    const as = (name: string) => other.api.as(name);
    // The same id as a user of tenant two, which only the tenant tells apart.
    await other.service().owner.query(
      `insert into users (tenant_id, id, username, full_name, role, password_hash)
       select $1, id, 'twin', 'Twin', 'admin', password_hash from users where tenant_id = $2 and username = 'admin'`,
      [DEMO.tenants.two, DEMO.tenants.demo],
    );
    await other
      .service()
      .owner.query(
        `insert into user_preferences (tenant_id, user_id, views) values ($1, $2, '[{"list":"audit","name":"canary","query":""}]')`,
        [DEMO.tenants.two, DEMO.users.admin],
      );
    expect((await as('admin').getPreferences().ok()).data).toEqual(NONE);
    await as('admin')
      .updatePreferences(unchecked({ views: [ON_HOLD] }))
      .ok();
    expect((await as('admin').getPreferences().ok()).data.views).toEqual([ON_HOLD]);
    for (const name of ['manager', 'iex', 'two/two'])
      expect((await as(name).getPreferences().ok()).data).toEqual(NONE);
    const { rows } = await other
      .service()
      .owner.query(`select views from user_preferences where tenant_id = $1`, [DEMO.tenants.two]);
    expect(rows).toEqual([{ views: [{ list: 'audit', name: 'canary', query: '' }] }]);
  });
});
