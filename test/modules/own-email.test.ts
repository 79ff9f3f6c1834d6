import { randomBytes } from 'node:crypto';
import { beforeAll, expect, test } from '@jest/globals';
import bcrypt from 'bcrypt';
import { DEMO } from '../../fixtures/demo/seed.js';
import { newId } from '../../src/platform/values/ids.js';
import { type Reply } from '../support/service/service.js';
import { withService } from '../support/fixture/with-service.js';
import { randomAddress } from '../support/sign-in/random-address.js';

const { api, service } = withService({ env: { TRUST_PROXY: '127.0.0.1' } });
beforeAll(async () => {
  hash = await bcrypt.hash(DEMO.password, 4);
}, 60_000);
let hash: string;

const ATTACKER = 'attacker@evil.example';

async function makeAdmin() {
  const [id, username] = [newId(), `own-${randomBytes(4).toString('hex')}`];
  const email = `${username}@example.com`;
  await service().owner.query(
    `insert into users (tenant_id, id, username, full_name, email, role, password_hash)
     values ($1, $2, $3, 'An Administrator', $4, 'admin', $5)`,
    [DEMO.tenants.demo, id, username, email, hash],
  );
  return { id, username, email, token: await service().tokenOf(username) };
}
type Admin = Awaited<ReturnType<typeof makeAdmin>>;

const update = ({ id, token }: Admin, fields: object, userId = id) =>
  api
    .withToken(token)
    .manageUsers(
      { action: 'update', user_id: userId, ...fields },
      { headers: { 'x-forwarded-for': randomAddress() } },
    );

const emailOf = async ({ id }: { id: string }) => {
  const { rows } = await service().owner.query('select email from users where id = $1', [id]);
  return rows[0]?.email;
};

const mailsTo = async (recipient: string) =>
  (
    await service().owner.query('select kind from account_mails where recipient = $1 order by created_at', [
      recipient,
    ])
  ).rows.map(({ kind }) => kind);

const coded = ({ status, body }: Reply) => `${status} ${body['code'] ?? body['status']}`;

test('a stolen token does not redirect the mail that resets the password', async () => {
  const admin = await makeAdmin();
  const refused = await update(admin, { email: ATTACKER }).answer();
  expect([coded(refused), refused.errors[0]?.field]).toEqual(['400 validation_failed', 'current_password']);
  await update(admin, { email: null }).refused(400, 'validation_failed');
  await update(admin, { email: ATTACKER, full_name: 'New Name' }).refused(400, 'validation_failed');
  await update(admin, { email: ATTACKER, current_password: 'guessed' }).refused(400, 'password_wrong');
  expect(await emailOf(admin)).toBe(admin.email);
  expect(await mailsTo(ATTACKER)).toEqual([]);
});

test('with the password it is changed, and both addresses are notified', async () => {
  const admin = await makeAdmin();
  const wanted = `new-${admin.email}`;
  const body = { email: wanted, current_password: DEMO.password };
  await update(admin, body).ok();
  expect(await emailOf(admin)).toBe(wanted);
  expect([await mailsTo(admin.email), await mailsTo(wanted)]).toEqual([['email_changed'], ['email_changed']]);
  // The token stays valid.
  await update(admin, { full_name: 'Still here' }).ok();
});

test('wrong passwords are counted with those of logins, and the fifth locks both', async () => {
  const admin = await makeAdmin();
  const guess = { email: ATTACKER, current_password: 'guessed' };
  for (let count = 0; count < 4; count += 1) expect(await update(admin, guess).status()).toBe(400);
  const right = { email: `x-${admin.email}`, current_password: DEMO.password };
  await update(admin, right).ok();
  for (let count = 0; count < 5; count += 1) expect(await update(admin, guess).status()).toBe(400);
  const other = { ...right, email: `y-${admin.email}` };
  await update(admin, other).refused(429, 'too_many_attempts');
  const login = await api.anonymous
    .login({
      action: 'login',
      username: admin.username,
      password: DEMO.password,
    })
    .answer();
  expect(login.status).toBe(429);
});

test.each([
  ['the own name', (admin: Admin) => update(admin, { full_name: 'Another Name' }).answer()],
  ['the own address as it is', (admin: Admin) => update(admin, { email: admin.email }).answer()],
  [
    "another user's address",
    async (admin: Admin) => {
      const other = await makeAdmin();
      return update(admin, { email: `other-${other.email}` }, other.id).answer();
    },
  ],
])('%s needs no password', async (_what, change) => {
  expect(coded(await change(await makeAdmin()))).toBe('200 success');
});

test('an address in another case of the own user id is not changed without the password', async () => {
  const admin = await makeAdmin();
  await update(admin, { email: ATTACKER }, admin.id.toUpperCase()).refused(400, 'validation_failed');
  expect(await emailOf(admin)).toBe(admin.email);
});

test('of 20 guesses at the same time, at most five are compared', async () => {
  const admin = await makeAdmin();
  const guess = { email: ATTACKER, current_password: 'guessed' };
  const replies = await Promise.all(Array.from({ length: 20 }, () => update(admin, guess).answer()));
  expect(replies.filter(({ status }) => status === 400).length).toBeLessThanOrEqual(5);
  expect(await emailOf(admin)).toBe(admin.email);
});
