import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import bcrypt from 'bcrypt';
import type pg from 'pg';
import { createApp, type App } from '../../../src/app.js';
import { newOneTimePassword } from '../../../src/modules/auth/credentials/one-time-password.js';
import { developmentConfig } from '../../support/staging/development.js';
import { openDb } from '../../../src/platform/db/open-database.js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { whileInactive } from '../../support/harness/inactive-courier.js';
import { rounds } from '../../support/harness/effort.js';
import { fingerprint } from '../../support/readers/fingerprint.js';
import { insertCouriers } from '../../support/builders/register.js';
import { untilAdmitted, type Call, type Reply } from '../../support/service/service.js';
import { withService } from '../../support/fixture/with-service.js';
import { unchecked } from '../../support/fixture/sent.js';

const { HRB, IEX, TWO } = DEMO.couriers;
const UNKNOWN = '01930a3e-0000-7000-8000-000000000000';

const { api, service } = withService();

const list = (query: Call['query'] = {}, as = 'admin') => api.as(as).listCouriers(query);
const manage = (body: unknown, as = 'admin') => api.as(as).manageCouriers(unchecked(body));

type Row = Record<string, unknown>;

async function rows(statement: string, values: unknown[] = []): Promise<Row[]> {
  return (await service().owner.query<Row>(statement, values)).rows;
}

const auditOf = (id: unknown) =>
  rows(
    `select action, entity, actor_kind, actor_id, before, after, request_id from audit_entries
     where entity_id = $1 order by id`,
    [id],
  );

const fieldsOf = ({ body }: Reply) =>
  ((body['errors'] ?? []) as { field: string; code: string }[]).map(({ field, code }) => `${field} ${code}`);

let serial = 0;
/** Returns a request for a courier with an unused code and username. */
const fresh = (fields: Row = {}) => ({
  action: 'create',
  courier_code: `N${(serial += 1)}0`,
  courier_name: 'New Courier',
  house_color: '#2B5FA8',
  login: { username: `new-${serial}`, full_name: 'First User' },
  ...fields,
});

describe('list of couriers', () => {
  test("returns each courier's profile and counts without secrets", async () => {
    const reply = await list().ok();
    expect(reply.body).toMatchObject({
      message: '2 couriers found.',
      meta: { current_page: 1, per_page: 50, total_records: 2, total_pages: 1 },
    });
    const [hrb, iex] = reply.data;
    expect(iex).toEqual({
      courier_id: IEX,
      courier_code: 'IEX',
      courier_name: 'Island Express',
      company_name: 'Island Express Limited',
      email: 'accounts@island-express.example',
      phone_number1: '+1 876 555 0142',
      phone_number2: '+1 876 555 0143',
      address1: '12 Harbour Street',
      address2: null,
      city_town: 'Kingston',
      parish_province: 'Kingston',
      house_color: '#0A7D5C',
      is_active: true,
      has_api_key: true,
      uses_global_rates: false,
      user_count: 1,
      customer_count: 200,
      created_at: expect.stringMatching(/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/),
    });
    expect(hrb).toMatchObject({ courier_code: 'HRB', uses_global_rates: true, customer_count: 100 });
    const text = JSON.stringify(reply.body);
    for (const secret of [DEMO.apiKeys.IEX, DEMO.apiKeys.HRB, 'hash', 'cipher', 'token', 'secret'])
      expect(text).not.toContain(secret);
  });

  test('pages contain each courier once, and a page past the last is empty', async () => {
    await insertCouriers(service().owner);
    const all = (await list({ limit: 500 }).ok()).data as Row[];
    expect(all).toHaveLength(26);
    const pages = await Promise.all([1, 2, 3, 4].map((page) => list({ page, limit: 10 }).answer()));
    expect(pages.flatMap(({ body }) => body['data'])).toEqual(all);
    expect(pages[3]?.body['meta']).toEqual({
      current_page: 4,
      per_page: 10,
      total_records: 26,
      total_pages: 3,
    });
    await rows("delete from couriers where code ~ '^P[0-9]+$'");
  });

  test('search matches % and _ literally and ignores case', async () => {
    const found = async (search: string) =>
      ((await list({ search }).ok()).data as Row[]).map((each) => each['courier_code']);
    expect(await found('ISLAND')).toEqual(['IEX']);
    expect(await found('rb')).toEqual(['HRB']);
    expect(await found('(barbados) INC')).toEqual(['HRB']);
    for (const search of ['%', '_', '\\', 'I%S']) expect(await found(search)).toEqual([]);
    expect(await found('')).toEqual(['HRB', 'IEX']);
  });

  test('is readable for managers, but not for warehouse staff and couriers', async () => {
    await list({}, 'manager').ok();
    for (const as of ['warehouse', 'iex']) await list({}, as).refused(403, 'permission_denied');
  });
});

