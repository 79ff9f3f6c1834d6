import { describe, expect, test } from '@jest/globals';
import { openPasswords } from '../../../src/modules/auth/credentials/passwords.js';
import { DEMO, DEMO_BACKUP_CODES } from '../../../fixtures/demo/seed.js';
import { whileInactive } from '../../support/harness/inactive-courier.js';
import { startService, type Reply } from '../../support/service/service.js';
import { makeApi } from '../../support/fixture/api.js';
import { unchecked } from '../../support/fixture/sent.js';
import { withLogins, coded, HASH_COST, uniqueName, WRONG } from './login-calls.js';

const {
  api,
  service,
  logIn,
  auditOf,
  makeUser,
  post,
  throttleOf,
  makeUserWithTwoFactor,
  makePreauthToken,
  codeOfNow,
  verify,
} = withLogins();
const passwords = openPasswords(HASH_COST);

describe('login', () => {
  test('returns the user and a working token for the right password', async () => {
    const reply = await logIn('manager').ok();
    expect(coded(reply)).toBe('200 success');
    expect(reply.data).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      user: {
        id: DEMO.users.manager,
        full_name: 'Demo Manager',
        username: 'manager',
        role: 'manager',
        courier_id: null,
        courier_code: null,
        two_factor_enabled: false,
        must_change_password: false,
        must_set_up_two_factor: false,
      },
    });
    await api.withToken(reply.data.access_token).listPrealerts().ok();
    expect(await auditOf(DEMO.users.manager)).toEqual(['user.logged_in']);
    const log = await api
      .as('admin')
      .listAuditEntries({ entity_id: DEMO.users.manager, action: 'user.logged_in' })
      .ok();
    expect(log.data).toMatchObject([
      { actor_kind: 'user', actor_id: DEMO.users.manager, actor_name: 'manager' },
    ]);
  });

  test("returns the courier of a courier's user, and the token gives access to that courier's rows only", async () => {
    const reply = await logIn('iex').ok();
    expect(reply.data.user).toMatchObject({ courier_id: DEMO.couriers.IEX, courier_code: 'IEX' });
    const list = await api.withToken(reply.data.access_token).listPrealerts().ok();
    const couriers = list.data.map((record: { courier_id: string }) => record.courier_id);
    expect(new Set(couriers)).toEqual(new Set([DEMO.couriers.IEX]));
  });

  test('issues tokens that expire after 8 hours by the database clock', async () => {
    const { username } = await makeUser('clock');
    const { data } = await logIn(username).answer();
    const { rows } = await service().owner.query('select extract(epoch from now())::int as now_s');
    const { expiresAt } = service().app.tokens.read(data.access_token);
    expect(Math.abs(expiresAt - rows[0].now_s - 8 * 3600)).toBeLessThanOrEqual(5);
  });

  test('compares user names in lower case and without white space around them, and otherwise exactly', async () => {
    await logIn('MaNaGeR').ok();
    await logIn(' manager ').ok();
    await logIn('man ager').refused(401, 'credentials_invalid');
  });

  test.each([
    ['no fields', {}, ['username', 'password']],
    ['no password', { username: 'manager' }, ['password']],
    ['no user name', { password: DEMO.password }, ['username']],
    ['an empty password', { username: 'manager', password: '' }, ['password']],
    ['a blank user name', { username: ' \t\n', password: DEMO.password }, ['username']],
    ['a blank name and password', { username: '', password: '  ' }, ['username', 'password']],
  ])(
    'rejects a login with %s with 422, names the fields and counts no failure',
    async (_what, fields, named) => {
      const reply = await post({ action: 'login', ...fields }).refused(422, 'credentials_required');
      expect(reply.body['status']).toBe('fail');
      expect(reply.errors.map(({ field }: { field: string }) => field)).toEqual(named);
      expect(await throttleOf('password', 'manager')).toBeUndefined();
    },
  );

  test.each([
    ['a number', 12],
    ['null', null],
    ['a list', ['manager']],
    ['an object', {}],
  ])('rejects %s instead of a string with 400', async (_what, value) => {
    await logIn(value).refused(400, 'validation_failed');
    await logIn('manager', value).refused(400, 'validation_failed');
  });

  test('rejects an unknown or missing action with 400', async () => {
    expect(await post({ action: 'log_in', username: 'manager', password: DEMO.password }).status()).toBe(400);
    expect(await post({ username: 'manager', password: DEMO.password }).status()).toBe(400);
  });

  test('responds identically to an unknown user, a wrong password and a disabled user', async () => {
    const disabled = await makeUser('alike', { is_active: false });
    const known = await makeUser('alike');
    const names = [known.username, uniqueName('nobody'), disabled.username];
    const replies: Reply[] = [];
    for (const name of names) replies.push(await logIn(name, WRONG).answer());
    const [first, ...others] = replies.map(
      ({ status, body: { request_id: _, timestamp: __, ...body }, headers }) => ({
        status,
        body,
        headers: [...headers.keys()],
      }),
    );
    expect(first).toMatchObject({ status: 401, body: { status: 'fail', code: 'credentials_invalid' } });
    for (const other of others) expect(other).toEqual(first);
  });

  test('takes the time of a hash for every failure', async () => {
    const ownHash = await passwords.hash(DEMO.password);
    // An unknown name takes the time of most stored hashes.
    await service().owner.query('update users set password_hash = $1', [ownHash]);
    const { username } = await makeUser('time', { password_hash: ownHash });
    const attempts = [
      () => logIn(username, WRONG),
      () => logIn(uniqueName('nobody'), WRONG),
      () => logIn(username, 'x'.repeat(73)),
      () => logIn(uniqueName('nobody'), 'x'.repeat(73)),
    ];
    const fastestMs = attempts.map(() => Infinity);
    for (let round = 0; round < 2; round += 1) {
      for (const [index, attempt] of attempts.entries()) {
        const start = performance.now();
        expect(await attempt().status()).toBe(401);
        fastestMs[index] = Math.min(fastestMs[index] ?? Infinity, performance.now() - start);
      }
    }
    // Without a hash, a failure would take a twentieth of the time.
    expect(Math.min(...fastestMs)).toBeGreaterThan(Math.max(...fastestMs) / 3);
  });

  test('does not truncate a password beyond 72 bytes to its first 72', async () => {
    const prefix = 'é'.repeat(36);
    const { username } = await makeUser('long', { password_hash: await passwords.hash(prefix) });
    await logIn(username, prefix).ok();
    await logIn(username, `${prefix}x`).refused(401, 'credentials_invalid');
  });

  test('rejects a NUL in the password and does not match the part before it', async () => {
    await logIn('manager', `${DEMO.password}\0x`).refused(400, 'invalid_encoding');
  });

  test('reports a disabled user only after the right password', async () => {
    await logIn('disabled', WRONG).refused(401, 'credentials_invalid');
    const refused = await logIn('disabled').refused(403, 'account_disabled');
    expect(refused.body['status']).toBe('fail');
    expect(await throttleOf('password', 'disabled')).toBeUndefined();
    expect(await auditOf(DEMO.users.disabled)).toEqual([]);
  });

  test('reports a disabled courier only after the right password', async () => {
    await whileInactive(service().owner, DEMO.couriers.HRB, async () => {
      await logIn('hrb', WRONG).refused(401, 'credentials_invalid');
      await logIn('hrb').refused(403, 'account_disabled');
    });
    await logIn('hrb').ok();
  });
});

