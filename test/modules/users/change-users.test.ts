import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { newId } from '../../../src/platform/values/ids.js';
import { matching } from '../../support/assertions/matching.js';
import { withService } from '../../support/fixture/with-service.js';
import { makeUserCalls } from './user-calls.js';
import { startSecondServer } from '../../support/fixture/second-server.js';

const fixture = withService();
const { db, service } = fixture;
const { logIn, makeUser, manage, statusWith } = makeUserCalls(fixture);

describe('revocation of tokens', () => {
  let replica: Awaited<ReturnType<typeof startReplica>>;

  beforeAll(async () => {
    replica = await startReplica();
  });
  afterAll(() => replica.stop());

  test.each([
    ['change_role', { role: 'manager' }, 'user.role_changed', 401],
    ['disable', {}, 'user.disabled', 403],
    ['reset_password', {}, 'user.password_reset', 401],
    ['reset_two_factor', {}, 'user.two_factor_disabled', 401],
  ])(
    '%s ends tokens at the next request on every replica, and preauth tokens too',
    async (action, fields, auditAction, status) => {
      const user = await makeUser({ two_factor_enabled: true, totp_secret: 'x' });
      await db.query(
        `insert into preauth_tokens (tenant_id, token_hash, user_id, expires_at) values ($1, $2::uuid::text, $2, now() + interval '5 min')`,
        [DEMO.tenants.demo, user.id],
      );
      expect(await replica.status(user.token)).toBe(200);
      await manage({ action, user_id: user.id, ...fields }).ok();
      expect([await replica.status(user.token), await statusWith(user.token)]).toEqual([status, status]);
      const facts = await db.auditOf(user.id);
      expect(facts).toMatchObject([{ action: auditAction, actor_id: DEMO.users.admin }]);
      expect(JSON.stringify(facts)).not.toMatch(matching(/hash|secret/, 'password_hash', 'totp_secret'));
      expect(await db.all('preauth_tokens', { user_id: user.id })).toEqual([]);
    },
  );

  test('a user needs a new token after disabling and enabling', async () => {
    const user = await makeUser();
    await manage({ action: 'disable', user_id: user.id }).ok();
    const enabled = await manage({ action: 'enable', user_id: user.id }).ok();
    expect(enabled.data).toMatchObject({ user_id: user.id, is_active: true });
    expect(await statusWith(user.token)).toBe(401);
    expect((await db.auditOf(user.id)).map(({ action }) => action)).toEqual([
      'user.disabled',
      'user.enabled',
    ]);
  });

  test('a change of the name ends no tokens', async () => {
    const user = await makeUser();
    const reply = await manage({ action: 'update', user_id: user.id, full_name: 'Another Name' }).ok();
    expect(reply.data).toMatchObject({ full_name: 'Another Name' });
    expect(await statusWith(user.token)).toBe(200);
    expect(await db.auditOf(user.id)).toMatchObject([
      { action: 'user.updated', before: { full_name: 'Test User' }, after: { full_name: 'Another Name' } },
    ]);
  });

  test('equal values write nothing and end no tokens', async () => {
    const [user, courier] = [
      await makeUser(),
      await makeUser({ role: 'courier', courier_id: DEMO.couriers.IEX }),
    ];
    const off = await makeUser({ is_active: false });
    const before = await db.fingerprint();
    for (const body of [
      { action: 'update', user_id: user.id, full_name: 'Test User' },
      { action: 'change_role', user_id: user.id, role: 'warehouse' },
      { action: 'change_role', user_id: courier.id, role: 'courier', courier_id: DEMO.couriers.IEX },
      { action: 'enable', user_id: user.id },
      { action: 'disable', user_id: off.id },
      { action: 'reset_two_factor', user_id: user.id },
    ])
      await manage(body).ok();
    expect(await db.fingerprint()).toEqual(before);
    expect(await statusWith(user.token)).toBe(200);
  });
});

/** Starts a second server on the same database. */
async function startReplica() {
  const { url, close } = await startSecondServer(service(), 2);
  return {
    async status(token: string) {
      const headers = { authorization: `Bearer ${token}` };
      return (await fetch(`${url}/api/TwoFactor.php`, { headers })).status;
    },
    stop: close,
  };
}

describe('reset_password', () => {
  test('returns a one-time password and removes the lock', async () => {
    const user = await makeUser();
    await db.query(
      `insert into login_throttles (tenant_id, kind, subject, failures, locked_until)
       values ($1, 'password', $2, 5, now() + interval '15 minutes')`,
      [DEMO.tenants.demo, user.username],
    );
    await logIn(user.username, DEMO.password).refused(429, 'too_many_attempts');
    const reset = await manage({ action: 'reset_password', user_id: user.id }).ok();
    expect(Object.keys(reset.data).sort()).toEqual([
      'one_time_password',
      'open_service_tokens',
      'password_expires_at',
      'user_id',
      'username',
    ]);
    expect(reset.data.open_service_tokens).toBe(0);
    const again = await logIn(user.username, reset.data.one_time_password).ok();
    expect(again.data.user).toMatchObject({ must_change_password: true });
  });

  test('keeps two-factor authentication', async () => {
    const user = await makeUser({ two_factor_enabled: true, totp_secret: 'x' });
    const reset = await manage({ action: 'reset_password', user_id: user.id }).ok();
    const login = await logIn(user.username, reset.data.one_time_password).ok();
    expect(login.body.status).toBe('2fa_required');
  });
});

test('reset_two_factor disables it, deletes the backup codes and resets the failure count', async () => {
  const user = await makeUser({ two_factor_enabled: true, totp_secret: 'x' });
  await db.query(
    'insert into backup_codes (tenant_id, id, user_id, code_hash) values ($1, new_id(), $2, $2::uuid::text)',
    [DEMO.tenants.demo, user.id],
  );
  await db.query(
    `insert into login_throttles (tenant_id, kind, subject, failures) values ($1, 'code', $2, 4)`,
    [DEMO.tenants.demo, user.id],
  );
  const reply = await manage({ action: 'reset_two_factor', user_id: user.id }).ok();
  expect(reply.data).toMatchObject({ two_factor_enabled: false });
  expect(await db.user(user.id)).toMatchObject({ totp_secret: null, totp_last_step: null });
  expect(await db.all('backup_codes', { user_id: user.id })).toEqual([]);
  expect(await db.all('login_throttles', { subject: user.id })).toEqual([]);
  await logIn(user.username, DEMO.password).ok();
});

test("change_role turns a courier's user into staff and staff into a courier's user", async () => {
  const user = await makeUser({ role: 'courier', courier_id: DEMO.couriers.IEX });
  const staff = await manage({ action: 'change_role', user_id: user.id, role: 'manager' }).ok();
  expect(staff.data).toMatchObject({ role: 'manager', courier_id: null, courier_code: null });
  const body = { action: 'change_role', user_id: user.id, role: 'courier', courier_id: DEMO.couriers.HRB };
  expect((await manage(body).ok()).data).toMatchObject({ courier_id: DEMO.couriers.HRB });
  await manage({ ...body, courier_id: newId() }).refused(404, 'courier_not_found');
  await manage({ ...body, courier_id: DEMO.couriers.TWO }).refused(404, 'courier_not_found');
  const { courier_id: _, ...withoutCourier } = body;
  await manage(withoutCourier).refused(400, 'validation_failed');
});
