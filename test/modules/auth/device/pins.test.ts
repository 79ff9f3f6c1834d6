import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { withService } from '../../../support/fixture/with-service.js';
import { makeSessionCalls, sessionOf } from '../../sessions/session-calls.js';
import { HTTPS } from './cookie-calls.js';
import { makePinCalls, PIN, STATION_COOKIE } from './pin-calls.js';

// Workers who share a station change with a PIN (decision 0137).

const { api, db } = withService({ env: { TRUST_PROXY: '127.0.0.1' } });
const { auditOf, list: sessionsOf } = makeSessionCalls(api, db);
const { at, atStation, cookieIn, list, logIn, makeWorker, manage, setPin, take } = makePinCalls({ api, db });

describe('a PIN', () => {
  test('is 6 to 8 digits that nobody tries first, and needs the password', async () => {
    const worker = await makeWorker();
    const codes = async (pin: string) =>
      (await setPin(worker, { pin }).refused(400, 'validation_failed')).errors;
    for (const pin of ['12345', '480271480', '48o271', ''])
      expect(new Set((await codes(pin)).map(({ field }) => field))).toEqual(new Set(['pin']));
    for (const pin of ['000000', '121212', '123123', '48714871', '234567', '890123', '987654', '321098'])
      expect(await codes(pin)).toMatchObject([{ field: 'pin', code: 'common' }]);
    const wrong = await setPin(worker, { password: 'wrong' }).refused(400, 'password_wrong');
    expect(wrong.errors).toMatchObject([{ field: 'current_password', code: 'wrong' }]);
    expect((await manage(worker, 'remember').ok()).data).toEqual({ has_pin: false, remembered_until: null });
    await setPin(worker, { pin: '48027148' }).ok();
  });

  test('is stored as a hash, and is not in the audit log', async () => {
    const { worker } = await atStation();
    const [stored] = await db.all('users', { id: worker.id });
    expect(stored?.pin_hash).toMatch(/^\$2[aby]\$/);
    const audit = await auditOf(worker.id);
    expect(audit.map(({ action }) => action)).toEqual(['user.pin_set']);
    expect(JSON.stringify(audit)).not.toContain(PIN);
  });

  test('is for the role warehouse only', async () => {
    for (const role of ['manager', 'admin']) {
      const user = await makeWorker({ role });
      await setPin(user).refused(403, 'permission_denied');
      await manage(user, 'remember').refused(403, 'permission_denied');
    }
    await api.as('iex').manageStationWorker({ action: 'remember' }).refused(403, 'permission_denied');
  });
});

