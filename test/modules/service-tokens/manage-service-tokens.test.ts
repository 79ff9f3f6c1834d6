import { crc32 } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { unchecked } from '../../support/fixture/sent.js';
import { withService } from '../../support/fixture/with-service.js';

const { api, db, service } = withService({ env: { TRUST_PROXY: '127.0.0.1' } });

type Fields = {
  name: string;
  scopes: string[];
  courier_id?: string;
  addresses?: string[];
  expires_in_days?: number;
};

let serial = 0;

async function create(as: string, fields: Partial<Fields> = {}) {
  const body = { action: 'create', name: `token ${(serial += 1)}`, scopes: ['packages:read'], ...fields };
  const { data } = await api.as(as).manageServiceTokens(unchecked(body)).ok();
  if (data.token === null) throw new Error('A new token has no secret.');
  return { secret: data.token, id: data.service_token.token_id, record: data.service_token };
}

const manage = (as: string, body: object) => api.as(as).manageServiceTokens(unchecked(body));
const packages = (token: string, headers: Record<string, string> = {}) =>
  api.withToken(token).listPackages({}, { headers });

const setTo = (id: string, assignment: string) =>
  db.query(`update service_tokens set ${assignment} where id = $1`, [id]);

test('a courier creates a token, which is shown once, and lists it without its secret', async () => {
  const { secret, id, record } = await create('iex', {
    name: 'importer',
    addresses: ['2001:DB8::/32', '203.0.113.9/24'],
  });
  expect(secret).toMatch(/^cdk_[0-9A-Za-z]{92}$/);
  expect(record).toMatchObject({
    courier_id: DEMO.couriers.IEX,
    name: 'importer',
    scopes: ['packages:read'],
    addresses: ['2001:db8::/32', '203.0.113.0/24'],
    is_active: true,
    hint: secret.slice(-6),
    created_by: DEMO.users.iex,
    revoked_at: null,
    previous_hint: null,
    previous_ends_at: null,
    last_used_at: null,
  });
  const listed = await api.as('iex').listServiceTokens({}).ok();
  expect(listed.data.find((each) => each.token_id === id)).toEqual(record);
  expect(listed.bytes.toString()).not.toContain(secret);
  const row = await db.one('service_tokens', { id });
  expect(JSON.stringify(row)).not.toContain(secret);
  expect(JSON.stringify(row)).not.toContain(secret.slice(-70));
});

test('a token ends with the CRC-32 of the text before it, in base 62, so that scanners can verify it', async () => {
  const { secret } = await create('iex');
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  const value = [...secret.slice(-6)].reduce((sum, digit) => sum * 62 + digits.indexOf(digit), 0);
  expect(value).toBe(crc32(secret.slice(0, -6)));
});

test('a new token is valid for 365 days, or for the days that were sent', async () => {
  const days = async (id: string) => {
    const [row] = await db.query<{ days: number }>(
      'select round(extract(epoch from expires_at - created_at) / 86400)::int as days from service_tokens where id = $1',
      [id],
    );
    return row?.days;
  };
  const byDefault = await create('iex');
  const short = await create('iex', { expires_in_days: 7 });
  expect([await days(byDefault.id), await days(short.id)]).toEqual([365, 7]);
});

