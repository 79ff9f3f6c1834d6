import { beforeAll, describe, expect, test } from '@jest/globals';
import bcrypt from 'bcrypt';
import speakeasy from 'speakeasy';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { newId } from '../../../src/platform/values/ids.js';
import { changeMeanwhile } from '../../support/harness/meanwhile.js';
import { type Reply } from '../../support/service/service.js';
import { withService } from '../../support/fixture/with-service.js';
import { unchecked } from '../../support/fixture/sent.js';

// A credential is verified, which takes the time of a hash, and then a row is written or a token issued. In between,
// each test here changes the user in another transaction.

/** A hash at bcrypt's lowest cost. The change happens in between however long the hash takes. */
let cheapHash: string;
let otherHash: string;

beforeAll(async () => {
  [cheapHash, otherHash] = await Promise.all([
    bcrypt.hash(DEMO.password, 4),
    bcrypt.hash('another password', 4),
  ]);
}, 60_000);
const { api, service } = withService({ env: { TRUST_PROXY: '127.0.0.1' } });

let serial = 0;

type User = { id: string; username: string; token: string; headers: Record<string, string> };

async function makeUser(): Promise<User> {
  const [id, username] = [newId(), `overtaken${(serial += 1)}`];
  await service().owner.query(
    `insert into users (tenant_id, id, username, full_name, role, password_hash)
     values ($1, $2, $3, 'Olga Overtaken', 'manager', $4)`,
    [DEMO.tenants.demo, id, username, cheapHash],
  );
  const headers = { 'x-forwarded-for': `10.2.2.${serial}` };
  return { id, username, token: await service().tokenOf(username), headers };
}

const SECRET = DEMO.totpSecret;

/** Returns the secret encrypted as its column stores it. */
const encrypted = ({ id }: User, field: 'totp_secret' | 'totp_pending_secret', secret: string = SECRET) =>
  service().app.secrets.encrypt(secret, { tenantId: DEMO.tenants.demo, rowId: id, field });

async function makeUserWithTwoFactor(): Promise<User> {
  const user = await makeUser();
  await set(user, { two_factor_enabled: true, totp_secret: encrypted(user, 'totp_secret') });
  return user;
}

const codeOfNow = () => speakeasy.totp({ secret: SECRET, encoding: 'base32' });

type Columns = Record<string, unknown>;

function changeOf({ id }: User, columns: Columns) {
  const sets = Object.keys(columns).map((column, index) => `${column} = $${index + 2}`);
  return {
    text: `update users set ${sets.join(', ')} where id = $1`,
    values: [id, ...Object.values(columns)],
  };
}

const set = (user: User, columns: Columns) => service().owner.query(changeOf(user, columns));

/** Runs a request while the user is changed, and returns the response. */
const changeDuring = (user: User, columns: Columns, work: () => Promise<Reply>) =>
  changeMeanwhile(service().owner, changeOf(user, columns), work);

const logIn = ({ username, headers }: User) =>
  api.anonymous.login({ action: 'login', username, password: DEMO.password }, { headers });

const manage = ({ token, headers }: User, body: Columns) =>
  api.withToken(token).manageTwoFactor(unchecked({ password: DEMO.password, ...body }), { headers });

const coded = ({ status, body }: Reply) => `${status} ${body['code'] ?? body['status']}`;

const statusWith = async (token: string) => await api.withToken(token).getTwoFactor().status();

async function read({ id }: User, column: string): Promise<unknown> {
  const { rows } = await service().owner.query(`select ${column} as value from users where id = $1`, [id]);
  return rows[0].value;
}

async function actionsOf({ id }: User): Promise<string[]> {
  const { rows } = await service().owner.query('select action from audit_entries where entity_id = $1', [id]);
  return rows.map(({ action }) => action);
}

const PAST = new Date('2020-01-01');

describe('login after the password was verified', () => {
  test.each([
    ['whose password is changed meanwhile', () => ({ password_hash: otherHash })],
    [
      'whose one-time password expires meanwhile',
      () => ({ must_change_password: true, password_expires_at: PAST }),
    ],
  ])('by a user %s fails as a wrong password and is not audited as a login', async (_what, columns) => {
    const user = await makeUser();
    expect(coded(await changeDuring(user, columns(), () => logIn(user).answer()))).toBe(
      '401 credentials_invalid',
    );
    expect(await actionsOf(user)).toEqual([]);
  });

  test('is rejected with 403 if the user was disabled meanwhile', async () => {
    const user = await makeUser();
    const reply = await changeDuring(user, { is_active: false }, () => logIn(user).answer());
    expect(coded(reply)).toBe('403 account_disabled');
    expect(await actionsOf(user)).toEqual([]);
  });

  test('asks for a code if the user enabled two-factor authentication meanwhile', async () => {
    const user = await makeUser();
    const columns = { two_factor_enabled: true, totp_secret: encrypted(user, 'totp_secret') };
    const reply = await changeDuring(user, columns, () => logIn(user).answer());
    expect(coded(reply)).toBe('200 2fa_required');
    expect(Object.keys(reply.body['data'])).toEqual(['preauth_token']);
  });

  test('issues a token of the new role if the role changed meanwhile', async () => {
    const user = await makeUser();
    const reply = await changeDuring(user, { role: 'warehouse', token_version: 7 }, () =>
      logIn(user).answer(),
    );
    expect(reply.body['data'].user).toMatchObject({ role: 'warehouse' });
    expect(await statusWith(reply.body['data'].access_token)).toBe(200);
    expect(await api.withToken(reply.body['data'].access_token).listUsers().status()).toBe(403);
  });
});