describe('tenants', () => {
  test("a tenant's user is unknown on another tenant's host", async () => {
    await logIn('two').refused(401, 'credentials_invalid');
    await logIn('two', DEMO.password, { host: DEMO.hosts.two }).ok();
  });

  test("a preauth token is unknown on another tenant's host and stays valid on its own", async () => {
    const user = await makeUserWithTwoFactor('host');
    const token = await makePreauthToken(user.id);
    const code = await codeOfNow();
    await verify(token, code, { host: DEMO.hosts.two }).refused(401, 'code_invalid');
    await verify(token, code).ok();
  });

  test.each([
    ['row-level security alone', { applicationFilters: false }],
    ["the application's filters alone", { rowSecurity: false }],
  ])('%s keeps the tenants apart', async (_what, options) => {
    const alone = await startService(options);
    const body = { action: 'login', username: 'two', password: DEMO.password };
    const there = makeApi(() => alone);
    const { anonymous } = there;
    const ofTwo = there.with({ host: DEMO.hosts.two });
    expect(await anonymous.login(unchecked(body)).status()).toBe(401);
    const admin = await ofTwo.login(unchecked({ ...body, username: 'admin' })).ok();
    expect(admin.data.user.id).toBe(DEMO.usersOfTwo.admin);
    const guarded = await anonymous.login(unchecked({ ...body, username: 'guarded' })).answer();
    const second = unchecked({
      action: 'verify_2fa',
      preauth_token: guarded.data.preauth_token,
      code: DEMO_BACKUP_CODES[0],
    });
    expect(await ofTwo.login(second).status()).toBe(401);
    await anonymous.login(second).ok();
    await alone.stop();
  });
});
