import { createHmac, randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import bcrypt from 'bcrypt';
import { openPasswords } from '../../../src/modules/auth/credentials/passwords.js';
import { stepOfCode } from '../../../src/modules/auth/credentials/totp.js';
import { DEMO, DEMO_BACKUP_CODES } from '../../../fixtures/demo/seed.js';
import { newId } from '../../../src/platform/values/ids.js';
import { whileInactive } from '../../support/harness/inactive-courier.js';
import { startService, type Reply } from '../../support/service/service.js';
import { withService } from '../../support/fixture/with-service.js';
import { unchecked } from '../../support/fixture/sent.js';

/** The hash of the demo users' password at bcrypt's lowest cost, because most tests do not measure the time of a hash. */
let cheapHash: string;

beforeAll(async () => {
  // With a trusted proxy, so that each test has its own address.
  cheapHash = await bcrypt.hash(DEMO.password, 4);
}, 60_000);
const { api, service } = withService(() => ({
  env: { TRUST_PROXY: '127.0.0.1', PASSWORD_HASH_COST: String(HASH_COST) },
}));

/** Hashes of this cost take longer than everything else in a login, so that their time can be measured. */
const HASH_COST = 10;
const passwords = openPasswords(HASH_COST);

const WRONG = 'not-the-password';

type Options = { host?: string; address?: string };

const randomAddress = () => `10.${[...randomBytes(3)].join('.')}`;

function post(body: unknown, { host, address = randomAddress() }: Options = {}) {
  return api
    .with({ ...(host ? { host } : {}) })
    .login(unchecked(body), { headers: { 'x-forwarded-for': address } });
}

const logIn = (username: unknown, password: unknown = DEMO.password, options?: Options) =>
  post({ action: 'login', username, password }, options);

const verify = (preauthToken: unknown, code: unknown, options?: Options) =>
  post({ action: 'verify_2fa', preauth_token: preauthToken, code }, options);

async function failTimes(times: number, username: string): Promise<Reply[]> {
  const replies: Reply[] = [];
  for (let count = 0; count < times; count += 1) replies.push(await logIn(username, WRONG).answer());
  return replies;
}

const coded = ({ status, body }: Reply) => `${status} ${body['code'] ?? body['status']}`;
const codesOf = (replies: Reply[]) => replies.map(coded);

const uniqueName = (stem: string) => `${stem}-${randomBytes(4).toString('hex')}`;

type User = { id: string; username: string };

/** Creates a manager of tenant demo with the demo users' password, so that no test locks another test's user. */
async function makeUser(stem: string, changes: Record<string, unknown> = {}): Promise<User> {
  const user = { id: newId(), username: uniqueName(stem) };
  await service().owner.query(
    `insert into users (tenant_id, id, username, full_name, role, password_hash)
     values ($1, $2, $3, 'Test User', 'manager', $4)`,
    [DEMO.tenants.demo, user.id, user.username, cheapHash],
  );
  await changeUser(user, changes);
  return user;
}

async function changeUser({ id }: { id: string }, changes: Record<string, unknown>): Promise<void> {
  for (const [column, value] of Object.entries(changes)) {
    await service().owner.query(`update users set ${column} = $2 where id = $1`, [id, value]);
  }
}

async function makeUserWithTwoFactor(stem: string, secret: string = DEMO.totpSecret): Promise<User> {
  const user = await makeUser(stem);
  const encryptionContext = { tenantId: DEMO.tenants.demo, rowId: user.id, field: 'totp_secret' } as const;
  const totpSecret = service().app.secrets.encrypt(secret, encryptionContext);
  await service().owner.query('update users set two_factor_enabled = true, totp_secret = $2 where id = $1', [
    user.id,
    totpSecret,
  ]);
  return user;
}

/** Inserts the token that a correct password would return, without the cost of the hash. */
async function makePreauthToken(userId: string): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  await service().owner.query(
    `insert into preauth_tokens (tenant_id, token_hash, user_id, expires_at)
     values ($1, $2, $3, now() + interval '5 minutes')`,
    [DEMO.tenants.demo, service().app.secrets.lookupHash(token, 'preauth_token'), userId],
  );
  return token;
}

