import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { prepareZXingModule, readBarcodes } from 'zxing-wasm/reader';
import { otpauthUri } from '../../../src/modules/auth/credentials/totp.js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { projectRoot } from '../../../src/config/project-root.js';
import { rounds } from '../../support/harness/effort.js';
import { untilAdmitted } from '../../support/service/service.js';
import { withService } from '../../support/fixture/with-service.js';
import { coded, makeTwoFactorUsers } from './two-factor-users.js';

beforeAll(async () => {
  const wasmBinary = await readFile(
    join(projectRoot, 'node_modules/zxing-wasm/dist/reader/zxing_reader.wasm'),
  );
  await prepareZXingModule({
    overrides: { wasmBinary: wasmBinary.buffer },
    fireImmediately: true,
  });
}, 60_000);
const fixture = withService({ env: { TRUST_PROXY: '127.0.0.1' } });
const { api, service } = fixture;
const {
  makeUser,
  makeUserWithTwoFactor,
  setUp,
  enable,
  status,
  logIn,
  logInWith,
  auditOf,
  codeOf,
  wrongCode,
} = makeTwoFactorUsers(fixture);

describe('two-factor authentication from setup to login', () => {
  test.each([
    ['staff', 'manager', null],
    ['a courier’s user', 'courier', DEMO.couriers.IEX],
  ])(
    '%s: the QR code contains the URI, its secret generates the codes, and each code works once',
    async (_who, role, courierId) => {
      const user = await makeUser(role, courierId);
      expect(await status(user)).toEqual({
        enabled: false,
        required: false,
        backup_codes_left: 0,
        setup_expires_at: null,
      });

      const begun = await setUp(user).ok();
      expect(coded(begun)).toBe('200 success');
      const { secret, otpauth_uri: uri, qr_code: picture, setup_expires_at: expires } = begun.data;
      const png = Buffer.from(picture.replace('data:image/png;base64,', ''), 'base64');
      const [read] = await readBarcodes(png);
      expect(read).toMatchObject({ format: 'QRCode', text: uri });
      const { protocol, host, pathname, searchParams } = new URL(uri);
      const { rows } = await service().owner.query('select name from tenants where id = $1', [
        DEMO.tenants.demo,
      ]);
      expect([protocol, host, decodeURIComponent(pathname)]).toEqual([
        'otpauth:',
        'totp',
        `/${rows[0].name}:${user.username}`,
      ]);
      expect(Object.fromEntries(searchParams)).toEqual({
        secret,
        issuer: rows[0].name,
        algorithm: 'SHA1',
        digits: '6',
        period: '30',
      });
      expect(secret).toMatch(/^[A-Z2-7]{32}$/);
      expect(await status(user)).toEqual({
        enabled: false,
        required: false,
        backup_codes_left: 0,
        setup_expires_at: expires,
      });
      // Setup alone changes nothing for login.
      await logIn(user).ok();

      const code = await codeOf(secret);
      const enabled = await enable(user, code).ok();
      expect(coded(enabled)).toBe('200 success');
      const { access_token: token, backup_codes: codes } = enabled.data;
      expect(new Set(codes).size).toBe(10);
      for (const each of codes) expect(each).toMatch(/^[2-9A-HJKMNP-Z]{4}-[2-9A-HJKMNP-Z]{4}$/);
      expect(await api.withToken(user.token).getTwoFactor().status()).toBe(401);
      const fresh = { ...user, token };
      expect(await status(fresh)).toEqual({
        enabled: true,
        required: false,
        backup_codes_left: 10,
        setup_expires_at: null,
      });

      // The code that enabled two-factor authentication cannot be reused; the next one works.
      expect(coded(await logInWith(fresh, code))).toBe('401 code_invalid');
      const loggedIn = await logInWith(fresh, await codeOf(secret, 1));
      expect(loggedIn.body['data'].user).toMatchObject({ id: user.id, two_factor_enabled: true });
      expect((await logInWith(fresh, codes[0] ?? '')).status).toBe(200);
      expect(coded(await logInWith(fresh, codes[0] ?? ''))).toBe('401 code_invalid');
      expect((await status(fresh)).backup_codes_left).toBe(9);

      const audit = await auditOf(user.id);
      const own = audit.filter(({ action }) => action !== 'user.logged_in');
      expect(own).toEqual([
        { action: 'user.two_factor_setup_begun', actor_id: user.id, before: null, after: null },
        {
          action: 'user.two_factor_enabled',
          actor_id: user.id,
          before: { two_factor_enabled: false },
          after: { two_factor_enabled: true },
        },
      ]);
      // The secret is stored encrypted, and the backup codes as hashes only.
      const stored = await service().owner.query(
        'select * from users u left join backup_codes b on b.user_id = u.id where u.id = $1',
        [user.id],
      );
      const dump = JSON.stringify([stored.rows, audit]);
      for (const each of [secret, ...codes]) expect(dump).not.toContain(each);
    },
  );

  test('the URI escapes special characters in names', () => {
    const uri = new URL(otpauthUri('Ö & Co: 100%?', 'a+b@c', 'S'));
    expect(decodeURIComponent(uri.pathname)).toBe('/Ö & Co: 100%?:a+b@c');
    expect(uri.searchParams.get('issuer')).toBe('Ö & Co: 100%?');
    expect(otpauthUri('My Depot', 'x', 'S')).not.toContain('+');
  });
});

