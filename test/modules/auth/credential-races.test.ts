import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import bcrypt from 'bcrypt';
import speakeasy from 'speakeasy';
import { DEMO } from '../../../src/development/demo/seed.js';
import { newId } from '../../../src/platform/values/ids.js';
import { changeMeanwhile } from '../../support/harness/meanwhile.js';
import { startService, type Reply, type Service } from '../../support/service/service.js';

// A credential is judged, which takes the time of a hash, and then something is written or handed out. Here the user is
// changed in between, by another transaction, every time.

let service: Service;
/** At bcrypt's lowest cost: the change is made in between however long the hash takes. */
let cheapHash: string;
let otherHash: string;

beforeAll(async () => {
  [cheapHash, otherHash] = await Promise.all([
    bcrypt.hash(DEMO.password, 4),
    bcrypt.hash('another password', 4),
  ]);
  service = await startService({ env: { TRUST_PROXY: '127.0.0.1' } });
});
afterAll(() => service.stop());

let serial = 0;

type User = { id: string; username: string; token: string; headers: Record<string, string> };

async function makeUser(): Promise<User> {
  const [id, username] = [newId(), `overtaken${(serial += 1)}`];
  await service.owner.query(
    `insert into users (tenant_id, id, username, full_name, role, password_hash)
     values ($1, $2, $3, 'Olga Overtaken', 'manager', $4)`,
    [DEMO.tenants.demo, id, username, cheapHash],
  );
  const headers = { 'x-forwarded-for': `10.2.2.${serial}` };
  return { id, username, token: await service.tokenOf(username), headers };
}

const SECRET = DEMO.totpSecret;

/** The user's secret as the column would hold it. */
const sealed = ({ id }: User, field: 'totp_secret' | 'totp_pending_secret', secret: string = SECRET) =>
  service.app.secrets.encrypt(secret, { tenantId: DEMO.tenants.demo, rowId: id, field });