test('every change is in the audit log, without the secret, and the token is the actor of what it does', async () => {
  const { secret, id } = await create('hrb', { name: 'audited', scopes: ['customers:write'] });
  await manage('hrb', { action: 'update', token_id: id, name: 'audited too' }).ok();
  const rotated = (await manage('hrb', { action: 'rotate', token_id: id }).ok()).data.token ?? '';
  await api
    .withToken(rotated)
    .createCustomer({ user_code: 'TOK-1', first_name: 'A', last_name: 'B' })
    .succeeded();
  await manage('hrb', { action: 'revoke', token_id: id }).ok();
  const entries = await db.query<{ action: string; actor_id: string }>(
    'select action, actor_id, before, after from audit_entries where entity_id = $1 order by at, id',
    [id],
  );
  expect(entries.map(({ action, actor_id }) => [action, actor_id])).toEqual(
    ['created', 'updated', 'rotated', 'revoked'].map((each) => [`service_token.${each}`, DEMO.users.hrb]),
  );
  const text = JSON.stringify(entries);
  for (const each of [secret, rotated]) expect(text).not.toContain(each);
  const done = await api.as('admin').listAuditEntries({ actor_id: id }).ok();
  expect(done.data.map(({ action, actor_kind, actor_name }) => [action, actor_kind, actor_name])).toEqual([
    ['customer.created', 'api_key', 'audited too'],
  ]);
});

describe('the fields of a token', () => {
  test.each<[string, Partial<Fields>, string, string]>([
    ['a scope of the staff', { scopes: ['packages:read', 'intake:write'] }, 'scopes[1]', 'invalid'],
    ['an unknown scope', { scopes: ['everything'] }, 'scopes[0]', 'enum'],
    ['no scope', { scopes: [] }, 'scopes', 'minItems'],
    ['a text that is no address', { addresses: ['10.0.0.1', 'example.com'] }, 'addresses[1]', 'invalid'],
    ['a prefix that is too long', { addresses: ['10.0.0.0/33'] }, 'addresses[0]', 'invalid'],
    ['more than two years', { expires_in_days: 731 }, 'expires_in_days', 'maximum'],
    ['a blank name', { name: ' ' }, 'name', 'pattern'],
  ])('%s is refused', async (_what, fields, field, code) => {
    const body = { action: 'create', name: 'refused', scopes: ['packages:read'], ...fields };
    const refusal = await manage('iex', body).refused(400, 'validation_failed', field);
    expect(refusal.errors).toEqual([expect.objectContaining({ field, code })]);
  });
});

test('managers create tokens of couriers, and only administrators those of the staff', async () => {
  await create('manager', { courier_id: DEMO.couriers.HRB });
  const staff = { action: 'create', name: 'staff', scopes: ['intake:write'] };
  await manage('manager', staff).refused(403, 'permission_denied');
  await manage('warehouse', staff).refused(403, 'permission_denied');
  const { id } = await create('admin', { scopes: ['intake:write', 'manifests:write'] });
  for (const action of ['update', 'rotate', 'revoke'])
    await manage('manager', { action, token_id: id }).refused(403, 'permission_denied');
  await api.as('manager').listServiceTokens({}).refused(403, 'permission_denied');
  await api.as('manager').listServiceTokens({ courier_id: DEMO.couriers.HRB }).ok();
  const staffs = await api.as('admin').listServiceTokens({}).ok();
  expect(staffs.data.every(({ courier_id }) => courier_id === null)).toBe(true);
  expect(staffs.data.map(({ token_id }) => token_id)).toContain(id);
});

test('a name is free again once its token is revoked', async () => {
  const { id } = await create('iex', { name: 'unique' });
  const same = { action: 'create', name: 'unique', scopes: ['bills:read'] };
  await manage('iex', same).refused(409, 'duplicate_token_name');
  await create('hrb', { name: 'unique' });
  const other = await create('iex');
  await manage('iex', { action: 'update', token_id: other.id, name: 'unique' }).refused(
    409,
    'duplicate_token_name',
  );
  await manage('iex', { action: 'revoke', token_id: id }).ok();
  await create('iex', { name: 'unique' });
});

test('an update changes what was sent, and says if that is nothing', async () => {
  const { id, record } = await create('iex', { name: 'changing' });
  const same = await manage('iex', { action: 'update', token_id: id, name: 'changing' }).ok();
  expect(same.message).toMatch(/Nothing was changed/);
  const changed = await manage('iex', {
    action: 'update',
    token_id: id,
    addresses: ['10.1.2.3'],
    expires_in_days: 1,
  }).ok();
  expect(changed.data).toMatchObject({
    token: null,
    service_token: {
      ...record,
      addresses: ['10.1.2.3'],
      expires_at: expect.not.stringMatching(record.expires_at),
    },
  });
});

