import bcrypt from 'bcrypt';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { newOneTimePassword } from '../../../../src/modules/auth/credentials/new-user.js';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { fingerprint } from '../../../support/readers/fingerprint.js';
import { untilAdmitted, type Reply } from '../../../support/service/service.js';
import { withService } from '../../../support/fixture/with-service.js';
import { fieldsOf, fresh, makeCourierCalls } from './courier-calls.js';

const fixture = withService();
const { api, service } = fixture;
const { list, manage, rows, auditOf } = makeCourierCalls(fixture);

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
