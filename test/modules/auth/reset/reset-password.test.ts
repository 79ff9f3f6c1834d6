import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { rounds } from '../../../support/harness/effort.js';
import { unchecked } from '../../../support/fixture/sent.js';
import { coded, NEW, withPasswordResets } from './password-resets.js';
import { type MailedUser as User } from '../../../support/builders/users.js';

const { api, service, outbox, makeUser, reset, logIn, tokensOf, requestToken } = withPasswordResets();

describe('reset', () => {
  test('changes the password, ends sessions, tokens and the lock, keeps the second factor and notifies the user', async () => {
    const user = await makeUser({ must_change_password: true });
    const before = (await logIn(user.username, DEMO.password).ok()).data.access_token;
    const token = await requestToken(user);
    await service().owner.query(
      `insert into login_throttles (tenant_id, kind, subject, failures, locked_until)
       values ($1, 'password', $2, 5, now() + interval '15 minutes')`,
      [DEMO.tenants.demo, user.username],
    );
    await service().owner.query(
      `insert into preauth_tokens (tenant_id, token_hash, user_id, expires_at) values ($1, $2::uuid::text, $2, now() + interval '5 min')`,
      [DEMO.tenants.demo, user.id],
    );
    const reply = await reset(token).ok();
    expect(JSON.stringify(reply.body)).not.toContain('access_token');
    await api.withToken(before).changePassword(unchecked({})).refused(401, 'token_invalid');
    await logIn(user.username, DEMO.password).refused(401, 'credentials_invalid');
    const again = await logIn(user.username, NEW).ok();
    expect(again.data.user).toMatchObject({ id: user.id, must_change_password: false });
    const { rows } = await service().owner.query('select 1 from preauth_tokens where user_id = $1', [
      user.id,
    ]);
    expect(rows).toEqual([]);
    const { rows: facts } = await service().owner.query(
      `select actor_kind, after from audit_entries where entity_id = $1 and action = 'user.password_reset'`,
      [user.id],
    );
    expect(facts).toEqual([{ actor_kind: 'system', after: { must_change_password: false, by: 'email' } }]);
    const mails = await outbox.untilSent(user.email, 2);
    expect(mails.map(({ subject }) => subject)).toContainEqual(
      expect.stringMatching(/^Your password was reset/),
    );
  });

  test('with two-factor authentication, login with the new password still requires a code', async () => {
    const user = await makeUser({ two_factor_enabled: true, totp_secret: 'x' });
    await reset(await requestToken(user)).ok();
    expect(coded(await logIn(user.username, NEW).answer())).toBe('200 2fa_required');
  });

  test('rejects wrong, used, expired and outdated tokens with identical responses', async () => {
    const change = (user: User, what: string) =>
      service().owner.query(`update users set ${what} where id = $1`, [user.id]);
    const tokenAfter = async (invalidate: (user: User) => Promise<unknown>) => {
      const user = await makeUser();
      const token = await requestToken(user);
      await invalidate(user);
      return token;
    };
    const tokens = {
      wrong: randomBytes(32).toString('base64url'),
      empty: ' ',
      used: await tokenAfter(async (user) =>
        reset((await tokensOf(user))[0] ?? '', 'another parcel on a wet quay').answer(),
      ),
      expired: await tokenAfter(({ id }) =>
        service().owner.query(
          "update password_resets set expires_at = now() - interval '1 second' where user_id = $1",
          [id],
        ),
      ),
      disabled: await tokenAfter((user) => change(user, 'is_active = false')),
      'password changed': await tokenAfter((user) => change(user, 'token_version = token_version + 1')),
      'address changed': await tokenAfter((user) => change(user, "email = 'other@example.com'")),
    };
    const replies = await Promise.all(Object.values(tokens).map((token) => reset(token).answer()));
    const bytes = replies.map(({ status, body }) =>
      JSON.stringify([status, { ...body, request_id: '', timestamp: 0 }]),
    );
    expect(new Set(bytes).size).toBe(1);
    expect(new Set(replies.map(coded))).toEqual(new Set(['400 reset_token_invalid']));
    // The token is also unknown on another tenant's host.
    const user = await makeUser();
    const token = await requestToken(user);
    const body = { action: 'reset', token, new_password: NEW };
    await api
      .with({ host: DEMO.hosts.two })
      .resetPassword(unchecked(body))
      .refused(400, 'reset_token_invalid');
    await reset(token).ok();
  });

  test.each([
    ['eleven char', 'minLength'],
    ['password1234', 'common'],
    ['crossdock-demo', 'common'],
    ['parcelparcel', 'repeated'],
    ['é'.repeat(40), 'bytes'],
  ])('rejects the password %j and keeps the token valid', async (password, code) => {
    const user = await makeUser();
    const token = await requestToken(user);
    const refused = await reset(token, password).refused(400, 'validation_failed');
    expect(refused.errors).toMatchObject([{ field: 'new_password', code }]);
    await reset(token).ok();
  });

  test("rejects the user's own name as a password", async () => {
    const user = await makeUser({ full_name: 'Forgetful Parcel Man' });
    const refused = await reset(await requestToken(user), 'forgetful parcel man').answer();
    expect(refused.errors).toMatchObject([{ field: 'new_password', code: 'personal' }]);
  });

  const CALLERS = rounds(40, 100);

  test(`of ${CALLERS} callers with one token, one sets the password`, async () => {
    const user = await makeUser();
    const token = await requestToken(user);
    const replies = await Promise.all(
      Array.from({ length: CALLERS }, (_, n) => reset(token, `${NEW} number ${n}`).answer()),
    );
    const won = replies.findIndex(({ status }) => status === 200);
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    // The queue before the hash is short, so that some callers get 503.
    expect(replies.filter(({ status }) => ![200, 400, 503].includes(status))).toEqual([]);
    await logIn(user.username, `${NEW} number ${won}`).ok();
  });

  test('blocks an address after fifty wrong tokens', async () => {
    const address = '203.0.113.50';
    const codes = [];
    for (let n = 0; n < 51; n += 1) codes.push(coded(await reset(`wrong-${n}`, NEW, address).answer()));
    expect(codes.slice(0, 50)).toEqual(Array(50).fill('400 reset_token_invalid'));
    expect(codes[50]).toBe('429 too_many_attempts');
  });
});