describe('courier creation', () => {
  const WHOLE = {
    courier_code: 'BLU',
    courier_name: 'Blue Mountain Express',
    house_color: '#2b5FA8',
    company_name: 'Blue Mountain Express Limited',
    email: 'desk@blue-mountain.example',
    phone_number1: '+1 876 555 0190',
    phone_number2: '+1 876 555 0191',
    address1: '3 Constant Spring Road',
    address2: 'Étage 4',
    city_town: 'Kingston',
    parish_province: 'Saint Andrew',
  };
  // The user name is stored in lower case.
  const LOGIN = { username: 'Blue.Mountain', full_name: 'Keisha Morgan' };
  let created: Reply;

  beforeAll(async () => {
    created = await manage({ action: 'create', ...WHOLE, login: LOGIN }, 'manager').answer();
  });

  test('stores the courier as sent and returns its API key and one-time password', async () => {
    expect(created.status).toBe(200);
    const { api_key: apiKey, login, ...record } = created.body['data'];
    expect(record).toEqual({
      ...WHOLE,
      courier_id: expect.any(String),
      is_active: true,
      has_api_key: true,
      uses_global_rates: true,
      user_count: 1,
      customer_count: 0,
      created_at: expect.any(String),
    });
    expect(apiKey).toMatch(/^[0-9a-f]{64}$/);
    expect(login).toEqual({
      ...LOGIN,
      username: 'blue.mountain',
      user_id: expect.any(String),
      one_time_password: expect.any(String),
      password_expires_at: expect.any(String),
    });
    const again = (await list({ search: 'BLU' }).ok()).data;
    expect(again).toEqual([record]);
  });

  test('the API key accepts pre-alerts and is shown in the settings', async () => {
    const { courier_id: courierId, api_key: key } = created.body['data'];
    await api
      .as('admin')
      .createCustomer({ courier_id: courierId, user_code: 'BLU-1', first_name: 'F', last_name: 'L' })
      .ok();
    await api
      .withKey(key)
      .submitPrealert({ UserCode: 'BLU-1', TrackingNumber: '1Z999AA10123456784' })
      .created();
    const settings = await api.as('admin').getCourierSettings({ id: courierId }).ok();
    expect(settings.data).toMatchObject({ courier_code: 'BLU', api_key: key, webhook_secret: null });
  });

  test('creates the first user with a one-time password that is valid for seven days', async () => {
    const { courier_id: courierId, login } = created.body['data'];
    const [user] = await rows(
      `select u.*, extract(epoch from password_expires_at - created_at)::int as lasts_s,
         to_char(password_expires_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as expires
       from users u where id = $1`,
      [login.user_id],
    );
    expect(user).toMatchObject({
      username: 'blue.mountain',
      full_name: 'Keisha Morgan',
      role: 'courier',
      courier_id: courierId,
      is_active: true,
      must_change_password: true,
      lasts_s: 7 * 24 * 3600,
      two_factor_enabled: false,
      expires: login.password_expires_at,
    });
    expect(String(user?.['password_hash'])).toMatch(/^\$2b\$04\$/);
    expect(await bcrypt.compare(login.one_time_password, String(user?.['password_hash']))).toBe(true);
    const { data } = await api.anonymous
      .login({
        action: 'login',
        username: 'blue.mountain',
        password: login.one_time_password,
      })
      .ok();
    expect(data.user).toMatchObject({ courier_id: courierId, courier_code: 'BLU' });
  });

  test('audits the courier and its user without secrets, and stores no secret in clear text', async () => {
    const { courier_id: courierId, api_key: apiKey, login } = created.body['data'];
    const by = {
      actor_kind: 'user',
      actor_id: DEMO.users.manager,
      request_id: created.headers.get('x-request-id'),
      before: null,
    };
    const [entry] = await auditOf(courierId);
    expect(entry).toEqual({ ...by, action: 'courier.created', entity: 'courier', after: WHOLE });
    const after = { ...LOGIN, username: 'blue.mountain', role: 'courier', courier_id: courierId };
    const [userEntry] = await auditOf(login.user_id);
    expect(userEntry).toEqual({ ...by, action: 'user.created', entity: 'user', after });
    const everything = await rows(`select coalesce(string_agg(t::text, ''), '') as text from (
      select to_jsonb(c) as t from couriers c union all select to_jsonb(u) from users u
      union all select to_jsonb(a) from audit_entries a) as t`);
    for (const secret of [apiKey, login.one_time_password])
      expect(String(everything[0]?.['text'])).not.toContain(secret);
  });

  test('stores null for optional fields that are missing or blank', async () => {
    const body = fresh({ company_name: ' ', email: '' });
    const { data } = await manage(body).ok();
    expect(data).toMatchObject({
      courier_name: 'New Courier',
      company_name: null,
      email: null,
      address1: null,
    });
    const [entry] = await auditOf(data.courier_id);
    expect(entry?.['after']).toMatchObject({ courier_code: body.courier_code, company_name: null });
  });

  test.each([
    ['a code that is taken', { courier_code: 'IEX' }, 'duplicate_courier_code'],
    ['a user name that is taken', { login: { username: 'warehouse', full_name: 'F' } }, 'duplicate_username'],
  ])('rejects %s and stores nothing', async (_name, fields, code) => {
    const before = await fingerprint(service().owner);
    expect(await manage(fresh(fields)).answer()).toMatchObject({
      status: 409,
      body: { status: 'fail', code },
    });
    expect(await fingerprint(service().owner)).toEqual(before);
  });

  test('accepts a code and a user name of another tenant', async () => {
    const body = fresh({ courier_code: 'TWO', login: { username: 'two', full_name: 'F' } });
    await manage(body).ok();
  });

  test.each([
    ['courier_code', ['iex', 'A', 'ABCDEFGHIJK', 'A B', 'ÀB', 'A\n']],
    ['house_color', ['', ' ', '#FFF', 'red', '#1234567', '0A7D5C']],
    ['courier_name', ['', ' ', 'a\nb', 'a\u0007', 'x'.repeat(201)]],
    ['email', ['desk', 'desk@localhost', 'a b@x.example', 'a@x.example\r\nBcc: b@x.example']],
    ['address1', ['a\u2028b', 'x'.repeat(201)]],
    [
      'login',
      [{ username: '.bob', full_name: 'B' }, { username: 'b b', full_name: 'B' }, { username: 'bob' }],
    ],
    ['login', [{ username: 'bob', full_name: ' ' }, { username: 'bob', full_name: 'B\nB' }, {}]],
  ])('rejects invalid values of %s and names the field', async (field, values) => {
    const before = await fingerprint(service().owner);
    for (const value of values) {
      const reply = await manage(fresh({ [field]: value })).answer();
      expect([value, reply.status, reply.code]).toEqual([value, 400, 'validation_failed']);
      expect(fieldsOf(reply)).not.toEqual([]);
      expect(fieldsOf(reply).filter((each) => !each.startsWith(field))).toEqual([]);
    }
    expect(await fingerprint(service().owner)).toEqual(before);
  });

  test('ignores webhook URLs, token and rates', async () => {
    const webhooks = { api_url_add_package: 'https://x.example', api_token: 12, air_freight_rate: 9 };
    const { data } = await manage(fresh(webhooks)).ok();
    const stored = await rows('select * from couriers where id = $1', [data.courier_id]);
    expect(stored).toMatchObject([
      { api_url_add_package: null, api_token_cipher: null, air_freight_rate: '0.00' },
    ]);
  });

  // As many as may wait for their password hash.
  const MAKERS = 16;

  test.each([
    ['code', () => ({ courier_code: 'RACE' }), 'duplicate_courier_code'],
    ['user name', () => ({ login: { username: 'race', full_name: 'F' } }), 'duplicate_username'],
  ])(
    'of sixteen simultaneous creations with one %s, one succeeds',
    async (_name, shared, code) => {
      const countOf = async (table: string) =>
        Number((await rows(`select count(*) from ${table}`))[0]?.['count']);
      const tables = ['couriers', 'users'];
      const before = await Promise.all(tables.map(countOf));
      const replies = await Promise.all(
        Array.from({ length: MAKERS }, () => fresh(shared())).map((body) =>
          untilAdmitted(() => manage(body).answer()),
        ),
      );
      expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(replies.filter(({ body }) => body['code'] === code)).toHaveLength(MAKERS - 1);
      expect(await Promise.all(tables.map(countOf))).toEqual(before.map((n) => n + 1));
    },
    60_000,
  );
});