async function makeGuarded(): Promise<User> {
  const user = await makeUser();
  await set(user, { two_factor_enabled: true, totp_secret: sealed(user, 'totp_secret') });
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

const set = (user: User, columns: Columns) => service.owner.query(changeOf(user, columns));

/** What a request answers when the user is changed while it is under way. */
const overtake = (user: User, columns: Columns, work: () => Promise<Reply>) =>
  changeMeanwhile(service.owner, changeOf(user, columns), work);

const logIn = ({ username, headers }: User) =>
  service.call('login', { headers, body: { action: 'login', username, password: DEMO.password } });

const manage = ({ token, headers }: User, body: Columns) =>
  service.call('manageTwoFactor', { token, headers, body: { password: DEMO.password, ...body } });

const coded = ({ status, body }: Reply) => `${status} ${body['code'] ?? body['status']}`;

const statusWith = async (token: string) => (await service.call('getTwoFactor', { token })).status;

async function read({ id }: User, column: string): Promise<unknown> {
  const { rows } = await service.owner.query(`select ${column} as value from users where id = $1`, [id]);
  return rows[0].value;
}

async function actionsOf({ id }: User): Promise<string[]> {
  const { rows } = await service.owner.query('select action from audit_entries where entity_id = $1', [id]);
  return rows.map(({ action }) => action);
}

const PAST = new Date('2020-01-01');

describe('a login that has hashed the right password', () => {
  test.each([
    ['whose password is changed meanwhile', () => ({ password_hash: otherHash })],
    [
      'whose one-time password expires meanwhile',
      () => ({ must_change_password: true, password_expires_at: PAST }),
    ],
  ])('%s is a wrong one, and is not noted as a login', async (_what, columns) => {
    const user = await makeUser();
    expect(coded(await overtake(user, columns(), () => logIn(user)))).toBe('401 credentials_invalid');
    expect(await actionsOf(user)).toEqual([]);
  });

  test('of a user who is disabled meanwhile is refused with 403', async () => {
    const user = await makeUser();
    const reply = await overtake(user, { is_active: false }, () => logIn(user));
    expect(coded(reply)).toBe('403 account_disabled');
    expect(await actionsOf(user)).toEqual([]);
  });

  test('of a user who turns a second factor on meanwhile is asked for a code', async () => {
    const user = await makeUser();
    const columns = { two_factor_enabled: true, totp_secret: sealed(user, 'totp_secret') };
    const reply = await overtake(user, columns, () => logIn(user));
    expect(coded(reply)).toBe('200 2fa_required');
    expect(Object.keys(reply.body['data'])).toEqual(['preauth_token']);
  });

  test('of a user who gets another role meanwhile gets a token of that role', async () => {
    const user = await makeUser();
    const reply = await overtake(user, { role: 'warehouse', token_version: 7 }, () => logIn(user));
    expect(reply.body['data'].user).toMatchObject({ role: 'warehouse' });
    expect(await statusWith(reply.body['data'].access_token)).toBe(200);
    expect((await service.call('listUsers', { token: reply.body['data'].access_token })).status).toBe(403);
  });
});

test('a second factor that is verified while the user’s tokens are ended hands out no token', async () => {
  const user = await makeGuarded();
  const preauthToken = (await logIn(user)).body['data'].preauth_token;
  const body = { action: 'verify_2fa', preauth_token: preauthToken, code: codeOfNow() };
  const ended = { password_hash: otherHash, token_version: 7 };
  const reply = await overtake(user, ended, () => service.call('login', { headers: user.headers, body }));
  expect(coded(reply)).toBe('401 code_invalid');
});

test('a second factor that is verified while the user is disabled hands out no token', async () => {
  const user = await makeGuarded();
  const preauthToken = (await logIn(user)).body['data'].preauth_token;
  const body = { action: 'verify_2fa', preauth_token: preauthToken, code: codeOfNow() };
  const verify = () => service.call('login', { headers: user.headers, body });
  expect(coded(await overtake(user, { is_active: false }, verify))).toBe('403 account_disabled');
});

test('a second factor that was switched off between the two steps accepts no backup code', async () => {
  const user = await makeGuarded();
  const code = 'ABCD-EFGH';
  await service.owner.query(
    'insert into backup_codes (tenant_id, id, user_id, code_hash) values ($1, $2, $3, $4)',
    [DEMO.tenants.demo, newId(), user.id, service.app.secrets.lookupHash(code, 'backup_code')],
  );
  const preauthToken = (await logIn(user)).body['data'].preauth_token;
  await set(user, { two_factor_enabled: false, totp_secret: null });
  const body = { action: 'verify_2fa', preauth_token: preauthToken, code };
  const reply = await service.call('login', { headers: user.headers, body });
  expect(coded(reply)).toBe('401 code_invalid');
});

// Each of these is reason enough to refuse.
const OVERTAKEN: [string, () => Columns][] = [
  ['the password is changed', () => ({ password_hash: otherHash })],
  ['the user is disabled', () => ({ is_active: false })],
  ['the user’s tokens are ended', () => ({ token_version: 7 })],
];

describe('what a user does to itself is refused, and changes nothing, when meanwhile', () => {
  test.each(OVERTAKEN)('%s: a new password', async (_what, columns) => {
    const user = await makeUser();
    const body = { current_password: DEMO.password, new_password: 'seven parcels on a wet quay' };
    const { token, headers } = user;
    const change = () => service.call('changePassword', { token, headers, body });
    expect(coded(await overtake(user, columns(), change))).toBe('401 token_invalid');
    expect(await read(user, 'password_hash')).toBe(columns()['password_hash'] ?? cheapHash);
    expect(await actionsOf(user)).toEqual([]);
  });

  test.each([
    ...OVERTAKEN,
    [
      'a second factor is turned on',
      (user: User) => ({ two_factor_enabled: true, totp_secret: sealed(user, 'totp_secret') }),
    ] as const,
  ])('%s: the set-up of a second factor', async (_what, columns) => {
    const user = await makeUser();
    const reply = await overtake(user, columns(user), () => manage(user, { action: 'setup' }));
    expect(coded(reply)).toBe('401 token_invalid');
    expect(await read(user, 'totp_pending_secret')).toBeNull();
  });

  test.each([
    ...OVERTAKEN.slice(1),
    [
      'another set-up is begun',
      (user: User) => ({ totp_pending_secret: sealed(user, 'totp_pending_secret', 'B'.repeat(32)) }),
    ] as const,
  ])('%s: turning a second factor on', async (_what, columns) => {
    const user = await makeUser();
    const pending = {
      totp_pending_secret: sealed(user, 'totp_pending_secret'),
      totp_pending_expires_at: new Date(Date.now() + 300_000),
    };
    await set(user, pending);
    const enable = () => manage(user, { action: 'enable', code: codeOfNow() });
    expect(coded(await overtake(user, columns(user), enable))).toBe('401 token_invalid');
    expect(await read(user, 'two_factor_enabled')).toBe(false);
  });

  test.each(OVERTAKEN)('%s: turning a second factor off', async (_what, columns) => {
    const user = await makeGuarded();
    const disable = () => manage(user, { action: 'disable', code: codeOfNow() });
    expect(coded(await overtake(user, columns(), disable))).toBe('401 token_invalid');
    expect(await read(user, 'two_factor_enabled')).toBe(true);
  });

  test.each(OVERTAKEN)('%s: new backup codes', async (_what, columns) => {
    const user = await makeGuarded();
    const regenerate = () => manage(user, { action: 'regenerate_backup_codes', code: codeOfNow() });
    expect(coded(await overtake(user, columns(), regenerate))).toBe('401 token_invalid');
    const { rows } = await service.owner.query('select from backup_codes where user_id = $1', [user.id]);
    expect(rows).toEqual([]);
  });
});
