import { describe, expect, test } from '@jest/globals';
import { stepOfCode } from '../../../src/modules/auth/credentials/totp.js';
import { DEMO, DEMO_BACKUP_CODES } from '../../../fixtures/demo/seed.js';
import { codeOfStep } from '../../support/sign-in/authenticator.js';
import { withLogins, coded, codesOf } from './login-calls.js';

const {
  api,
  service,
  makeUserWithTwoFactor,
  makePreauthToken,
  logIn,
  auditOf,
  verify,
  codeOfNow,
  wrongCode,
  currentStep,
  post,
  secretWithLeadingZero,
  changeUser,
  throttleOf,
  failTimes,
} = withLogins();

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
