import { crc32 } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { makeTokenCalls, type TokenFields } from './token-calls.js';
import { withService } from '../../support/fixture/with-service.js';

const { api, db } = withService();
const { create, manage, rotate } = makeTokenCalls(api);

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
  const rotated = await rotate('hrb', id);
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
  test.each<[string, TokenFields, string, string]>([
    ['a scope of the staff', { scopes: ['packages:read', 'intake:write'] }, 'scopes[1]', 'invalid'],
    ['an unknown scope', { scopes: ['everything'] }, 'scopes[0]', 'enum'],
    ['no scope', { scopes: [] }, 'scopes', 'minItems'],
    ['an address with a zone', { addresses: ['fe80::1%eth0'] }, 'addresses[0]', 'invalid'],
    ['a network with a zone', { addresses: ['fe80::%eth0/64'] }, 'addresses[0]', 'invalid'],
    ['more than the IPv4-mapped addresses', { addresses: ['::ffff:0:0/95'] }, 'addresses[0]', 'invalid'],
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
  expect(staffs.data.filter(({ courier_id }) => courier_id !== null)).toEqual([]);
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