test('a change of the scopes applies to the next request', async () => {
  const { id, secret } = await create('iex', { scopes: ['bills:read'] });
  const refusal = await packages(secret).refused(403, 'scope_missing');
  expect(refusal.message).toContain('packages:read');
  await manage('iex', { action: 'update', token_id: id, scopes: ['bills:read', 'packages:read'] }).ok();
  await packages(secret).ok();
  await manage('iex', { action: 'update', token_id: id, scopes: ['bills:read'] }).ok();
  await packages(secret).refused(403, 'scope_missing');
});

test('after a rotation both secrets work until the overlap ends', async () => {
  const { id, secret } = await create('iex');
  const rotated = await manage('iex', { action: 'rotate', token_id: id, overlap_hours: 48 }).ok();
  const second = rotated.data.token ?? '';
  expect(rotated.data.service_token).toMatchObject({
    hint: second.slice(-6),
    previous_hint: secret.slice(-6),
  });
  await packages(secret).ok();
  await packages(second).ok();
  await setTo(id, "previous_ends_at = now() - interval '1 second'");
  await packages(secret).refused(401, 'service_token_replaced');
  await packages(second).ok();
  const { data } = await api.as('iex').listServiceTokens({ limit: 100 }).ok();
  expect(data.find(({ token_id }) => token_id === id)).toMatchObject({
    previous_hint: null,
    previous_ends_at: null,
  });
});

test('an overlap of 0 hours, or a second rotation, ends the oldest secret at once', async () => {
  const { id, secret } = await create('iex');
  const second = (await manage('iex', { action: 'rotate', token_id: id }).ok()).data.token ?? '';
  const third = (await manage('iex', { action: 'rotate', token_id: id }).ok()).data.token ?? '';
  await packages(secret).refused(401, 'service_token_invalid');
  await packages(second).ok();
  const fourth =
    (await manage('iex', { action: 'rotate', token_id: id, overlap_hours: 0 }).ok()).data.token ?? '';
  await packages(third).refused(401, 'service_token_replaced');
  await packages(fourth).ok();
});

test('a revoked token is refused with all of its secrets, and cannot be changed', async () => {
  const { id, secret } = await create('iex');
  const second = (await manage('iex', { action: 'rotate', token_id: id }).ok()).data.token ?? '';
  expect((await manage('iex', { action: 'revoke', token_id: id }).ok()).message).toBe(
    'Service token revoked.',
  );
  for (const each of [secret, second]) await packages(each).refused(401, 'service_token_revoked');
  for (const action of ['update', 'rotate'])
    await manage('iex', { action, token_id: id }).refused(409, 'service_token_ended');
  const again = await manage('iex', { action: 'revoke', token_id: id }).ok();
  expect(again.message).toMatch(/Nothing was changed/);
  const ended = await api.as('iex').listServiceTokens({ is_active: false, limit: 100 }).ok();
  expect(ended.data.map(({ token_id }) => token_id)).toContain(id);
});

test('an expired token is refused until it is extended', async () => {
  const { id, secret } = await create('iex');
  await setTo(id, "expires_at = now() - interval '1 second'");
  await packages(secret).refused(401, 'service_token_expired');
  await manage('iex', { action: 'update', token_id: id, expires_in_days: 30 }).ok();
  await packages(secret).ok();
});

