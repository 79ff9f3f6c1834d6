import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { withService } from '../../support/fixture/with-service.js';
import { coded, makeTwoFactorUsers, type User, type UserWithTwoFactor } from './two-factor-users.js';

const fixture = withService({ env: { TRUST_PROXY: '127.0.0.1' } });
const { api, service } = fixture;
const { makeUser, makeUserWithTwoFactor, manage, status, logIn, logInWith, auditOf, codeOf, wrongCode } =
  makeTwoFactorUsers(fixture);

describe('disable', () => {
  const disable = (user: User, code: string, password: string = DEMO.password) =>
    manage(user, { action: 'disable', password, code });

  test.each([
    ['the authenticator’s code', (user: UserWithTwoFactor) => codeOf(user.secret, 1)],
    ['a backup code', (user: UserWithTwoFactor) => Promise.resolve(user.codes[3]?.toLowerCase() ?? '')],
  ])(
    'with the password and %s ends all tokens, deletes the backup codes and makes login one step again',
    async (_what, codeFor) => {
      const user = await makeUserWithTwoFactor('courier', DEMO.couriers.HRB);
      const reply = await disable(user, await codeFor(user)).ok();
      expect(coded(reply)).toBe('200 success');
      expect(await api.withToken(user.token).getTwoFactor().status()).toBe(401);
      const fresh = { ...user, token: reply.data.access_token };
      expect(await status(fresh)).toEqual({
        enabled: false,
        required: false,
        backup_codes_left: 0,
        setup_expires_at: null,
      });
      await logIn(fresh).ok();
      const { rows } = await service().owner.query(
        'select totp_secret, (select count(*)::int from backup_codes where user_id = $1) as codes from users where id = $1',
        [user.id],
      );
      expect(rows).toEqual([{ totp_secret: null, codes: 0 }]);
      expect((await auditOf(user.id)).at(-2)).toMatchObject({
        action: 'user.two_factor_disabled',
        actor_id: user.id,
        after: { two_factor_enabled: false },
      });
    },
  );

  test('requires both password and code, reports which is wrong and rejects reused codes', async () => {
    const user = await makeUserWithTwoFactor();
    await disable(user, await codeOf(user.secret, 1), 'wrong').refused(400, 'password_wrong');
    await disable(user, await wrongCode(user.secret)).refused(400, 'code_wrong');
    // The code that enabled two-factor authentication.
    await disable(user, await codeOf(user.secret, -1)).refused(400, 'code_wrong');
    const [used = ''] = user.codes;
    expect((await logInWith(user, used)).status).toBe(200);
    await disable(user, used).refused(400, 'code_wrong');
    expect((await status(user)).enabled).toBe(true);
  });

  test('counts wrong codes together with those of login', async () => {
    const user = await makeUserWithTwoFactor();
    for (let count = 0; count < 3; count += 1) await disable(user, 'AAAA-AAAA').refused(400, 'code_wrong');
    for (let count = 0; count < 2; count += 1)
      expect(coded(await logInWith(user, 'AAAA-AAAA'))).toBe('401 code_invalid');
    await disable(user, await codeOf(user.secret, 1)).refused(429, 'too_many_attempts');
    expect((await status(user)).enabled).toBe(true);
  });

  test('is rejected if two-factor authentication is already disabled', async () => {
    await disable(await makeUser(), '000000').refused(400, 'two_factor_disabled');
  });
});

describe('regenerate_backup_codes', () => {
  const regenerate = (user: User, code: string, password: string = DEMO.password) =>
    manage(user, { action: 'regenerate_backup_codes', password, code });

  test('creates ten new codes and invalidates the old ones, and the token stays valid', async () => {
    const user = await makeUserWithTwoFactor();
    const reply = await regenerate(user, await codeOf(user.secret, 1)).ok();
    const { backup_codes: codes } = reply.data;
    expect(new Set([...codes, ...user.codes]).size).toBe(20);
    expect(await status(user)).toMatchObject({ backup_codes_left: 10 });
    expect(coded(await logInWith(user, user.codes[0] ?? ''))).toBe('401 code_invalid');
    expect((await logInWith(user, codes[0] ?? '')).status).toBe(200);
    expect((await auditOf(user.id)).map(({ action }) => action)).toContain('user.backup_codes_regenerated');
  });

  test('requires the password and an unused authenticator code', async () => {
    const user = await makeUserWithTwoFactor();
    await regenerate(user, user.codes[0] ?? '').refused(400, 'code_wrong');
    await regenerate(user, await codeOf(user.secret, 1), 'wrong').refused(400, 'password_wrong');
    const code = await codeOf(user.secret, 1);
    await regenerate(user, code).ok();
    await regenerate(user, code).refused(400, 'code_wrong');
    expect(await status(user)).toMatchObject({ backup_codes_left: 10 });
    await regenerate(await makeUser(), code).refused(400, 'two_factor_disabled');
  });
});