describe('courier update', () => {
  test('changes only the given fields, clears blank ones and audits the difference', async () => {
    const { data } = await manage(fresh({ email: 'a@x.example', city_town: 'Kingston' })).ok();
    const reply = await manage({
      action: 'update',
      courier_id: data.courier_id,
      courier_name: 'Renamed',
      house_color: '#ffffff',
      email: '',
      api_token: 'tok',
      is_active: false,
    }).answer();
    const { api_key: _key, login: _login, ...before } = data;
    const changed = { courier_name: 'Renamed', house_color: '#ffffff', email: null };
    expect(reply.body).toMatchObject({ message: 'Courier updated.', data: { ...before, ...changed } });
    const [, entry, ...more] = await auditOf(data.courier_id);
    expect(more).toEqual([]);
    expect(entry).toMatchObject({
      action: 'courier.updated',
      before: { courier_name: 'New Courier', house_color: '#2B5FA8', email: 'a@x.example' },
      after: changed,
    });
    expect(await rows('select api_token_cipher from couriers where id = $1', [data.courier_id])).toEqual([
      { api_token_cipher: null },
    ]);
  });

  test('changes nothing if the values are equal', async () => {
    const before = await fingerprint(service().owner);
    for (const fields of [{}, { courier_name: 'Island Express', address2: ' ' }, { courier_code: 'XXX' }]) {
      const reply = await manage({ action: 'update', courier_id: IEX, ...fields }).answer();
      expect(reply).toMatchObject({ status: 200, body: { data: { courier_code: 'IEX' } } });
      expect(reply.message).toContain('Nothing was changed');
    }
    expect(await fingerprint(service().owner)).toEqual(before);
  });

  test('names every invalid field', async () => {
    const bad = {
      courier_name: 'a\nb',
      email: 'desk\u2028x',
      address2: 'x\u2029x',
      company_name: 'a\nb',
      phone_number1: '1\n2',
      phone_number2: '1\n2',
      city_town: 'a\nb',
      parish_province: 'a\nb',
    };
    const reply = await manage({ action: 'update', courier_id: IEX, ...bad }).answer();
    expect(reply.status).toBe(400);
    expect(fieldsOf(reply).sort()).toEqual(
      Object.keys(bad)
        .map((field) => `${field} pattern`)
        .sort(),
    );
  });

  test.each(['update', 'deactivate', 'activate'])(
    'responds 404 to %s for an unknown courier',
    async (action) => {
      for (const courier_id of [UNKNOWN, TWO])
        await manage({ action, courier_id, courier_name: 'X' }).refused(404, 'courier_not_found');
    },
  );
});