const BASE_32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** An implementation of RFC 6238 that is independent of the library under test. */
function codeOfStep(step: number, secret: string = DEMO.totpSecret): string {
  const bits = Array.from(secret, (letter) => BASE_32.indexOf(letter).toString(2).padStart(5, '0')).join('');
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const digest = createHmac('sha1', key).update(counter).digest();
  const word = digest.readUInt32BE((digest.at(-1) ?? 0) & 15) & 0x7fffffff;
  return String(word % 1_000_000).padStart(6, '0');
}

async function currentStep(): Promise<number> {
  const { rows } = await service().owner.query('select floor(extract(epoch from now()) / 30)::int as step');
  return rows[0].step;
}

const codeOfNow = async () => codeOfStep(await currentStep());

/** Returns a secret whose current code begins with a zero. */
async function secretWithLeadingZero(): Promise<string> {
  const step = await currentStep();
  for (;;) {
    const secret = [...randomBytes(32)].map((byte) => BASE_32.charAt(byte % 32)).join('');
    if (codeOfStep(step, secret).startsWith('0')) return secret;
  }
}

/** Returns a code that belongs to no step near the current one. */
async function wrongCode(): Promise<string> {
  const step = await currentStep();
  const near = [-2, -1, 0, 1, 2].map((delta) => codeOfStep(step + delta));
  return (
    ['000000', '111111', '222222', '333333', '444444', '555555'].find((code) => !near.includes(code)) ?? ''
  );
}

async function throttleOf(kind: string, subject: string) {
  const { rows } = await service().owner.query(
    'select * from login_throttles where kind = $1 and subject = $2',
    [kind, subject],
  );
  return rows[0];
}

async function auditOf(userId: string): Promise<string[]> {
  const { rows } = await service().owner.query(
    'select action from audit_entries where entity_id = $1 order by at, id',
    [userId],
  );
  return rows.map(({ action }) => action);
}

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
    expect((await alone.call('login', { body })).status).toBe(401);
    const admin = await alone.call('login', { body: { ...body, username: 'admin' }, host: DEMO.hosts.two });
    expect(admin.body['data'].user.id).toBe(DEMO.usersOfTwo.admin);
    const guarded = await alone.call('login', { body: { ...body, username: 'guarded' } });
    const second = {
      action: 'verify_2fa',
      preauth_token: guarded.body['data'].preauth_token,
      code: DEMO_BACKUP_CODES[0],
    };
    expect((await alone.call('login', { body: second, host: DEMO.hosts.two })).status).toBe(401);
    expect((await alone.call('login', { body: second })).status).toBe(200);
    await alone.stop();
  });
});

