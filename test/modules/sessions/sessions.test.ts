import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { deleteExpired } from '../../../src/jobs/retention.js';
import { openLastSeen } from '../../../src/modules/sessions/last-seen.js';
import { unchecked } from '../../support/fixture/sent.js';
import { withService } from '../../support/fixture/with-service.js';
import { makeSessionCalls, sessionOf } from './session-calls.js';

const { api, db, service } = withService({ env: { TRUST_PROXY: '127.0.0.1' } });
const { list, logIn, makeUser, statusWith } = makeSessionCalls(api, db);

describe('session start', () => {
  test('a login creates one session with address, client and expiry, marked as current in the list', async () => {
    const user = await makeUser();
    const headers = { 'x-forwarded-for': '203.0.113.7', 'user-agent': `Desk/1.0 ${'x'.repeat(500)}` };
    const token = await logIn(user, headers);
    const [first, ...others] = await list(token);
    expect(others).toEqual([]);
    expect(first).toMatchObject({
      session_id: sessionOf(token),
      user_id: user.id,
      is_current: true,
      is_active: true,
      started_by: 'login',
      address: '203.0.113.7',
      ended_at: null,
      end_reason: null,
    });
    expect(String(first?.user_agent)).toMatch(/^Desk\/1\.0 x+…$/);
    expect(String(first?.user_agent)).toHaveLength(255);
    const timeOf = (field: 'created_at' | 'expires_at') => Date.parse(`${first?.[field]}Z`);
    const lifetime = timeOf('expires_at') - timeOf('created_at');
    expect(Math.abs(lifetime - 8 * 60 * 60 * 1000)).toBeLessThanOrEqual(1_000);
    // The list never contains the token.
    expect(JSON.stringify(first)).not.toContain(token.slice(-20));
    const second = await logIn(user);
    expect((await list(second)).map((each) => each.is_current)).toEqual([true, false]);
    expect((await list(second, { limit: 1, page: 2 })).map((each) => each.session_id)).toEqual([
      sessionOf(token),
    ]);
  });

  test('a password change ends all earlier sessions and starts a new one', async () => {
    const user = await makeUser();
    const [old, other] = [await logIn(user), await logIn(user)];
    const body = { current_password: DEMO.password, new_password: 'seven parcels on a wet quay' };
    const changed = await api.withToken(old).changePassword(body).ok();
    const fresh = changed.data.access_token;
    expect([await statusWith(old), await statusWith(other)]).toEqual(Array(2).fill('401 token_invalid'));
    expect(await list(fresh)).toMatchObject([
      { session_id: sessionOf(fresh), started_by: 'password_change', is_current: true },
    ]);
    expect(await list(fresh, { is_active: false })).toMatchObject([
      { session_id: sessionOf(other), end_reason: 'revoked', is_active: false },
      { session_id: sessionOf(old), end_reason: 'revoked', is_active: false },
    ]);
  });

  test("every action that ends a user's tokens ends the sessions too", async () => {
    for (const [action, fields] of Object.entries({
      change_role: { role: 'warehouse' },
      disable: {},
      reset_password: {},
    })) {
      const user = await makeUser();
      const token = await logIn(user);
      await api
        .as('admin')
        .manageUsers(unchecked({ action, user_id: user.id, ...fields }))
        .ok();
      const query = { user_id: user.id, is_active: false };
      const ended = await api.as('admin').listSessions(query).ok();
      expect([action, ended.data]).toMatchObject([
        action,
        [{ session_id: sessionOf(token), end_reason: 'revoked' }],
      ]);
    }
  });
});

describe('time of last use', () => {
  const lastSeenOf = async (token: string): Promise<Date> =>
    (await db.one('sessions', { id: sessionOf(token) })).last_seen_at;
  const age = (token: string, minutes: number) =>
    db.query('update sessions set last_seen_at = last_seen_at - make_interval(mins => $2) where id = $1', [
      sessionOf(token),
      minutes,
    ]);

  test('is written by the next flush instead of the request, at most once per minute', async () => {
    const token = await logIn(await makeUser());
    await age(token, 30);
    const before = await lastSeenOf(token);
    expect(await statusWith(token)).toBe('200 success');
    expect(await lastSeenOf(token)).toEqual(before);
    await service().app.lastSeen.flush();
    const written = await lastSeenOf(token);
    expect(Date.now() - written.getTime()).toBeLessThan(20_000);
    await statusWith(token);
    await service().app.lastSeen.flush();
    expect(await lastSeenOf(token)).toEqual(written);
  });

  test('is not updated by a rejected request', async () => {
    const user = await makeUser();
    const token = await logIn(user);
    await age(token, 30);
    const before = await lastSeenOf(token);
    await db.query('update users set is_active = false where id = $1', [user.id]);
    expect(await statusWith(token)).toBe('403 account_disabled');
    await service().app.lastSeen.flush();
    expect(await lastSeenOf(token)).toEqual(before);
  });

  test('is updated by several servers for the same 500 sessions without deadlock or loss', async () => {
    const user = await makeUser();
    const sessions = await db.query<{ id: string }>(
      `insert into sessions (tenant_id, id, user_id, started_by, address, last_seen_at, expires_at)
       select $1, new_id(), $2, 'login', '::1', now() - interval '1 hour', now() + interval '1 hour'
       from generate_series(1, 500) returning id`,
      [DEMO.tenants.demo, user.id],
    );
    const errors: unknown[] = [];
    const servers = [1, 2, 3, 4].map(() => openLastSeen((error) => void errors.push(error)));
    for (const [n, server] of servers.entries())
      for (const { id } of n % 2 ? sessions.toReversed() : sessions)
        server.record({ tenantId: DEMO.tenants.demo, sessionId: id }, service().db);
    await Promise.all(servers.map((server) => server.stop()));
    const late = await db.query(
      "select id from sessions where user_id = $1 and last_seen_at < now() - interval '1 minute'",
      [user.id],
    );
    expect([errors, late]).toEqual([[], []]);
  });
});

test('retention deletes ended and expired sessions after 30 days, and networks after 90 except the newest', async () => {
  const user = await makeUser();
  const token = await logIn(user);
  await db.query(
    `insert into sessions (tenant_id, id, user_id, started_by, address, expires_at, ended_at, end_reason)
     select $1, new_id(), $2, 'login', days::text, now() + interval '8 hours' - make_interval(days => days),
       case when is_ended then now() - make_interval(days => days) end, case when is_ended then 'logout' end
     from unnest(array[29, 31]) days, unnest(array[true, false]) is_ended`,
    [DEMO.tenants.demo, user.id],
  );
  const other = await makeUser();
  await db.query(
    `insert into known_networks (tenant_id, user_id, network, last_seen_at)
     select $1, user_id, days::text, now() - make_interval(days => days)
     from (values ($2::uuid, 89), ($2, 91), ($3, 91), ($3, 92)) as known (user_id, days)`,
    [DEMO.tenants.demo, user.id, other.id],
  );
  await deleteExpired({ db: service().db, stopping: new AbortController().signal });
  const kept = await db.all('sessions', { user_id: user.id });
  expect(kept.map(({ address }) => address).filter((each) => /^\d\d$/.test(each))).toEqual(['29', '29']);
  const networks = await db.query(
    'select user_id, network from known_networks where user_id = any($1) and network ~ $2 order by network',
    [[user.id, other.id], '^\\d\\d$'],
  );
  expect(networks).toEqual([
    { user_id: user.id, network: '89' },
    { user_id: other.id, network: '91' },
  ]);
  expect(await statusWith(token)).toBe('200 success');
});
