import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { unchecked } from '../../../support/fixture/sent.js';
import { withService } from '../../../support/fixture/with-service.js';
import { makeSessionCalls, sessionOf } from '../../sessions/session-calls.js';
import { HTTPS, makeCookieCalls, PLAIN, SECURE } from './cookie-calls.js';

const { api, db, service } = withService({ env: { TRUST_PROXY: '127.0.0.1' } });
const { list, logIn, makeUser, manage } = makeSessionCalls(api, db);
const { page, start } = makeCookieCalls(api, service);

/** A user who has logged in, with the token and the cookie of the session. */
async function atWork(fields: Record<string, unknown> = {}) {
  const user = await makeUser(fields);
  const token = await logIn(user);
  const { value } = await start(token);
  return { user, token, value, calls: page(value, user.id) };
}

describe('the cookie', () => {
  test('cannot be read by scripts, is sent to this host and site only, and ends with the browser', async () => {
    const token = await logIn(await makeUser());
    const { line, value } = await start(token, HTTPS);
    expect(line).toBe(`${SECURE}=${value}; Path=/; HttpOnly; Secure; SameSite=Strict`);
    // Without HTTPS, as in development, browsers refuse the prefix and Secure.
    expect((await start(token)).line).toBe(`${PLAIN}=${value}; Path=/api/; HttpOnly; SameSite=Strict`);
  });

  test('contains the token of the request with the same session and end, whatever cookie the browser had', async () => {
    const [{ value: planted }, user] = [await atWork(), await makeUser()];
    const token = await logIn(user);
    const { value } = await start(token, { cookie: `${PLAIN}=${planted}` });
    expect([value, sessionOf(value)]).toEqual([token, sessionOf(token)]);
    expect(await list(token)).toMatchObject([{ session_id: sessionOf(token), started_by: 'login' }]);
  });

  test('is not set by a login, which any page can send', async () => {
    const { username } = await makeUser();
    const body = { action: 'login' as const, username, password: DEMO.password };
    const { headers } = await api.anonymous.login(body, { headers: HTTPS }).ok();
    expect(headers.get('set-cookie')).toBeNull();
  });

  test('counts with HTTPS only under the name that no other host and no page without HTTPS can set', async () => {
    const { user, value } = await atWork();
    const secured = (name: string) =>
      page(value, user.id, { ...HTTPS, cookie: `${name}=${value}` }).getDeviceSession();
    await secured(SECURE).ok();
    await secured(PLAIN).refused(401, 'token_missing');
    await page(value, user.id, { cookie: `${SECURE}=${value}` })
      .getDeviceSession()
      .refused(401, 'token_missing');
  });

  test('is deleted by a log-out with it, but not by one with a token', async () => {
    const { calls } = await atWork();
    const { headers } = await calls.manageSessions({ action: 'logout' }).ok();
    expect(headers.get('set-cookie')).toBe(`${PLAIN}=; Max-Age=0; Path=/api/; HttpOnly; SameSite=Strict`);
    const other = await logIn(await makeUser());
    const ended = await api.withToken(other).manageSessions({ action: 'logout' }).ok();
    expect(ended.headers.get('set-cookie')).toBeNull();
  });
});

