import { beforeEach, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { withService } from '../../support/fixture/with-service.js';
import { agedToken } from '../../support/sign-in/aged-token.js';
import { makeCookieCalls } from '../auth/device/cookie-calls.js';
import { changeUserMeanwhile, freshName, makeUserCalls, type UserWithToken } from './user-calls.js';

// A stolen session must not give anybody lasting access (decision 0135).

const fixture = withService({ env: { TRUST_PROXY: '127.0.0.1' } });
const { api, db, service } = fixture;
const { makeUser, manage } = makeUserCalls(fixture);
const { page, start } = makeCookieCalls(api, service);

let admin: UserWithToken;
let victim: UserWithToken;
beforeEach(async () => {
  admin = await makeUser({ role: 'admin', email: `${freshName()}@example.com` });
  victim = await makeUser({ email: 'victim@example.com', two_factor_enabled: true, totp_secret: 'x' });
});

const rowOf = async ({ id }: { id: string }) =>
  (await db.query('select * from users where id = $1', [id]))[0];
const byOld = (body: object, minutes = 16) => manage({ ...body }, { token: agedToken(admin.token, minutes) });

const ACTIONS: Record<string, (user: { id: string }) => object> = {
  create: () => ({ action: 'create', username: freshName(), full_name: 'New', role: 'admin' }),
  'update of the e-mail address': ({ id }) => ({
    action: 'update',
    user_id: id,
    email: 'thief@evil.example',
  }),
  change_role: ({ id }) => ({ action: 'change_role', user_id: id, role: 'admin' }),
  enable: ({ id }) => ({ action: 'enable', user_id: id }),
  reset_password: ({ id }) => ({ action: 'reset_password', user_id: id }),
  reset_two_factor: ({ id }) => ({ action: 'reset_two_factor', user_id: id }),
};

test.each(Object.entries(ACTIONS))(
  '%s needs the own password 15 minutes after the login',
  async (name, bodyOf) => {
    if (name === 'enable') await db.query('update users set is_active = false where id = $1', [victim.id]);
    const body = bodyOf(victim);
    const [before, users] = [await rowOf(victim), await db.count('users', { role: 'admin' })];
    const refused = await byOld(body).refused(400, 'validation_failed');
    expect(refused.errors).toEqual([
      {
        field: 'current_password',
        code: 'required',
        message: expect.stringContaining('you logged in more than 15 minutes ago'),
      },
    ]);
    await byOld({ ...body, current_password: 'guessed' }).refused(400, 'password_wrong');
    expect([await rowOf(victim), await db.count('users', { role: 'admin' })]).toEqual([before, users]);
    await byOld({ ...body, current_password: DEMO.password }).ok();
    const { username: _, ...again } = { username: '', ...bodyOf(victim) };
    if (name !== 'create') await byOld(again, 14).ok();
    else await byOld(bodyOf(victim), 14).ok();
  },
);

test('names, unchanged addresses and the end of an access need no password', async () => {
  const user_id = victim.id;
  await byOld({ action: 'update', user_id, full_name: 'Another Name', email: 'victim@example.com' }).ok();
  await byOld({ action: 'disable', user_id }).ok();
  expect(await rowOf(victim)).toMatchObject({ full_name: 'Another Name', is_active: false });
});

test.each([
  ['of another', () => victim],
  ['of its own', () => admin],
])('an unchanged address %s that waits does not undo a change of the address', async (_whose, of) => {
  const { id: user_id } = of();
  const { email } = await db.user(user_id);
  const change = { id: user_id, set: "email = 'safe@example.com'" };
  await changeUserMeanwhile(fixture, change, () =>
    byOld({ action: 'update', user_id, full_name: 'Another Name', email }).ok(),
  );
  expect(await db.user(user_id)).toMatchObject({ full_name: 'Another Name', email: 'safe@example.com' });
});

test('a fresh login changes its own address with the password only', async () => {
  const own = { action: 'update', user_id: admin.id, email: 'thief@evil.example' };
  const refused = await manage(own, { token: admin.token }).refused(400, 'validation_failed');
  expect(refused.errors[0]?.message).toContain('to change your own e-mail address');
});

test('a cookie made of an old token does not make the login recent', async () => {
  const { value } = await start(agedToken(admin.token, 16));
  const body = { action: 'reset_password', user_id: victim.id } as const;
  const refused = await page(value, admin.id).manageUsers(body).refused(400, 'validation_failed');
  expect(refused.errors[0]?.field).toBe('current_password');
  const fresh = await start(admin.token);
  await page(fresh.value, admin.id).manageUsers(body).ok();
});
