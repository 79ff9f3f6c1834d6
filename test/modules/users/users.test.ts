import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { newOneTimePassword } from '../../../src/modules/auth/credentials/new-user.js';
import { newId } from '../../../src/platform/values/ids.js';
import { malformedCall } from '../../support/fixture/malformed-call.js';
import { unchecked } from '../../support/fixture/sent.js';
import { withService } from '../../support/fixture/with-service.js';
import { rounds } from '../../support/harness/effort.js';
import { operationIds, operationOf } from '../../support/service/contract.js';
import { untilAdmitted } from '../../support/service/service.js';
import { freshName, makeUserCalls, type UserWithToken } from './user-calls.js';

const REMOVAL_ROUNDS = rounds(20, 100);

const fixture = withService();
const { api, db, service } = fixture;
const { logIn, makeUser, manage, statusWith } = makeUserCalls(fixture);

const changePassword = (token: string, current: string, wanted: string) =>
  api.withToken(token).changePassword({ current_password: current, new_password: wanted });

describe('create', () => {
  test('returns a one-time password, which the user must change at the first login', async () => {
    const created = await manage({
      action: 'create',
      username: 'Bob',
      full_name: 'Bob M',
      role: 'manager',
    }).ok();
    expect(created.body.status).toBe('success');
    const { user_id: id, one_time_password: password, password_expires_at: expires } = created.data;
    // Stored in lower case, as login compares it.
    expect(created.data.username).toBe('bob');
    expect(password).toMatch(/^(?:[2-9A-HJ-NP-Za-km-z]{4}-){3}[2-9A-HJ-NP-Za-km-z]{4}$/);
    const days = (Date.parse(`${expires}Z`) - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(6.99);
    expect(days).toBeLessThan(7.01);
    const audit = await db.auditOf(id);
    expect(audit.map(({ action, actor_id, before, after }) => ({ action, actor_id, before, after }))).toEqual(
      [
        {
          action: 'user.created',
          actor_id: DEMO.users.admin,
          before: null,
          after: { username: 'bob', full_name: 'Bob M', email: null, role: 'manager', courier_id: null },
        },
      ],
    );

    const first = await logIn('bob', password).ok();
    expect(first.data.user).toMatchObject({ id, role: 'manager', must_change_password: true });
    const { access_token: token } = first.data;
    await api.withToken(token).listPrealerts().refused(403, 'password_change_required');

    const changed = await changePassword(token, password, 'seven parcels on a wet quay').ok();
    expect(changed.data.user).toMatchObject({ id, username: 'bob', must_change_password: false });
    expect(await statusWith(token)).toBe(401);
    await api.withToken(changed.data.access_token).listPrealerts().ok();
    await logIn('bob', password).refused(401, 'credentials_invalid');
    await logIn('bob', 'seven parcels on a wet quay').ok();
    // Neither password is stored in clear text.
    const dump = JSON.stringify([await db.user(id), await db.auditOf(id)]);
    expect(dump).not.toContain(password);
    expect(dump).not.toContain('seven parcels');
  });

  test('rejects every other operation before it validates the request until the password is changed', async () => {
    const { id: userId, token } = await makeUser({ role: 'admin', must_change_password: true });
    const before = await db.fingerprint();
    // The console has the session of every user in its cookie, and a log-out always works.
    const allowed = ['changePassword', 'manageSessions', 'getDeviceSession', 'createDeviceSession'];
    const ids = operationIds.filter((id) => operationOf(id).credential === 'token' && !allowed.includes(id));
    expect(ids.length).toBeGreaterThan(25);
    for (const id of ids) {
      const { status, code } = await malformedCall(api.withToken(token), id).answer();
      expect([id, status, code]).toEqual([id, 403, 'password_change_required']);
    }
    expect(await db.fingerprint()).toEqual(before);
    // changePassword validates the body, so it is not rejected earlier.
    await api.withToken(token).changePassword(unchecked({})).refused(400, 'validation_failed');
    await db.query('delete from users where id = $1', [userId]);
  });

  test('treats an expired one-time password as wrong for login and change', async () => {
    const user = await makeUser({ must_change_password: true });
    await logIn(user.username, DEMO.password).ok();
    await db.query("update users set password_expires_at = now() - interval '1 second' where id = $1", [
      user.id,
    ]);
    const late = await logIn(user.username, DEMO.password).refused(401, 'credentials_invalid');
    const wrong = await logIn(user.username, 'wrong').refused(401, 'credentials_invalid');
    expect(late.message).toBe(wrong.message);
    const change = changePassword(user.token, DEMO.password, 'seven parcels on a wet quay');
    await change.refused(400, 'password_wrong');
  });

  test("a courier's user belongs to that courier only", async () => {
    const body = { action: 'create', username: freshName(), full_name: 'Desk', role: 'courier' };
    await manage({ ...body, courier_id: DEMO.couriers.HRB }).ok();
    const list = await api.as('admin').listUsers({ search: body.username }).ok();
    expect(list.data).toMatchObject([
      { courier_id: DEMO.couriers.HRB, courier_code: 'HRB', role: 'courier' },
    ]);
  });

  const REFUSED = { action: 'create', username: 'refused', full_name: 'R', role: 'warehouse' };

  test.each([
    ['the role courier without a courier', { role: 'courier' }, 'courier_id', 'required'],
    [
      'another role with a courier',
      { role: 'manager', courier_id: DEMO.couriers.IEX },
      'courier_id',
      'conflict',
    ],
    ['a blank full name', { full_name: ' ' }, 'full_name', 'pattern'],
    ['a name with a space', { username: 'bob m' }, 'username', 'pattern'],
    ['a role that does not exist', { role: 'owner' }, 'role', 'enum'],
  ])('rejects %s', async (_what, fields, field, code) => {
    const before = await db.fingerprint();
    const { errors } = await manage({ ...REFUSED, ...fields }).refused(400, 'validation_failed');
    expect(errors.map((error) => [error.field, error.code])).toEqual([[field, code]]);
    expect(await db.fingerprint()).toEqual(before);
  });

  test.each([
    [
      'a courier of another tenant',
      { role: 'courier', courier_id: DEMO.couriers.TWO },
      404,
      'courier_not_found',
    ],
    ['a name that is taken', { username: 'manager' }, 409, 'duplicate_username'],
    ['a name that is taken, in capitals', { username: 'MANAGER' }, 409, 'duplicate_username'],
  ])('rejects %s', async (_what, fields, status, code) => {
    const before = await db.fingerprint();
    const { errors } = await manage({ ...REFUSED, ...fields }).refused(status, code);
    expect(errors).toEqual([]);
    expect(await db.fingerprint()).toEqual(before);
  });

  test('user names are unique per tenant, and of 10 simultaneous creations one succeeds', async () => {
    const body = { action: 'create', username: 'popular', full_name: 'P', role: 'warehouse' };
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => untilAdmitted(() => manage(body).answer())),
    );
    const endings = replies.map(({ status, code }) => `${status} ${code ?? 'success'}`);
    expect(endings.sort()).toEqual(['200 success', ...Array(9).fill('409 duplicate_username')]);
    await manage(body, { as: 'two/admin' }).ok();
  });
});