describe('a station', () => {
  test('is a browser with a cookie that no script can read, sent to this site only, for 12 hours', async () => {
    const worker = await makeWorker();
    const token = api.withToken(worker.token);
    const body = { action: 'set_pin', current_password: DEMO.password, pin: PIN } as const;
    const secure = (await token.manageStationWorker(body, at(undefined, HTTPS)).ok()).headers.get(
      'set-cookie',
    );
    expect(secure).toMatch(
      /^__Host-crossdock-station=[\w-]{43}\.[0-9a-f]{32}; Max-Age=43200; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
    );
    const plain = (await token.manageStationWorker(body, at(undefined)).ok()).headers.get('set-cookie');
    expect(plain).toMatch(
      /^crossdock-station=[\w-]{43}\.[0-9a-f]{32}; Max-Age=43200; Path=\/api\/; HttpOnly; SameSite=Strict$/,
    );
  });

  test('takes no name that somebody has made up', async () => {
    const worker = await makeWorker();
    const { headers } = await setPin(worker, { station: 'made-up' }).ok();
    expect(cookieIn(headers)).not.toBe('made-up');
    expect(await list('made-up')).toEqual([]);
  });

  test('of one tenant is none of another', async () => {
    const { worker, station } = await atStation();
    const there = api.with({ host: DEMO.hosts.two });
    expect((await there.listStationWorkers(undefined, at(station)).ok()).data.workers).toEqual([]);
    const body = { user_id: worker.id, pin: PIN };
    await there.switchWorker(body, at(station)).refused(401, 'password_needed');
  });

  test('remembers an old session until 12 hours after its login, not after the request', async () => {
    const { worker } = await atStation();
    const again = { ...worker, token: await logIn(worker) };
    await db.query("update sessions set created_at = created_at - interval '7 hours' where id = $1", [
      sessionOf(again.token),
    ]);
    const { data } = await manage(again, 'remember').ok();
    const hours = (Date.parse(`${data.remembered_until}Z`) - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(4.9);
    expect(hours).toBeLessThan(5.1);
  });

  test('keeps its name when further workers log in, and lists them by name until 12 hours after their login', async () => {
    const { worker: zoe, station } = await atStation('', { full_name: 'Zoe' });
    const { worker: ana, station: same } = await atStation(station, { full_name: 'Ana' });
    expect(same).toBe(station);
    const [session] = await sessionsOf(ana.token);
    const until = Date.parse(`${session?.created_at}Z`) + 12 * 60 * 60_000;
    const listed = await list(station);
    expect(listed.map(({ user_id, full_name }) => [user_id, full_name])).toEqual([
      [ana.id, 'Ana'],
      [zoe.id, 'Zoe'],
    ]);
    expect(Math.abs(Date.parse(`${listed[0]?.expires_at}Z`) - until)).toBeLessThanOrEqual(1_000);
  });

  test('remembers a worker with a PIN at the next login, and nobody else', async () => {
    const { worker } = await atStation();
    const other = { ...worker, token: await logIn({ id: worker.id, username: worker.username }) };
    const { headers, data } = await manage(other, 'remember').ok();
    expect(data).toMatchObject({ has_pin: true, remembered_until: expect.any(String) });
    expect(await list(cookieIn(headers))).toMatchObject([{ user_id: worker.id }]);

    const without = await makeWorker();
    const reply = await manage(without, 'remember').ok();
    expect([reply.data.has_pin, reply.headers.get('set-cookie')]).toEqual([false, null]);
  });

  test('forgets a worker on request, and all of its stations with the PIN', async () => {
    const { worker, station } = await atStation();
    const { worker: colleague } = await atStation(station);
    expect((await manage(worker, 'forget', station).ok()).data).toEqual({
      has_pin: true,
      remembered_until: null,
    });
    expect((await list(station)).map(({ user_id }) => user_id)).toEqual([colleague.id]);
    await take(station, worker).refused(401, 'password_needed');
    await manage(worker, 'remember', station).ok();
    await manage(worker, 'remove_pin').ok();
    await take(station, worker).refused(401, 'password_needed');
    expect(await db.all('station_workers', { user_id: worker.id })).toEqual([]);
    await take(station, colleague).ok();
    expect((await auditOf(worker.id)).map(({ action }) => action)).toEqual([
      'user.pin_set',
      'user.pin_removed',
    ]);
  });

  test('is one of at most 20 that remember a user', async () => {
    const { worker, station: first } = await atStation();
    for (let each = 0; each < 20; each += 1) await manage(worker, 'remember').ok();
    expect(await db.all('station_workers', { user_id: worker.id })).toHaveLength(20);
    expect(await list(first)).toEqual([]);
  });
});

describe('taking over with the PIN', () => {
  test('starts a session of that worker, as a login does', async () => {
    const { worker, station } = await atStation();
    const { data } = await take(station, worker).ok();
    expect(data.user).toMatchObject({ id: worker.id, username: worker.username, role: 'warehouse' });
    const [session] = await sessionsOf(data.access_token);
    expect(session).toMatchObject({ session_id: sessionOf(data.access_token), started_by: 'pin' });
    const logins = (await db.auditOf(worker.id)).filter(({ action }) => action === 'user.logged_in');
    expect(logins.at(-1)).toMatchObject({ actor_id: worker.id, after: { second_factor: 'pin' } });
  });

  test('does not begin the 12 hours anew', async () => {
    const { worker, station } = await atStation();
    const before = await list(station);
    const { data } = await take(station, worker).ok();
    const taken = { ...worker, token: data.access_token };
    await db.query(
      "update station_workers set expires_at = expires_at - interval '11 hours' where user_id = $1",
      [worker.id],
    );
    const { data: own } = await manage(taken, 'remember', station).ok();
    expect(Date.parse(String(own.remembered_until))).toBeLessThan(Date.parse(String(before[0]?.expires_at)));
    // A station that does not know the worker yet does not learn it from this session.
    const { headers } = await manage(taken, 'remember').ok();
    expect(headers.get('set-cookie')).toBeNull();
  });

  test('does not go around the second factor by a new password', async () => {
    const { worker, station } = await atStation();
    await db.query("update users set two_factor_enabled = true, totp_secret = 'v1.x' where id = $1", [
      worker.id,
    ]);
    const taken = api.withToken((await take(station, worker).ok()).data.access_token);
    const password = 'seven parcels on a wet quay';
    const changed = await taken
      .changePassword({ current_password: DEMO.password, new_password: password })
      .ok();
    const fresh = { ...worker, token: changed.data.access_token };
    const { data } = await setPin(fresh, { password, station }).ok();
    expect(data).toEqual({ has_pin: true, remembered_until: null });
    await take(station, worker).refused(401, 'password_needed');
  });

  test('needs the station: no other browser, no page of another origin, and no name that somebody made up', async () => {
    const { worker, station } = await atStation();
    const { station: other } = await atStation();
    for (const wrong of [undefined, other, 'made-up'])
      await take(wrong, worker).refused(401, 'password_needed');
    const foreign = { 'sec-fetch-site': 'same-site' };
    await take(station, worker, PIN, foreign).refused(401, 'password_needed');
    expect(await list(station, foreign)).toEqual([]);
    const headers = { cookie: `${STATION_COOKIE}=${station}` };
    const body = { user_id: worker.id, pin: PIN };
    await api.anonymous.switchWorker(body, { headers }).refused(401, 'password_needed');
    await take(station, worker).ok();
  });

  test('is limited per address, also without a station', async () => {
    const { worker, station } = await atStation();
    const from = { 'x-forwarded-for': '192.0.2.177' };
    for (let each = 0; each < 50; each += 1)
      await take(undefined, worker, PIN, from).refused(401, 'password_needed');
    for (let each = 0; each < 50; each += 1)
      await take('made-up', worker, PIN, from).refused(401, 'password_needed');
    await take(station, worker, PIN, from).refused(429, 'too_many_attempts');
    await take(station, worker).ok();
  });

  test('says how many wrong PINs are left, and after five in a row needs the password', async () => {
    const { worker, station } = await atStation();
    for (const left of [4, 3]) {
      const reply = await take(station, worker, '999998').refused(401, 'pin_wrong');
      expect(reply.body['message']).toContain(`needs your password: ${left}.`);
    }
    // A right one ends the count.
    await take(station, worker).ok();
    for (let each = 0; each < 4; each += 1) await take(station, worker, '999998').refused(401, 'pin_wrong');
    await take(station, worker, '999998').refused(401, 'password_needed');
    await take(station, worker).refused(401, 'password_needed');
    expect(await list(station)).toEqual([]);
    const again = { ...worker, token: await logIn(worker) };
    await manage(again, 'remember', station).ok();
    await take(station, worker).ok();
  });

  test.each([
    ['remembering the session that was there', ['remember']],
    ['forgetting and remembering it', ['forget', 'remember']],
    ['remembering 20 other stations', [...Array<'elsewhere'>(20).fill('elsewhere'), 'remember']],
  ] as const)('after five wrong ones, %s does not begin anew', async (_what, actions) => {
    const { worker, station } = await atStation();
    for (let each = 0; each < 5; each += 1) await take(station, worker, '999998').answer();
    for (const action of actions)
      await (action === 'elsewhere' ? manage(worker, 'remember') : manage(worker, action, station)).ok();
    await take(station, worker).refused(401, 'password_needed');
    expect((await manage(worker, 'remember', station).ok()).data.remembered_until).toBeNull();
  });

  test('a new one begins anew, because it needs the password', async () => {
    const { worker, station } = await atStation();
    for (let each = 0; each < 5; each += 1) await take(station, worker, '999998').answer();
    await setPin(worker, { station }).ok();
    await take(station, worker).ok();
  });

  test('ends 12 hours after the login', async () => {
    const { worker, station } = await atStation();
    await db.query("update station_workers set expires_at = now() - interval '1 second' where user_id = $1", [
      worker.id,
    ]);
    expect(await list(station)).toEqual([]);
    await take(station, worker).refused(401, 'password_needed');
  });

  test.each([
    ['a new token version', 'update users set token_version = token_version + 1 where id = $1'],
    ['a disabled user', 'update users set is_active = false where id = $1'],
    ['another role', "update users set role = 'manager' where id = $1"],
    ['a PIN that was deleted', 'update users set pin_hash = null where id = $1'],
  ])('is refused after %s', async (_what, change) => {
    const { worker, station } = await atStation();
    await db.query(change, [worker.id]);
    expect(await list(station)).toEqual([]);
    await take(station, worker).refused(401, 'password_needed');
  });

  test('a PIN that is set anew does not work at stations of before, until the next login there', async () => {
    const { worker, station } = await atStation();
    await db.query('update users set token_version = token_version + 1 where id = $1', [worker.id]);
    const again = { ...worker, token: await logIn(worker) };
    await setPin(again).ok();
    expect(await list(station)).toEqual([]);
    await take(station, worker).refused(401, 'password_needed');
  });

  test('is refused after a new password and after ending all sessions, which delete the PIN', async () => {
    const { worker, station } = await atStation();
    const own = api.withToken(worker.token);
    const change = { current_password: DEMO.password, new_password: 'seven parcels on a wet quay' };
    const changed = (await own.changePassword(change).ok()).data.access_token;
    await take(station, worker).refused(401, 'password_needed');
    expect((await manage({ ...worker, token: changed }, 'remember', station).ok()).data.has_pin).toBe(false);

    for (const keepsCurrent of [false, true]) {
      const { worker: second } = await atStation(station);
      await api
        .withToken(second.token)
        .manageSessions({ action: 'end_all', keep_current: keepsCurrent })
        .ok();
      await take(station, second).refused(401, 'password_needed');
      expect(await db.all('users', { id: second.id })).toMatchObject([{ pin_hash: null }]);
    }
  });
});