test('a token with addresses is refused from every other one, by the address that the trusted proxy reports', async () => {
  const { secret } = await create('iex', { addresses: ['203.0.113.0/28', '2001:db8::1'] });
  const from = (address: string) => packages(secret, { 'x-forwarded-for': address });
  for (const address of ['203.0.113.0', '203.0.113.15', '2001:db8::1', '::ffff:203.0.113.7'])
    await from(address).ok();
  for (const address of ['203.0.113.16', '198.51.100.1', '2001:db8::2'])
    await from(address).refused(403, 'address_not_allowed');
  await packages(secret).refused(403, 'address_not_allowed');
});

test('a token of a disabled courier is refused', async () => {
  const { secret } = await create('admin', { courier_id: DEMO.couriers.HRB });
  await db.query('update couriers set is_active = false where id = $1', [DEMO.couriers.HRB]);
  await packages(secret).refused(403, 'account_disabled');
  await db.query('update couriers set is_active = true where id = $1', [DEMO.couriers.HRB]);
  await packages(secret).ok();
});

test('a damaged token, one of another tenant and one that does not exist are refused', async () => {
  const { id, secret } = await create('iex');
  const damaged = `${secret.slice(0, 40)}${secret[40] === 'x' ? 'y' : 'x'}${secret.slice(41)}`;
  for (const token of [damaged, secret.slice(0, -1), 'cdk_'])
    await packages(token).refused(401, 'service_token_invalid');
  await api.withToken(secret, DEMO.hosts.two).listPackages({}).refused(401, 'service_token_invalid');
  await db.query('delete from service_tokens where id = $1', [id]);
  await packages(secret).refused(401, 'service_token_invalid');
});

test('a token of a courier sees only the rows of that courier, and one of the staff those of the tenant', async () => {
  const courier = await create('iex');
  const staff = await create('admin', { scopes: ['packages:read'] });
  const total = async (token: string) => (await packages(token).ok()).meta.total_count;
  const stored = (where: object = {}) => db.count('packages', { tenant_id: DEMO.tenants.demo, ...where });
  expect(await total(courier.secret)).toBe(await stored({ courier_id: DEMO.couriers.IEX }));
  expect(await total(staff.secret)).toBe(await stored());
});

test('Prealert.php accepts a token of a courier with prealerts:write, and the key stays as it is', async () => {
  const submit = (token: string, number: string) =>
    api.withToken(token).submitPrealert({ UserCode: 'IEX-1001', TrackingNumber: number });
  const { id, secret } = await create('iex', { scopes: ['prealerts:write'] });
  const created = await submit(secret, '1Z999AA10987654321').created();
  expect(await db.prealert(created.data.prealert_id)).toMatchObject({ courier_id: DEMO.couriers.IEX });
  const [entry] = await db.auditOf(created.data.prealert_id);
  expect(entry).toMatchObject({ action: 'prealert.created', actor_kind: 'api_key', actor_id: id });
  await submit(secret, '1Z999AA10987654321').refused(409, 'duplicate_tracking_number');
  const reader = await create('iex');
  await submit(reader.secret, 'TOKEN-1000000').refused(403, 'scope_missing');
  const staff = await create('admin', { scopes: ['prealerts:write'] });
  await submit(staff.secret, 'TOKEN-1000001').refused(403, 'token_not_accepted');
  await submit(await service().tokenOf('iex'), 'TOKEN-1000002').refused(401, 'key_missing');
  await manage('iex', { action: 'revoke', token_id: id }).ok();
  await submit(secret, 'TOKEN-1000003').refused(401, 'service_token_revoked');
  await api
    .withKey(DEMO.apiKeys.IEX)
    .submitPrealert({ UserCode: 'IEX-1001', TrackingNumber: 'TOKEN-1000004' })
    .created();
});

