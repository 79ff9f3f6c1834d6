import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { withLogins, codesOf, WRONG, coded, uniqueName } from './login-calls.js';

const { service, makeUser, failTimes, logIn, auditOf, throttleOf, verify } = withLogins();

describe('user name lock', () => {
  test('locks a user name for 15 minutes after five failures in a row, for the right password too, and no other name', async () => {
    const user = await makeUser('locked');
    expect(codesOf(await failTimes(5, user.username))).toEqual(Array(5).fill('401 credentials_invalid'));
    const refused = [
      await logIn(user.username, WRONG).answer(),
      await logIn(user.username).answer(),
      await logIn(user.username.toUpperCase()).answer(),
    ];
    for (const reply of refused) {
      expect(coded(reply)).toBe('429 too_many_attempts');
      expect(reply.body['status']).toBe('fail');
      const retryAfter = Number(reply.headers.get('retry-after'));
      expect(retryAfter).toBeGreaterThan(890);
      expect(retryAfter).toBeLessThanOrEqual(900);
    }
    expect(await auditOf(user.id)).toEqual(['user.locked_out']);
    await logIn('warehouse').ok();

    await service().owner.query(
      "update login_throttles set locked_until = now() - interval '1 second' where subject = $1",
      [user.username],
    );
    await logIn(user.username, WRONG).refused(401, 'credentials_invalid');
    expect(await throttleOf('password', user.username)).toMatchObject({ failures: 1, locked_until: null });
    await logIn(user.username).ok();
  });

  test('locks an unknown name with the same response', async () => {
    const name = uniqueName('nobody');
    const replies = await failTimes(6, name);
    expect(codesOf(replies)).toEqual([...Array(5).fill('401 credentials_invalid'), '429 too_many_attempts']);
    expect(Number(replies.at(-1)?.headers.get('retry-after'))).toBeGreaterThan(890);
  });

  test('resets the failure count after a successful login', async () => {
    const { username } = await makeUser('reset');
    await failTimes(4, username);
    await logIn(username).ok();
    expect(await throttleOf('password', username)).toBeUndefined();
    expect(await logIn(username, WRONG).status()).toBe(401);
    expect(await throttleOf('password', username)).toMatchObject({ failures: 1 });
  });

  test('does not count failures older than 15 minutes', async () => {
    const { username } = await makeUser('stale');
    await service().owner.query(
      `insert into login_throttles (tenant_id, kind, subject, failures, updated_at)
       values ($1, 'password', $2, 4, now() - interval '15 minutes 1 second')`,
      [DEMO.tenants.demo, username],
    );
    expect(await logIn(username, WRONG).status()).toBe(401);
    expect(await throttleOf('password', username)).toMatchObject({ failures: 1, locked_until: null });
  });

  test('does not lock the same name in another tenant', async () => {
    await service().owner.query(
      `insert into login_throttles (tenant_id, kind, subject, failures, locked_until)
       values ($1, 'password', 'admin', 5, now() + interval '15 minutes')`,
      [DEMO.tenants.demo],
    );
    try {
      expect(await logIn('admin').status()).toBe(429);
      await logIn('admin', DEMO.password, { host: DEMO.hosts.two }).ok();
    } finally {
      await service().owner.query("delete from login_throttles where subject = 'admin'");
    }
  });

  test('blocks an address for every name after fifty failures, and no other address', async () => {
    const address = '2001:db8:1:2::1';
    const tries = Array.from({ length: 50 }, () => verify('unknown', '123456', { address }).answer());
    expect(new Set(codesOf(await Promise.all(tries)))).toEqual(new Set(['401 code_invalid']));
    // Another address of the same network counts together with it.
    const refused = await logIn('warehouse', DEMO.password, { address: '2001:db8:1:2:aaaa::7' }).refused(
      429,
      'too_many_attempts',
    );
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(800);
    expect(await verify('unknown', '123456', { address }).status()).toBe(429);
    await logIn('warehouse', DEMO.password, { address: '2001:db8:1:3::1' }).ok();
  });
});