describe('second factor', () => {
  test('a right password returns 2fa_required and a token that is stored as a hash for 5 minutes', async () => {
    const user = await makeUserWithTwoFactor('first');
    const stale = await makePreauthToken(user.id);
    await service().owner.query(
      "update preauth_tokens set expires_at = now() - interval '1 second' where user_id = $1",
      [user.id],
    );
    const { body, data } = await logIn(user.username).ok();
    expect(body).toEqual({
      status: '2fa_required',
      message: expect.any(String),
      data: { preauth_token: expect.stringMatching(/^[\w-]{43}$/) },
      timestamp: expect.any(Number),
    });
    const { rows } = await service().owner.query(
      `select token_hash, extract(epoch from expires_at - now())::int as left_s from preauth_tokens where user_id = $1`,
      [user.id],
    );
    // The login has deleted the expired token.
    expect(rows).toHaveLength(1);
    expect(rows[0].token_hash).toBe(service().app.secrets.lookupHash(data.preauth_token, 'preauth_token'));
    expect(rows[0].left_s).toBeGreaterThan(290);
    expect(rows[0].left_s).toBeLessThanOrEqual(300);
    expect(stale).not.toBe(data.preauth_token);
    expect(await auditOf(user.id)).toEqual([]);
  });

  test('the right code returns a token that gives access to the API', async () => {
    const user = await makeUserWithTwoFactor('code');
    const reply = await verify(await makePreauthToken(user.id), await codeOfNow()).ok();
    expect(coded(reply)).toBe('200 success');
    expect(reply.data.user).toMatchObject({ id: user.id, two_factor_enabled: true });
    await api.withToken(reply.data.access_token).listPrealerts().ok();
    expect(await auditOf(user.id)).toEqual(['user.logged_in']);
  });

  test('a wrong code consumes the preauth token', async () => {
    const user = await makeUserWithTwoFactor('burnt');
    const token = await makePreauthToken(user.id);
    const refused = await verify(token, await wrongCode()).refused(401, 'code_invalid');
    expect(refused.body['status']).toBe('fail');
    await verify(token, await codeOfNow()).refused(401, 'code_invalid');
  });

  test('unknown, empty, used and expired tokens are rejected alike', async () => {
    const user = await makeUserWithTwoFactor('token');
    const used = await makePreauthToken(user.id);
    await verify(used, await codeOfNow()).ok();
    const expired = await makePreauthToken(user.id);
    await service().owner.query(
      "update preauth_tokens set expires_at = now() - interval '1 second' where user_id = $1 and consumed_at is null",
      [user.id],
    );
    const next = codeOfStep((await currentStep()) + 1);
    const replies = await Promise.all(
      ['unknown', '', used, expired].map((token) => verify(token, next).answer()),
    );
    expect(new Set(codesOf(replies))).toEqual(new Set(['401 code_invalid']));
    expect(new Set(replies.map(({ body }) => body['message'])).size).toBe(1);
  });

  test.each([
    ['no token', { code: '123456' }, 'preauth_token'],
    ['no code', { preauth_token: 'x' }, 'code'],
  ])('rejects a second step with %s with 400 and names the field', async (_what, fields, field) => {
    const reply = await post({ action: 'verify_2fa', ...fields }).refused(400, 'validation_failed');
    expect(reply.errors).toMatchObject([{ field }]);
  });

  test('a TOTP step is accepted once, and no earlier step after it', async () => {
    const user = await makeUserWithTwoFactor('replay');
    const step = await currentStep();
    const ahead = codeOfStep(step + 1);
    await verify(await makePreauthToken(user.id), ahead).ok();
    for (const code of [ahead, codeOfStep(step), codeOfStep(step - 1)]) {
      await verify(await makePreauthToken(user.id), code).refused(401, 'code_invalid');
    }
    const { rows } = await service().owner.query('select totp_last_step from users where id = $1', [user.id]);
    expect(rows[0].totp_last_step).toBe(step + 1);
  });

  test('white space in a code is removed', async () => {
    const secret = await secretWithLeadingZero();
    const code = codeOfStep(await currentStep(), secret);
    const user = await makeUserWithTwoFactor('blanks', secret);
    const sent = ` ${code.slice(0, 3)}\u00a0${code.slice(3)}\n`;
    await verify(await makePreauthToken(user.id), sent).ok();
  });

  test('a code is exactly six digits', async () => {
    // The right code begins with a zero, so these would all match if they were compared as numbers.
    const secret = await secretWithLeadingZero();
    const code = codeOfStep(await currentStep(), secret);
    const digits = code.slice(1);
    for (const shape of [`${digits}x`, `+${digits}`, ` ${digits}`, digits]) {
      const user = await makeUserWithTwoFactor('shape', secret);
      await verify(await makePreauthToken(user.id), shape).refused(401, 'code_invalid');
    }
  });

  test('rejects every code of a user whose secret is empty or too short', async () => {
    for (const secret of ['', 'KRSXG5CTMVRXEZL']) {
      const user = await makeUserWithTwoFactor('secret', secret);
      const code = codeOfStep(await currentStep(), secret);
      await verify(await makePreauthToken(user.id), code).refused(401, 'code_invalid');
      await changeUser(user, { totp_secret: '' });
      await verify(await makePreauthToken(user.id), code).refused(401, 'code_invalid');
    }
  });

  test('a backup code works once, in either case', async () => {
    const code = DEMO_BACKUP_CODES[1] ?? '';
    const { guarded } = DEMO.users;
    await verify(await makePreauthToken(guarded), code.toLowerCase()).ok();
    await verify(await makePreauthToken(guarded), code).refused(401, 'code_invalid');
    const { rows } = await service().owner.query(
      'select count(*)::int as used from backup_codes where user_id = $1 and used_at is not null',
      [guarded],
    );
    expect(rows[0].used).toBe(1);
    const { rows: facts } = await service().owner.query(
      'select after from audit_entries where entity_id = $1',
      [guarded],
    );
    expect(facts).toEqual([{ after: { second_factor: 'backup_code' } }]);
  });

  test("rejects another user's backup code and does not consume it", async () => {
    const user = await makeUserWithTwoFactor('borrowed');
    const code = DEMO_BACKUP_CODES[2] ?? '';
    await verify(await makePreauthToken(user.id), code).refused(401, 'code_invalid');
    await verify(await makePreauthToken(DEMO.users.guarded), code).ok();
  });

  test('five wrong codes in a row lock the codes for 15 minutes, but not the password', async () => {
    const user = await makeUserWithTwoFactor('codes');
    for (const code of [await wrongCode(), 'AAAA-AAAA', 'zzzz', await wrongCode(), 'BBBB-BBBB']) {
      await verify(await makePreauthToken(user.id), code).refused(401, 'code_invalid');
    }
    const refused = await verify(await makePreauthToken(user.id), await codeOfNow()).refused(
      429,
      'too_many_attempts',
    );
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(890);
    expect(await auditOf(user.id)).toEqual(['user.locked_out']);
    expect(coded(await logIn(user.username).answer())).toBe('200 2fa_required');

    await service().owner.query(
      "update login_throttles set locked_until = now() - interval '1 second' where subject = $1",
      [user.id],
    );
    await verify(await makePreauthToken(user.id), await codeOfNow()).ok();
    expect(await throttleOf('code', user.id)).toBeUndefined();
  });

  test('wrong passwords do not lock the codes', async () => {
    const user = await makeUserWithTwoFactor('apart');
    const token = await makePreauthToken(user.id);
    await failTimes(5, user.username);
    await verify(token, await codeOfNow()).ok();
  });

  test('rejects a user who was disabled between the two steps with 403', async () => {
    const user = await makeUserWithTwoFactor('between');
    const token = await makePreauthToken(user.id);
    await changeUser(user, { is_active: false });
    await verify(token, await codeOfNow()).refused(403, 'account_disabled');
    await changeUser(user, { is_active: true });
    await verify(token, await codeOfNow()).refused(401, 'code_invalid');
  });

  test('does not verify or consume the code of a user who was disabled between the two steps', async () => {
    const user = await makeUserWithTwoFactor('unjudged');
    const enter = async (code: string) => coded(await verify(await makePreauthToken(user.id), code).answer());
    const code = await codeOfNow();
    await changeUser(user, { is_active: false });
    // A wrong and a right code get the same response.
    expect(await enter('AAAA-AAAA')).toBe('403 account_disabled');
    expect(await enter(code)).toBe('403 account_disabled');
    await changeUser(user, { is_active: true });
    expect(await enter(code)).toBe('200 success');
  });

  test('accepts no code if two-factor authentication was disabled between the two steps', async () => {
    const user = await makeUserWithTwoFactor('off');
    const token = await makePreauthToken(user.id);
    await changeUser(user, { two_factor_enabled: false });
    await verify(token, await codeOfNow()).refused(401, 'code_invalid');
  });
});

