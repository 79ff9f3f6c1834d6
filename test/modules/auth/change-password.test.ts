import { beforeAll, describe, expect, test } from '@jest/globals';
import bcrypt from 'bcrypt';
import { describeProblem } from '../../../src/platform/errors/errors.js';
import { validatePassword } from '../../../src/modules/auth/credentials/password-policy.js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { newId } from '../../../src/platform/values/ids.js';
import { rounds } from '../../support/harness/effort.js';
import { untilAdmitted, type Reply } from '../../support/service/service.js';
import { withService } from '../../support/fixture/with-service.js';

/** A hash at bcrypt's lowest cost, because most tests do not measure the time of a hash. */
let cheapHash: string;

beforeAll(async () => {
  cheapHash = await bcrypt.hash(DEMO.password, 4);
}, 60_000);
const { api, service } = withService({ env: { TRUST_PROXY: '127.0.0.1' } });

const NEW = 'seven parcels on a wet quay';

let serial = 0;

type User = { id: string; username: string; token: string; address: string };

async function makeUser(role = 'warehouse', courierId: string | null = null): Promise<User> {
  const [id, username] = [newId(), `changer${(serial += 1)}`];
  await service().owner.query(
    `insert into users (tenant_id, id, username, full_name, role, courier_id, password_hash)
     values ($1, $2, $3, 'Charlotte Changer', $4, $5, $6)`,
    [DEMO.tenants.demo, id, username, role, courierId, cheapHash],
  );
  return { id, username, token: await service().tokenOf(username), address: `10.1.1.${serial}` };
}

const change = ({ token, address }: User, current: string, wanted: string, more = {}) =>
  api
    .withToken(token)
    .changePassword(
      { current_password: current, new_password: wanted, ...more },
      { headers: { 'x-forwarded-for': address } },
    );
const logIn = ({ username, address }: User, password: string) =>
  api.anonymous.login({ action: 'login', username, password }, { headers: { 'x-forwarded-for': address } });
const coded = ({ status, body }: Reply) => `${status} ${body['code'] ?? body['status']}`;
const statusWith = async (token: string) => await api.withToken(token).getTwoFactor().status();

async function auditOf(id: string) {
  const { rows } = await service().owner.query(
    'select action, actor_kind, actor_id, before, after from audit_entries where entity_id = $1 order by at, id',
    [id],
  );
  return rows;
}

test.each([
  ['staff', 'manager', null],
  ['a courier’s user', 'courier', DEMO.couriers.IEX],
])(
  '%s changes its password: old tokens end, the new token works, and other users are not affected',
  async (_who, role, courierId) => {
    const [user, bystander] = [await makeUser(role, courierId), await makeUser(role, courierId)];
    // Fields that name another user or a column are ignored.
    const more = {
      user_id: bystander.id,
      id: bystander.id,
      username: bystander.username,
      role: 'admin',
      token_version: 9,
    };
    const changed = await change(user, DEMO.password, NEW, more).ok();
    expect(coded(changed)).toBe('200 success');
    const { access_token: fresh, user: reportedUser } = changed.data;
    expect(reportedUser).toMatchObject({
      id: user.id,
      role,
      courier_id: courierId,
      must_change_password: false,
    });
    expect([await statusWith(user.token), await statusWith(fresh)]).toEqual([401, 200]);
    await logIn(user, DEMO.password).refused(401, 'credentials_invalid');
    await logIn(user, NEW).ok();
    expect(await statusWith(bystander.token)).toBe(200);
    expect((await auditOf(user.id))[0]).toEqual({
      action: 'user.password_changed',
      actor_kind: 'user',
      actor_id: user.id,
      before: { must_change_password: false },
      after: { must_change_password: false },
    });
  },
);

test('a password change deletes pending preauth tokens', async () => {
  const user = await makeUser();
  await service().owner.query(
    `insert into preauth_tokens (tenant_id, token_hash, user_id, expires_at)
     values ($1, $2::uuid::text, $2, now() + interval '5 min')`,
    [DEMO.tenants.demo, user.id],
  );
  await change(user, DEMO.password, NEW).ok();
  const { rows } = await service().owner.query('select 1 from preauth_tokens where user_id = $1', [user.id]);
  expect(rows).toEqual([]);
});

test('five wrong passwords, counted together with login, lock the user name, even for the right password', async () => {
  const user = await makeUser();
  for (let count = 0; count < 3; count += 1) {
    const reply = await change(user, 'not the password', NEW).refused(400, 'password_wrong');
    expect(reply.errors).toMatchObject([{ field: 'current_password', code: 'wrong' }]);
  }
  for (let count = 0; count < 2; count += 1) expect(await logIn(user, 'wrong').status()).toBe(401);
  const locked = await change(user, DEMO.password, NEW).refused(429, 'too_many_attempts');
  expect(Number(locked.headers.get('retry-after'))).toBeGreaterThan(890);
  await logIn(user, DEMO.password).refused(429, 'too_many_attempts');
  // The token stays valid.
  expect(await statusWith(user.token)).toBe(200);
  expect((await auditOf(user.id)).map(({ action }) => action)).toEqual(['user.locked_out']);
});