describe('a request with the cookie', () => {
  test('is one of the user: the session is listed as current, and its user and end are those of the token', async () => {
    const { user, token, calls } = await atWork();
    const { data } = await calls.getDeviceSession().ok();
    expect(data.user).toMatchObject({ id: user.id, username: user.username, role: 'manager' });
    const [listed] = (await calls.listSessions().ok()).data;
    expect(listed).toMatchObject({ session_id: sessionOf(token), is_current: true });
    expect(listed?.expires_at).toBe(data.expires_at);
  });

  test('is refused after the log-out, also if somebody has copied the cookie', async () => {
    const { calls } = await atWork();
    await calls.manageSessions({ action: 'logout' }).ok();
    await calls.getDeviceSession().refused(401, 'session_ended');
  });

  test('is refused as one with the token is when the session or the account changes', async () => {
    const changes: [change: string, outcome: [number, string]][] = [
      [
        "update sessions set ended_at = now(), end_reason = 'ended' where user_id = $1",
        [401, 'session_ended'],
      ],
      ['update users set is_active = false where id = $1', [403, 'account_disabled']],
      ["update users set role = 'warehouse' where id = $1", [401, 'token_invalid']],
      ['update users set token_version = token_version + 1 where id = $1', [401, 'token_invalid']],
      ['update users set must_change_password = true where id = $1', [403, 'password_change_required']],
    ];
    for (const [change, [status, code]] of changes) {
      const { user, token, calls } = await atWork();
      await calls.listSessions().ok();
      await db.query(change, [user.id]);
      await calls.listSessions().refused(status, code);
      await api.withToken(token).listSessions().refused(status, code);
    }
  });

  test('is refused for a session that was idle longer than the tenant permits, and after 8 hours', async () => {
    const { user, calls } = await atWork();
    await api
      .as('admin')
      .updateSecuritySettings(unchecked({ idle_timeout_minutes: 15 }))
      .ok();
    await calls.listSessions().ok();
    await db.query("update sessions set last_seen_at = now() - interval '16 minutes' where user_id = $1", [
      user.id,
    ]);
    await calls.listSessions().refused(401, 'session_ended');
    await api
      .as('admin')
      .updateSecuritySettings(unchecked({ idle_timeout_minutes: null }))
      .ok();

    const late = await makeUser();
    const nowS = Math.floor(Date.now() / 1000) - 8 * 60 * 60 - 60;
    const { rows } = await service().owner.query(
      `insert into sessions (tenant_id, id, user_id, started_by, address, expires_at)
       values ($1, new_id(), $2, 'login', '::1', now() - interval '1 minute') returning id`,
      [DEMO.tenants.demo, late.id],
    );
    const claims = {
      tenantId: DEMO.tenants.demo,
      userId: late.id,
      role: 'manager',
      courierId: null,
    } as const;
    const old = service().app.tokens.issue({ ...claims, tokenVersion: 0, sessionId: rows[0].id }, nowS);
    await page(old, late.id).getDeviceSession().refused(401, 'token_expired');
  });

  test('is refused at the host of another tenant', async () => {
    const { user, value } = await atWork();
    const cookie = `${PLAIN}=${value}`;
    const elsewhere = api.with({
      host: 'two.localhost',
      headers: { cookie, 'x-crossdock-user': user.id, 'sec-fetch-site': 'same-origin' },
    });
    await elsewhere.getDeviceSession().refused(401, 'token_invalid');
  });

  test('of one user is refused from the page of another, which did not see the other login', async () => {
    const [first, second] = [await atWork(), await atWork()];
    await page(second.value, first.user.id).listSessions().refused(401, 'token_invalid');
    await page(second.value, 'unknown').getDeviceSession().ok();
    await page(second.value, 'unknown').listSessions().refused(401, 'token_invalid');
  });

  test('with a one-time password may change it, and nothing else', async () => {
    const { user, calls } = await atWork({ must_change_password: true });
    expect((await calls.getDeviceSession().ok()).data.user).toMatchObject({ must_change_password: true });
    await calls.listSessions().refused(403, 'password_change_required');
    const body = { current_password: DEMO.password, new_password: 'seven parcels on a wet quay' };
    const changed = await calls.changePassword(body).ok();
    await calls.getDeviceSession().refused(401, 'token_invalid');
    const { value } = await start(changed.data.access_token);
    await page(value, user.id).listSessions().ok();
  });

  test('and with a header Authorization counts as the header alone, right or wrong', async () => {
    const [mine, theirs] = [await atWork(), await atWork()];
    const both = (authorization: string) => page(mine.value, mine.user.id, { authorization });
    const seen = await both(`Bearer ${theirs.token}`).getDeviceSession().ok();
    expect(seen.data.user.id).toBe(theirs.user.id);
    await manage(theirs.token, { action: 'logout' }).ok();
    await both(`Bearer ${theirs.token}`).getDeviceSession().refused(401, 'session_ended');
    await both('Bearer no.such.token').getDeviceSession().refused(401, 'token_invalid');
    await both('').getDeviceSession().refused(401, 'token_missing');
    await mine.calls.getDeviceSession().ok();
  });
});