describe('stepOfCode', () => {
  const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

  test.each([
    [59, '287082'],
    [1111111109, '081804'],
    [1111111111, '050471'],
    [1234567890, '005924'],
    [2000000000, '279037'],
  ])('accepts the code that RFC 6238 gives for second %i', (nowS, code) => {
    expect(stepOfCode(secret, code, nowS)).toBe(Math.floor(nowS / 30));
  });

  test('accepts one step before and after, returns the step of the code and accepts no other', () => {
    const issuedS = 1_700_000_010;
    const step = issuedS / 30;
    const code = codeOfStep(step, secret);
    const accepted = [-31, -30, 0, 29, 30, 59, 60, 89].map((delta) =>
      stepOfCode(secret, code, issuedS + delta),
    );
    expect(accepted).toEqual([undefined, step, step, step, step, step, undefined, undefined]);
  });

  test.each([
    '',
    '81804x',
    ' 81804',
    '+81804',
    '81804 ',
    '81804.',
    '81804',
    '0818040',
    '081804\n',
    '０８１８０４',
  ])('rejects %j for the code 081804', (spelling) =>
    expect(stepOfCode(secret, spelling, 1111111109)).toBeUndefined(),
  );

  test.each(['', 'A', 'GEZDGNBVGY3TQOJ', 'not base 32 at all', '                '])(
    'rejects the secret %j for every code',
    (weak) => {
      const codes = Array.from({ length: 3 }, (_, delta) =>
        codeOfStep(delta, weak.replace(/[^A-Z2-7]/g, '')),
      );
      for (const code of codes) expect(stepOfCode(weak, code, 59)).toBeUndefined();
    },
  );
});