test('a token reads no API key, and changes webhook URLs but nothing else of the settings', async () => {
  const { secret } = await create('iex', { scopes: ['webhooks:manage'] });
  const own = api.withToken(secret);
  const read = await own.getCourierSettings({}).ok();
  expect(read.data).toMatchObject({ courier_id: DEMO.couriers.IEX, api_key: null, api_token: null });
  expect((await api.as('iex').getCourierSettings({}).ok()).data.api_key).toBe(DEMO.apiKeys.IEX);
  const changed = await own.updateCourierSettings(unchecked({ add_package_format: 'flat' })).ok();
  expect(changed.data).toMatchObject({ add_package_format: 'flat', api_key: null, api_token: null });
  for (const body of [
    { action: 'regenerate_key' },
    { courier_name: 'X' },
    { api_token: 'x' },
    { add_package_format: 'flat', email: '' },
  ])
    await own.updateCourierSettings(unchecked(body)).refused(403, 'token_not_accepted');
  await own.updateCourierSettings(unchecked({ action: 'rotate_webhook_secret' })).ok();
  await own.regenerateApiKey({}).refused(403, 'token_not_accepted');
  expect((await db.courier(DEMO.couriers.IEX)).name).not.toBe('X');
});

test('the time and the address of the last use are stored', async () => {
  const { id, secret } = await create('iex');
  await packages(secret, { 'x-forwarded-for': '198.51.100.77' }).ok();
  await service().app.tokenUse.flush();
  const { data } = await api.as('iex').listServiceTokens({ limit: 100 }).ok();
  expect(data.find(({ token_id }) => token_id === id)).toMatchObject({
    last_used_at: expect.stringMatching(/^\d{4}-/),
    last_used_address: '198.51.100.77',
  });
});

describe('the limits of an owner', () => {
  beforeAll(() => db.query('delete from service_tokens'));
  afterAll(() => db.query('delete from service_tokens'));

  test('of 30 simultaneous creations, 20 succeed', async () => {
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        manage('hrb', { action: 'create', name: `at once ${n}`, scopes: ['packages:read'] }).answer(),
      ),
    );
    const statuses = answers.map(({ status, code }) => code ?? String(status)).sort();
    expect(statuses).toEqual([
      ...Array<string>(20).fill('200'),
      ...Array<string>(10).fill('too_many_tokens'),
    ]);
    expect(await db.count('service_tokens', { courier_id: DEMO.couriers.HRB })).toBe(20);
  });

  test('of 20 simultaneous creations with one name, one succeeds', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        manage('iex', { action: 'create', name: 'the same', scopes: ['packages:read'] }).answer(),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test('a courier creates at most 100 tokens per day', async () => {
    await db.query(
      `insert into principal_quotas (tenant_id, principal_kind, principal_id, courier_id, kind, period_start, used)
       values ($1, 'courier', $2, $2, 'service_tokens', date_trunc('day', now() at time zone 'UTC') at time zone 'UTC', 100)
       on conflict (tenant_id, principal_kind, principal_id, kind, period_start) do update set used = 100`,
      [DEMO.tenants.demo, DEMO.couriers.IEX],
    );
    await manage('iex', { action: 'create', name: 'too many', scopes: ['packages:read'] }).refused(
      429,
      'quota_exceeded',
    );
  });
});

test('200 concurrent uses: none that is sent after the reply to the revocation is accepted', async () => {
  await db.query("delete from principal_quotas where kind = 'service_tokens'");
  const { id, secret } = await create('iex');
  const uses: Promise<{ sentAfter: boolean; status: number }>[] = [];
  let isRevoked = false;
  const send = async () => {
    const sentAfter = isRevoked;
    const { status } = await packages(secret).answer();
    return { sentAfter, status };
  };
  for (let n = 0; n < 100; n += 1) uses.push(send());
  await manage('iex', { action: 'revoke', token_id: id }).ok();
  isRevoked = true;
  for (let n = 0; n < 100; n += 1) uses.push(send());
  const done = await Promise.all(uses);
  expect(done.filter(({ sentAfter }) => sentAfter).map(({ status }) => status)).toEqual(
    Array<number>(100).fill(401),
  );
  expect(done.some(({ sentAfter, status }) => !sentAfter && status === 200)).toBe(true);
});