describe('setup', () => {
  test('requires the password, and five wrong passwords lock it', async () => {
    const user = await makeUser();
    for (let count = 0; count < 5; count += 1) {
      const reply = await setUp(user, 'wrong').refused(400, 'password_wrong');
      expect(reply.errors).toMatchObject([{ field: 'password' }]);
    }
    await setUp(user).refused(429, 'too_many_attempts');
    expect(await status(user)).toMatchObject({ setup_expires_at: null });
  });

  test('replaces the secret when repeated, so that codes of the first secret are wrong', async () => {
    const user = await makeUser();
    const first = (await setUp(user).ok()).data.secret;
    const second = (await setUp(user).ok()).data.secret;
    expect(second).not.toBe(first);
    await enable(user, await codeOf(first)).refused(400, 'code_wrong');
    await enable(user, await codeOf(second)).ok();
  });

  test('expires after ten minutes', async () => {
    const user = await makeUser();
    const { secret } = (await setUp(user).ok()).data;
    const { rows } = await service().owner.query(
      'select extract(epoch from totp_pending_expires_at - now()) as left from users where id = $1',
      [user.id],
    );
    expect(Number(rows[0].left)).toBeGreaterThan(590);
    expect(Number(rows[0].left)).toBeLessThanOrEqual(600);
    await service().owner.query('update users set totp_pending_expires_at = now() where id = $1', [user.id]);
    expect(await status(user)).toMatchObject({ setup_expires_at: null });
    await enable(user, await codeOf(secret)).refused(400, 'two_factor_setup_missing');
  });

  test('is rejected while two-factor authentication is enabled, and so is enable', async () => {
    const user = await makeUserWithTwoFactor();
    await setUp(user).refused(400, 'two_factor_enabled');
    await enable(user, await codeOf(user.secret, 1)).refused(400, 'two_factor_enabled');
  });
});

describe('enable', () => {
  test('is rejected without a setup and counts no failure', async () => {
    const user = await makeUser();
    await enable(user, '000000').refused(400, 'two_factor_setup_missing');
    const { rows } = await service().owner.query('select 1 from login_throttles where subject = $1', [
      user.id,
    ]);
    expect(rows).toEqual([]);
  });

  test('accepts exactly six digits, and five wrong codes lock the codes', async () => {
    const user = await makeUser();
    const { secret } = (await setUp(user).ok()).data;
    const code = await codeOf(secret);
    for (const shape of [`x${code}`, `${code}x`, 'AAAA-AAAA', '', await wrongCode(secret)]) {
      const reply = await enable(user, shape).refused(400, 'code_wrong');
      expect(reply.errors).toMatchObject([{ field: 'code', code: 'wrong' }]);
    }
    const locked = await enable(user, await codeOf(secret)).refused(429, 'too_many_attempts');
    expect(Number(locked.headers.get('retry-after'))).toBeGreaterThan(890);
    expect((await auditOf(user.id)).map(({ action }) => action)).toContain('user.locked_out');
    expect((await status(user)).enabled).toBe(false);
  });

  const CALLERS = rounds(40, 100);

  test(`of ${CALLERS} callers with one code, one enables it and receives the stored backup codes`, async () => {
    const user = await makeUser();
    const { secret } = (await setUp(user).ok()).data;
    const code = await codeOf(secret);
    const replies = await Promise.all(
      Array.from({ length: CALLERS }, () => untilAdmitted(() => enable(user, code).answer())),
    );
    const won = replies.filter((reply) => reply.status === 200);
    expect(won).toHaveLength(1);
    expect(replies.filter((reply) => ![200, 400, 401, 429].includes(reply.status))).toEqual([]);
    const codes = won[0]?.data.backup_codes;
    const { rows } = await service().owner.query('select code_hash from backup_codes where user_id = $1', [
      user.id,
    ]);
    expect(rows.map(({ code_hash: hash }) => hash).sort()).toEqual(
      codes?.map((each: string) => service().app.secrets.lookupHash(each, 'backup_code')).sort(),
    );
    expect(
      (await auditOf(user.id)).filter(({ action }) => action === 'user.two_factor_enabled'),
    ).toHaveLength(1);
  });
});