test('the right password resets the failure count', async () => {
  const user = await makeUser();
  for (let count = 0; count < 4; count += 1)
    await change(user, 'not the password', NEW).refused(400, 'password_wrong');
  await change(user, DEMO.password, NEW).ok();
  const { rows } = await service().owner.query('select 1 from login_throttles where subject = $1', [
    user.username,
  ]);
  expect(rows).toEqual([]);
});

const CALLERS = rounds(60, 200);

test(`of ${CALLERS} simultaneous wrong passwords, at most five are hashed`, async () => {
  const user = await makeUser();
  const replies = await Promise.all(
    Array.from({ length: CALLERS }, () => change(user, 'not the password', NEW).answer()),
  );
  const verified = replies.filter(({ status }) => status === 400).length;
  expect(verified).toBeLessThanOrEqual(5);
  expect(verified).toBeGreaterThan(0);
  expect(replies.filter(({ status }) => status === 429 || status === 503)).toHaveLength(CALLERS - verified);
});

test('of 10 simultaneous password changes, one succeeds', async () => {
  const user = await makeUser();
  const replies = await Promise.all(
    Array.from({ length: 10 }, (_, n) =>
      untilAdmitted(() => change(user, DEMO.password, `${NEW} ${n}`).answer()),
    ),
  );
  const won = replies.findIndex(({ status }) => status === 200);
  // The others have an expired token or a password that is no longer current.
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(replies.filter(({ status }) => ![200, 400, 401, 429].includes(status))).toEqual([]);
  await service().owner.query('delete from login_throttles where subject = $1', [user.username]);
  await logIn(user, `${NEW} ${won}`).ok();
});

test('a user disabled during the hash changes nothing', async () => {
  const user = await makeUser();
  const changing = change(user, DEMO.password, NEW).status();
  await service().owner.query(
    'update users set is_active = false, token_version = token_version + 1 where id = $1',
    [user.id],
  );
  expect([401, 403]).toContain(await changing);
  const { rows } = await service().owner.query('select password_hash from users where id = $1', [user.id]);
  expect(rows).toEqual([{ password_hash: cheapHash }]);
});

describe('new password validation', () => {
  test.each([
    ['too short', 'eleven char', 'minLength'],
    ['74 bytes', `${'é'.repeat(36)}ab`, 'bytes'],
    ['a repetition', 'parcel parcel parcel ', 'repeated'],
    ['common', 'unbelievable', 'common'],
    ['padded', '2024!Password!2024', 'common'],
    ['the full name', 'charlotte changer', 'personal'],
    ['the published one of the demo data', DEMO.password, 'common'],
    ['the published one with padding', 'Crossdock-Demo-2026!', 'common'],
  ])('rejects a password that is %s before it checks the current one', async (_what, wanted, code) => {
    const user = await makeUser();
    const reply = await change(user, DEMO.password, wanted).refused(400, 'validation_failed');
    expect(reply.errors).toMatchObject([{ field: 'new_password', code }]);
    expect(await statusWith(user.token)).toBe(200);
  });

  test('rejects the current one before it checks it', async () => {
    const user = await makeUser();
    const same = 'correct horse battery staple';
    const reply = await change(user, same, same).answer();
    expect(reply.errors).toMatchObject([{ field: 'new_password', code: 'unchanged' }]);
  });

  test.each([
    ['11 characters', 'x1y2z3a4b5c', 'minLength'],
    ['12 characters', 'x1y2z3a4b5c6', undefined],
    ['11 emojis, in 44 bytes', '😀😁😂🤣😃😄😅😆😉😊😋', 'minLength'],
    ['72 bytes', `${'é'.repeat(35)}ab`, undefined],
    ['73 bytes', `${'é'.repeat(35)}abc`, 'bytes'],
    ['a NUL', 'correct horse\0battery', 'nul'],
    ['one letter', 'x'.repeat(30), 'repeated'],
    ['eleven characters twice', 'abcdefghijkabcdefghijk', 'repeated'],
    ['twelve characters twice', 'quay7cargo9xquay7cargo9x', undefined],
    ['a listed one', 'qwertyuiop123', 'common'],
    ['a listed one in capitals', 'QwertyUiop[]12', 'common'],
    ['the user name', 'Longusername-1', 'personal'],
    ['the user name with a year', 'longusername-1-2026', undefined],
    ['a passphrase', 'correct horse battery staple', undefined],
    ['digits and a syllable', '4821-7735-an-9921', undefined],
    ['the published one', 'crossdock-demo', 'common'],
    ['a longer one that contains it', 'my crossdock-demo words', undefined],
  ])('evaluates %s: %j gives %s', async (_what, password, code) => {
    const problem = await validatePassword(password, ['longusername-1', 'Long Name']);
    expect(problem && describeProblem('new_password', ...problem).code).toBe(code);
  });
});