test("verify_2fa issues no token if the user's tokens were revoked meanwhile", async () => {
  const user = await makeUserWithTwoFactor();
  const preauthToken = (await logIn(user).ok()).data.preauth_token;
  const body = { action: 'verify_2fa', preauth_token: preauthToken, code: codeOfNow() };
  const ended = { password_hash: otherHash, token_version: 7 };
  const reply = await changeDuring(user, ended, () =>
    api.anonymous.login(unchecked(body), { headers: user.headers }).answer(),
  );
  expect(coded(reply)).toBe('401 code_invalid');
});

test('verify_2fa issues no token if the user was disabled meanwhile', async () => {
  const user = await makeUserWithTwoFactor();
  const preauthToken = (await logIn(user).ok()).data.preauth_token;
  const body = { action: 'verify_2fa', preauth_token: preauthToken, code: codeOfNow() };
  const verify = () => api.anonymous.login(unchecked(body), { headers: user.headers });
  expect(coded(await changeDuring(user, { is_active: false }, () => verify().answer()))).toBe(
    '403 account_disabled',
  );
});

test('verify_2fa accepts no backup code if two-factor authentication was disabled between the steps', async () => {
  const user = await makeUserWithTwoFactor();
  const code = 'ABCD-EFGH';
  await service().owner.query(
    'insert into backup_codes (tenant_id, id, user_id, code_hash) values ($1, $2, $3, $4)',
    [DEMO.tenants.demo, newId(), user.id, service().app.secrets.lookupHash(code, 'backup_code')],
  );
  const preauthToken = (await logIn(user).ok()).data.preauth_token;
  await set(user, { two_factor_enabled: false, totp_secret: null });
  const body = { action: 'verify_2fa', preauth_token: preauthToken, code };
  await api.anonymous.login(unchecked(body), { headers: user.headers }).refused(401, 'code_invalid');
});

// Each of these alone causes the rejection.
const CHANGES_DURING_REQUEST: [string, () => Columns][] = [
  ['the password is changed', () => ({ password_hash: otherHash })],
  ['the user is disabled', () => ({ is_active: false })],
  ['the user’s tokens are ended', () => ({ token_version: 7 })],
];

describe("changes of the caller's own account", () => {
  test.each(CHANGES_DURING_REQUEST)('rejects a password change if meanwhile %s', async (_what, columns) => {
    const user = await makeUser();
    const body = { current_password: DEMO.password, new_password: 'seven parcels on a wet quay' };
    const { token, headers } = user;
    const change = () => api.withToken(token).changePassword(body, { headers });
    expect(coded(await changeDuring(user, columns(), () => change().answer()))).toBe('401 token_invalid');
    expect(await read(user, 'password_hash')).toBe(columns()['password_hash'] ?? cheapHash);
    expect(await actionsOf(user)).toEqual([]);
  });

  test.each([
    ...CHANGES_DURING_REQUEST,
    [
      'two-factor authentication is enabled',
      (user: User) => ({ two_factor_enabled: true, totp_secret: encrypted(user, 'totp_secret') }),
    ] as const,
  ])('rejects a two-factor setup if meanwhile %s', async (_what, columns) => {
    const user = await makeUser();
    const reply = await changeDuring(user, columns(user), () => manage(user, { action: 'setup' }).answer());
    expect(coded(reply)).toBe('401 token_invalid');
    expect(await read(user, 'totp_pending_secret')).toBeNull();
  });

  test.each([
    ...CHANGES_DURING_REQUEST.slice(1),
    [
      'another setup begins',
      (user: User) => ({ totp_pending_secret: encrypted(user, 'totp_pending_secret', 'B'.repeat(32)) }),
    ] as const,
  ])('does not enable two-factor authentication if meanwhile %s', async (_what, columns) => {
    const user = await makeUser();
    const pending = {
      totp_pending_secret: encrypted(user, 'totp_pending_secret'),
      totp_pending_expires_at: new Date(Date.now() + 300_000),
    };
    await set(user, pending);
    const enable = () => manage(user, { action: 'enable', code: codeOfNow() });
    expect(coded(await changeDuring(user, columns(user), () => enable().answer()))).toBe('401 token_invalid');
    expect(await read(user, 'two_factor_enabled')).toBe(false);
  });

  test.each(CHANGES_DURING_REQUEST)(
    'does not disable two-factor authentication if meanwhile %s',
    async (_what, columns) => {
      const user = await makeUserWithTwoFactor();
      const disable = () => manage(user, { action: 'disable', code: codeOfNow() });
      expect(coded(await changeDuring(user, columns(), () => disable().answer()))).toBe('401 token_invalid');
      expect(await read(user, 'two_factor_enabled')).toBe(true);
    },
  );

  test.each(CHANGES_DURING_REQUEST)('creates no backup codes if meanwhile %s', async (_what, columns) => {
    const user = await makeUserWithTwoFactor();
    const regenerate = () => manage(user, { action: 'regenerate_backup_codes', code: codeOfNow() });
    expect(coded(await changeDuring(user, columns(), () => regenerate().answer()))).toBe('401 token_invalid');
    const { rows } = await service().owner.query('select from backup_codes where user_id = $1', [user.id]);
    expect(rows).toEqual([]);
  });
});
