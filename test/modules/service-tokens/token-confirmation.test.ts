import { expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { makeTokenCalls } from './token-calls.js';
import { unchecked } from '../../support/fixture/sent.js';
import { withService } from '../../support/fixture/with-service.js';

// A stolen session makes no token that outlives it: what makes a secret or widens a token needs the own password.

const { api, db, service } = withService();
const { create, manage, packages } = makeTokenCalls(api);

const NONE = { current_password: undefined };
const unlock = () => db.query('delete from login_throttles');

const users = ['iex', 'manager', 'admin'] as const;

test.each(users)('without the right password, %s creates no token', async (user) => {
  const owner = user === 'manager' ? { courier_id: DEMO.couriers.IEX } : {};
  const body = { action: 'create', name: `of ${user}`, scopes: ['packages:read'], ...owner };
  const missing = await manage(user, { ...body, ...NONE }).refused(400, 'validation_failed');
  expect(missing.errors).toMatchObject([{ field: 'current_password', code: 'required' }]);
  const wrong = await manage(user, { ...body, current_password: 'guessed' }).refused(400, 'password_wrong');
  expect(wrong.errors).toMatchObject([{ field: 'current_password', code: 'wrong' }]);
  expect(await db.count('service_tokens', { name: `of ${user}` })).toBe(0);
  await manage(user, body).ok();
  await unlock();
});

test('without the right password, no secret is rotated, and both secrets stay as they are', async () => {
  const { id, secret } = await create('iex');
  const before = await db.one('service_tokens', { id });
  const body = { action: 'rotate', token_id: id };
  const missing = await manage('iex', { ...body, ...NONE }).refused(400, 'validation_failed');
  expect(missing.errors).toMatchObject([{ field: 'current_password', code: 'required' }]);
  await manage('iex', { ...body, current_password: 'guessed' }).refused(400, 'password_wrong');
  expect(await db.one('service_tokens', { id })).toEqual(before);
  await packages(secret).ok();
  await unlock();
});

const START = {
  scopes: ['packages:read', 'bills:read'],
  addresses: ['127.0.0.0/8', '203.0.113.0/24', '2001:db8::/32'],
  expires_in_days: 30,
};

test.each<[string, object]>([
  ['a further scope', { scopes: ['packages:read', 'customers:write'] }],
  ['another address', { addresses: ['127.0.0.0/8', '198.51.100.1'] }],
  ['a larger network', { addresses: ['203.0.112.0/23'] }],
  ['a larger IPv6 network', { addresses: ['2001:db8::/31'] }],
  ['any address', { addresses: [] }],
  ['every IPv4 address', { addresses: ['0.0.0.0/0'] }],
  ['a later end', { expires_in_days: 31 }],
])('an update to %s needs the password', async (_what, change) => {
  const { id } = await create('iex', START);
  const before = await db.one('service_tokens', { id });
  const entries = await db.count('audit_entries', { entity_id: id });
  const body = { action: 'update', token_id: id, ...change };
  const refusal = await manage('iex', { ...body, ...NONE }).refused(400, 'validation_failed');
  expect(refusal.errors).toMatchObject([{ field: 'current_password', code: 'required' }]);
  await manage('iex', { ...body, current_password: 'guessed' }).refused(400, 'password_wrong');
  expect(await db.one('service_tokens', { id })).toEqual(before);
  expect(await db.count('audit_entries', { entity_id: id })).toBe(entries);
  await manage('iex', body).ok();
  await manage('iex', { action: 'revoke', token_id: id }).ok();
});

test.each<[string, object]>([
  ['the name', { name: 'another name' }],
  ['fewer scopes', { scopes: ['bills:read'] }],
  ['a part of a network', { addresses: ['203.0.113.128/25', '2001:db8:1::/48'] }],
  ['one address of a network', { addresses: ['203.0.113.7', '2001:db8::1'] }],
  ['an earlier end', { expires_in_days: 1 }],
])('an update to %s needs none', async (_what, change) => {
  const { id } = await create('iex', START);
  await manage('iex', { action: 'update', token_id: id, ...change, ...NONE }).ok();
  await manage('iex', { action: 'revoke', token_id: id, ...NONE }).ok();
});

test('an expired token is not extended without the password', async () => {
  const { id, secret } = await create('iex');
  await db.query("update service_tokens set expires_at = now() - interval '1 second' where id = $1", [id]);
  const body = { action: 'update', token_id: id, expires_in_days: 1 };
  await manage('iex', { ...body, ...NONE }).refused(400, 'validation_failed');
  await packages(secret).refused(401, 'service_token_expired');
  await manage('iex', body).ok();
  await packages(secret).ok();
});

test('wrong passwords are counted with those of logins, the fifth locks both, and a right one ends the count', async () => {
  await unlock();
  const { id } = await create('hrb');
  const body = { action: 'rotate', token_id: id };
  const guess = { ...body, current_password: 'guessed' };
  for (let n = 0; n < 4; n += 1) await manage('hrb', guess).refused(400, 'password_wrong');
  // The count of couriers too, and although the work is refused.
  await manage('hrb', { ...body, token_id: DEMO.couriers.IEX }).refused(404, 'service_token_not_found');
  for (let n = 0; n < 5; n += 1) await manage('hrb', guess).refused(400, 'password_wrong');
  await manage('hrb', body).refused(429, 'too_many_attempts');
  const login = { action: 'login' as const, username: 'hrb', password: DEMO.password };
  await api.anonymous.login(login).refused(429, 'too_many_attempts');
  await unlock();
});

test('a password that was changed while it was compared makes no token', async () => {
  const client = await service().owner.connect();
  const { password_hash: stored } = await db.one('users', { id: DEMO.users.hrb });
  try {
    await client.query('begin');
    await client.query("update users set password_hash = 'another' where id = $1", [DEMO.users.hrb]);
    const sent = manage('hrb', { action: 'create', name: 'late', scopes: ['packages:read'] }).answer();
    const blocked = async () =>
      (
        await db.query(
          "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        )
      ).length > 0;
    for (let n = 0; n < 200 && !(await blocked()); n += 1) await new Promise((done) => setTimeout(done, 50));
    await client.query('commit');
    const { status, code } = await sent;
    expect([status, code]).toEqual([401, 'token_invalid']);
    expect(await db.count('service_tokens', { name: 'late' })).toBe(0);
  } finally {
    await client.query('rollback');
    client.release();
    await db.query('update users set password_hash = $2 where id = $1', [DEMO.users.hrb, stored]);
    await unlock();
  }
});

test('disable and reset_password say how many tokens of the user still work, and other actions do not', async () => {
  const { data: made } = await api
    .as('admin')
    .manageUsers(unchecked({ action: 'create', username: 'leaver', full_name: 'Leaver', role: 'manager' }))
    .answer();
  const user_id = (made as { user_id: string } | undefined)?.user_id ?? '';
  const act = async (action: string) =>
    (await api.as('admin').manageUsers(unchecked({ action, user_id })).ok()).data as {
      open_service_tokens?: number;
    };
  expect((await act('reset_password')).open_service_tokens).toBe(0);
  const tokens = await Promise.all([create('iex'), create('hrb'), create('hrb'), create('iex')]);
  const [first, second, revoked, expired] = tokens.map(({ id }) => id);
  await db.query('update service_tokens set created_by = $1 where id = any ($2::uuid[])', [
    user_id,
    [first, second, revoked, expired],
  ]);
  await db.query('update service_tokens set revoked_at = now() where id = $1', [revoked]);
  await db.query('update service_tokens set expires_at = now() where id = $1', [expired]);
  expect((await act('reset_password')).open_service_tokens).toBe(2);
  expect((await act('disable')).open_service_tokens).toBe(2);
  expect((await act('disable')).open_service_tokens).toBe(2);
  expect(await act('enable')).not.toHaveProperty('open_service_tokens');
});