describe('courier deactivation', () => {
  let replica: App;
  let url: string;
  let close: () => Promise<void>;

  // A second server on the same database must apply the change with its next request.
  beforeAll(async () => {
    const databaseUrl = String((service().owner.options as pg.PoolConfig).connectionString);
    const config = developmentConfig({ LOG_LEVEL: 'silent', PORT: '0', DATABASE_URL: databaseUrl });
    const db = openDb({ url: databaseUrl, size: 4, assumeRole: 'crossdock_app', onError: () => {} });
    replica = await createApp({ config, db });
    url = await replica.server.listen({ host: '127.0.0.1', port: 0 });
    close = async () => {
      await replica.server.close();
      await db.close();
    };
  });

  afterAll(() => close());

  /** Returns the responses of a server to the courier's user and to its API key. */
  async function answersAt(base: string): Promise<string[]> {
    const user = { authorization: `Bearer ${await service().tokenOf('hrb')}` };
    const json = { 'content-type': 'application/json' };
    const post = (path: string, headers: Record<string, string>, body: unknown) =>
      fetch(`${base}/api/${path}`, {
        method: 'POST',
        headers: { ...json, ...headers },
        body: JSON.stringify(body),
      });
    const answers = await Promise.all([
      fetch(`${base}/api/ManagePrealerts.php`, { headers: user }),
      post('Prealert.php', { 'x-api-key': DEMO.apiKeys.HRB }, { UserCode: 'X', TrackingNumber: 'X' }),
    ]);
    return Promise.all(
      answers.map(async (answer) => {
        const { code = '' } = (await answer.json()) as { code?: string };
        return `${answer.status} ${code}`.trim();
      }),
    );
  }

  const LET_IN = ['200', '400 unknown_user_code'];
  const REFUSED = ['403 account_disabled', '403 key_invalid'];

  test('rejects its users and its API key at once on every replica, and no other callers', async () => {
    for (const base of [service().url, url]) expect(await answersAt(base)).toEqual(LET_IN);
    for (let round = 0; round < 10; round += 1) {
      const reply = await manage({ action: 'deactivate', courier_id: HRB }, 'manager').answer();
      expect(reply).toMatchObject({ status: 200, body: { data: { courier_id: HRB, is_active: false } } });
      expect(await Promise.all([url, service().url].map(answersAt))).toEqual([REFUSED, REFUSED]);
      await api.as('iex').listPrealerts().ok();
      await list().ok();
      expect(await manage({ action: 'activate', courier_id: HRB }).answer()).toMatchObject({
        status: 200,
        body: { data: { is_active: true } },
      });
      expect(await Promise.all([url, service().url].map(answersAt))).toEqual([LET_IN, LET_IN]);
    }
  }, 60_000);

  test('rejects logins with the reason', async () => {
    const body = { action: 'login', username: 'hrb', password: DEMO.password };
    const reply = await whileInactive(service().owner, HRB, () =>
      api.anonymous.login(unchecked(body)).answer(),
    );
    expect(reply).toMatchObject({ status: 403, body: { code: 'account_disabled' } });
  });

  const CALLERS = rounds(50, 200);

  test.each([
    ['deactivate', 'courier.deactivated', false],
    ['activate', 'courier.activated', true],
  ] as const)(
    `%s is applied and audited once, even for ${CALLERS} simultaneous requests`,
    async (action, fact, isActive) => {
      const entries = async () => (await auditOf(HRB)).filter((entry) => entry['action'] === fact);
      const before = await entries();
      const replies = await Promise.all(
        Array.from({ length: CALLERS }, () =>
          untilAdmitted(() => manage({ action, courier_id: HRB }).answer()),
        ),
      );
      expect(replies.map(({ status, data }) => [status, data.is_active])).toEqual(
        Array.from({ length: CALLERS }, () => [200, isActive]),
      );
      const idle = replies.filter(({ body }) => String(body['message']).includes('Nothing was changed'));
      expect(idle).toHaveLength(CALLERS - 1);
      const [entry, ...more] = (await entries()).slice(before.length);
      expect(more).toEqual([]);
      expect(entry).toMatchObject({ before: { is_active: !isActive }, after: { is_active: isActive } });
      const settled = await rows('select * from couriers where id = $1', [HRB]);
      await manage({ action, courier_id: HRB }).ok();
      expect(await rows('select * from couriers where id = $1', [HRB])).toEqual(settled);
      expect(await entries()).toHaveLength(before.length + 1);
    },
    60_000,
  );

  test('receives its packages and records events meanwhile, but queues no deliveries', async () => {
    await rows('update couriers set api_url_add_package = $2 where id = $1', [
      HRB,
      'https://x.example/hooks',
    ]);
    const receive = async (tracking_number: string) =>
      (await api.as('warehouse').receivePackage({ tracking_number, weight: 1, courier_id: HRB }).created())
        .data.package_id;
    const outcome = (packageId: string) =>
      rows(
        `select e.type, d.status from events e left join webhook_deliveries d on d.event_id = e.id where e.package_id = $1`,
        [packageId],
      );
    expect(await outcome(await receive('DEACT-1'))).toEqual([{ type: 'package.created', status: 'pending' }]);
    const missed = await whileInactive(service().owner, HRB, () => receive('DEACT-2'));
    expect(await outcome(missed)).toEqual([{ type: 'package.created', status: null }]);
    const recovery = { action: 'recover_since', since: '2026-01-01 00:00:00', courier_id: HRB };
    await api.as('admin').manageWebhookDeliveries(unchecked(recovery)).ok();
    expect(await outcome(missed)).toEqual([{ type: 'package.created', status: 'pending' }]);
  });
});

test('one-time passwords have four groups, do not repeat and use their alphabet evenly', () => {
  const passwords = Array.from({ length: 20_000 }, newOneTimePassword);
  expect(new Set(passwords).size).toBe(passwords.length);
  expect(
    passwords.filter((each) => !/^([A-HJ-NP-Za-km-z2-9]{4}-){3}[A-HJ-NP-Za-km-z2-9]{4}$/.test(each)),
  ).toEqual([]);
  const counts = new Map<string, number>();
  for (const character of passwords.join('').replaceAll('-', ''))
    counts.set(character, (counts.get(character) ?? 0) + 1);
  expect(counts.size).toBe(57);
  // Chi-squared with 56 degrees of freedom exceeds 120 once in a million.
  const expected = (passwords.length * 16) / 57;
  const distance = [...counts.values()].reduce((sum, n) => sum + (n - expected) ** 2 / expected, 0);
  expect(distance).toBeLessThan(120);
});