test('one-time passwords use each of 57 characters equally often and no ambiguous ones', () => {
  const counts = new Map<string, number>();
  const made = Array.from({ length: 5_700 }, newOneTimePassword);
  for (const letter of made.join('').replaceAll('-', '')) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  expect(counts.size).toBe(57);
  for (const letter of '0O1lI') expect(counts.has(letter)).toBe(false);
  // An expected count of 1,600 each, and nine standard deviations to either side.
  for (const [letter, count] of counts)
    expect([letter, Math.abs(count - 1_600) < 360]).toEqual([letter, true]);
  expect(new Set(made).size).toBe(made.length);
});

describe('access to users', () => {
  test('only administrators may list and manage users', async () => {
    for (const as of ['manager', 'warehouse', 'iex']) {
      await api.as(as).listUsers().refused(403, 'permission_denied');
      await manage({ action: 'disable', user_id: DEMO.users.hrb }, { as }).refused(403, 'permission_denied');
    }
  });

  test('responds identically to unknown users and those of another tenant', async () => {
    for (const action of ['disable', 'enable', 'reset_password', 'reset_two_factor']) {
      for (const id of [newId(), DEMO.usersOfTwo.two])
        await manage({ action, user_id: id }).refused(404, 'user_not_found');
    }
  });

  test('administrators cannot reset their own password or second factor here', async () => {
    for (const action of ['reset_password', 'reset_two_factor']) {
      await manage({ action, user_id: DEMO.users.admin }).refused(400, 'own_account');
    }
  });
});

describe('last administrator', () => {
  const cases = [
    { action: 'disable' },
    { action: 'change_role', role: 'manager' },
    { action: 'change_role', role: 'courier', courier_id: DEMO.couriers.TWO },
  ];

  test('cannot be disabled or lose the role', async () => {
    const admin = DEMO.usersOfTwo.admin;
    // A disabled administrator does not count.
    await db.query(
      `insert into users (tenant_id, id, username, full_name, role, password_hash, is_active)
       values ($1, new_id(), 'retired', 'R', 'admin', 'x', false)`,
      [DEMO.tenants.two],
    );
    for (const body of cases) {
      await manage({ ...body, user_id: admin }, { as: 'two/admin' }).refused(400, 'last_admin');
    }
    await api.as('two/admin').listUsers().ok();
  });

  test(`one of two administrators who remove each other remains, in ${REMOVAL_ROUNDS} rounds`, async () => {
    const [one, two] = [await makeUser({ role: 'admin' }), await makeUser({ role: 'admin' })];
    await db.query('update users set is_active = false where id = $1', [DEMO.users.admin]);
    const outcomes: string[] = [];
    try {
      for (let round = 0; round < REMOVAL_ROUNDS; round += 1) {
        const tokens = await Promise.all([one, two].map(freshToken));
        const replies = await Promise.all(
          [two, one].map((target, index) => {
            const body = round % 2 ? { action: 'disable' } : { action: 'change_role', role: 'manager' };
            return manage({ ...body, user_id: target.id }, { token: tokens[index] ?? '' }).answer();
          }),
        );
        outcomes.push(
          replies
            .map(({ status }) => status)
            .sort()
            .join(' '),
        );
        const admins = { tenant_id: DEMO.tenants.demo, role: 'admin', is_active: true };
        expect(await db.count('users', admins)).toBe(1);
        await db.query("update users set is_active = true, role = 'admin' where id = any($1)", [
          [one.id, two.id],
        ]);
      }
    } finally {
      await db.query('update users set is_active = true where id = $1', [DEMO.users.admin]);
      await db.query('delete from users where id = any($1)', [[one.id, two.id]]);
    }
    // The account of the other caller has changed, before its request or while that waited.
    expect(outcomes.filter((each) => !/^200 40[13]$/.test(each))).toEqual([]);
  });

  async function freshToken({ id }: UserWithToken): Promise<string> {
    const { token_version: tokenVersion } = await db.user(id);
    const user = {
      tenantId: DEMO.tenants.demo,
      userId: id,
      role: 'admin' as const,
      courierId: null,
      tokenVersion,
    };
    return service().app.tokens.issue(user, Math.floor(Date.now() / 1000));
  }
});
