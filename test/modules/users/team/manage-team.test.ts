import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { newId } from '../../../../src/platform/values/ids.js';
import { withService } from '../../../support/fixture/with-service.js';
import { freshName } from '../user-calls.js';
import { makeTeamCalls } from './team-calls.js';

const fixture = withService();
const { api, db } = fixture;
const { changesOf, endingsOf, logIn, makeColleague, makeUser, manageTeam, statusWith } =
  makeTeamCalls(fixture);

const newUser = (fields: Record<string, unknown> = {}) => ({
  action: 'create',
  username: freshName(),
  full_name: 'New Colleague',
  role: 'warehouse',
  ...fields,
});
const ofIex = (courierRole: 'owner' | 'member', fields: Record<string, unknown> = {}) => ({
  role: 'courier',
  courier_role: courierRole,
  courier_id: DEMO.couriers.IEX,
  ...fields,
});

describe('create', () => {
  test('a manager creates a user of the warehouse, who logs in with the one-time password and must change it', async () => {
    const { data } = await manageTeam(newUser({ username: 'Dock.One' })).ok();
    const { user_id: id, username, one_time_password: password } = data;
    expect(username).toBe('dock.one');
    expect(await db.user(id)).toMatchObject({
      role: 'warehouse',
      courier_id: null,
      must_change_password: true,
    });
    const { data: first } = await logIn(username, password).ok();
    const { access_token: token } = first;
    await api.withToken(token).listPackages({}).refused(403, 'password_change_required');
    expect(await changesOf(id)).toMatchObject([
      { action: 'user.created', actor_id: DEMO.users.manager, after: { username, role: 'warehouse' } },
    ]);
  });

  test.each(['owner', 'member'] as const)('a manager creates an %s of a courier', async (courierRole) => {
    const { data } = await manageTeam(newUser(ofIex(courierRole))).ok();
    expect(await db.user(data.user_id)).toMatchObject({
      role: 'courier',
      courier_id: DEMO.couriers.IEX,
      is_courier_owner: courierRole === 'owner',
    });
    expect(await changesOf(data.user_id)).toMatchObject([{ after: { courier_role: courierRole } }]);
  });

  test.each([
    ['a role above', { role: 'manager' }, 400, 'validation_failed'],
    ['a courier without its id', ofIex('member', { courier_id: undefined }), 400, 'validation_failed'],
    [
      'a courier without the role there',
      ofIex('member', { courier_role: undefined }),
      400,
      'validation_failed',
    ],
    ['the warehouse with a courier', { courier_id: DEMO.couriers.IEX }, 400, 'validation_failed'],
    ['the warehouse with a role at a courier', { courier_role: 'owner' }, 400, 'validation_failed'],
    ['an address that is none', { email: 'nobody' }, 400, 'validation_failed'],
    ['an unknown courier', ofIex('member', { courier_id: newId() }), 404, 'courier_not_found'],
    [
      'the courier of another tenant',
      ofIex('member', { courier_id: DEMO.couriers.TWO }),
      404,
      'courier_not_found',
    ],
    ['a name that is taken', { username: 'Manager' }, 409, 'duplicate_username'],
  ])('is rejected for %s', async (_what, fields, status, code) => {
    const before = await db.fingerprint();
    await manageTeam(newUser(fields)).refused(status, code);
    expect(await db.fingerprint()).toEqual(before);
  });

  test('a courier has at most 200 users', async () => {
    await db.query(
      `insert into users (tenant_id, id, username, full_name, role, courier_id, password_hash, is_active)
       select $1, new_id(), 'crowd' || n, 'Crowd', 'courier', $2, 'x', false
       from generate_series(1, 200 - (select count(*)::int from users where courier_id = $2)) n`,
      [DEMO.tenants.demo, DEMO.couriers.HRB],
    );
    const body = newUser(ofIex('member', { courier_id: DEMO.couriers.HRB }));
    await manageTeam(body).refused(409, 'too_many_users');
    // Nor by a change of the courier, nor as administrators create and change users.
    const user = await makeUser();
    const place = { role: 'courier', courier_id: DEMO.couriers.HRB } as const;
    const move = { action: 'change_role', user_id: user.id, ...place } as const;
    await manageTeam({ ...move, courier_role: 'member' }).refused(409, 'too_many_users');
    const { manageUsers } = api.as('admin');
    await manageUsers(move).refused(409, 'too_many_users');
    const create = { action: 'create', username: freshName(), full_name: 'New', ...place } as const;
    await manageUsers(create).refused(409, 'too_many_users');
    await db.query("delete from users where username = 'crowd1'");
    await manageTeam(body).ok();
    await db.query("delete from users where username like 'crowd%' or username = $1", [body.username]);
  });
});

describe('changes by a manager', () => {
  test.each([
    ['change_role', ofIex('member'), 'user.role_changed', 401],
    ['disable', {}, 'user.disabled', 403],
    ['reset_password', {}, 'user.password_reset', 401],
  ])(
    '%s is audited and ends the sessions and the logins of the user',
    async (action, fields, audited, status) => {
      const user = await makeUser();
      await db.query(
        `insert into preauth_tokens (tenant_id, token_hash, user_id, expires_at) values ($1, $2::uuid::text, $2, now() + interval '5 min')`,
        [DEMO.tenants.demo, user.id],
      );
      const { access_token: token } = (await logIn(user.username, DEMO.password).ok()).data;
      await manageTeam({ action, user_id: user.id, ...fields }).ok();
      expect(await statusWith(token)).toBe(status);
      expect(await changesOf(user.id)).toMatchObject([{ action: audited, actor_id: DEMO.users.manager }]);
      expect(await db.all('preauth_tokens', { user_id: user.id })).toEqual([]);
      expect(await endingsOf(user.id)).toEqual(new Set(['revoked']));
    },
  );

  test('enable lets the user in again, and update renames it without an end of its sessions', async () => {
    const user = await makeUser({ is_active: false });
    expect((await manageTeam({ action: 'enable', user_id: user.id }).ok()).data).toMatchObject({
      is_active: true,
    });
    const { access_token: token } = (await logIn(user.username, DEMO.password).ok()).data;
    const body = { action: 'update', user_id: user.id, full_name: 'Dana Dock', email: 'dana@example.com' };
    expect((await manageTeam(body).ok()).data).toMatchObject({
      full_name: 'Dana Dock',
      email: 'dana@example.com',
    });
    expect(await statusWith(token)).toBe(200);
    expect((await changesOf(user.id)).map(({ action }) => action)).toEqual(['user.enabled', 'user.updated']);
  });

  test('a user with a new one-time password logs in with it, although it was locked out', async () => {
    const user = await makeUser();
    await db.query(
      `insert into login_throttles (tenant_id, kind, subject, failures, locked_until)
       values ($1, 'password', $2, 5, now() + interval '15 minutes')`,
      [DEMO.tenants.demo, user.username],
    );
    const { data } = await manageTeam({ action: 'reset_password', user_id: user.id }).ok();
    await logIn(user.username, data.one_time_password).ok();
    await logIn(user.username, DEMO.password).refused(401, 'credentials_invalid');
  });

  test('equal values write nothing and end no tokens', async () => {
    const user = await makeColleague();
    const before = await db.fingerprint();
    for (const body of [
      { action: 'update', full_name: 'Test User' },
      { action: 'change_role', ...ofIex('owner') },
      { action: 'enable' },
    ])
      await manageTeam({ user_id: user.id, ...body }).ok();
    expect(await db.fingerprint()).toEqual(before);
    expect(await statusWith(user.token)).toBe(200);
  });

  test('a user moves between the warehouse and couriers, and to none that does not exist', async () => {
    const user = await makeUser();
    const body = { action: 'change_role', user_id: user.id };
    const moved = await manageTeam({ ...body, ...ofIex('member') }).ok();
    expect(moved.data).toMatchObject({ courier_code: 'IEX', courier_role: 'member' });
    await manageTeam({ ...body, ...ofIex('member', { courier_id: DEMO.couriers.TWO }) }).refused(
      404,
      'courier_not_found',
    );
    const back = await manageTeam({ ...body, role: 'warehouse' }).ok();
    expect(back.data).toMatchObject({ courier_id: null, courier_role: null });
    await manageTeam({ action: 'update', user_id: user.id }).refused(400, 'validation_failed');
  });

  const ACTIONS = [
    { action: 'update', full_name: 'Taken' },
    { action: 'change_role', role: 'warehouse' },
    { action: 'disable' },
    { action: 'enable' },
    { action: 'reset_password' },
  ];

  test.each([
    ['another manager', DEMO.users.guarded],
    ['an administrator', DEMO.users.admin],
    ['a user of another tenant', DEMO.usersOfTwo.two],
    ['no user', newId()],
  ])('%s is not in the team of a manager', async (_who, id) => {
    const before = await db.fingerprint();
    for (const body of ACTIONS) await manageTeam({ ...body, user_id: id }).refused(404, 'user_not_found');
    expect(await db.fingerprint()).toEqual(before);
  });

  test('nobody changes its own account in the team', async () => {
    const before = await db.fingerprint();
    for (const body of ACTIONS) {
      await manageTeam({ ...body, user_id: DEMO.users.manager }).refused(400, 'own_account');
      await manageTeam({ ...body, user_id: DEMO.users.iex }, 'iex').refused(400, 'own_account');
    }
    expect(await db.fingerprint()).toEqual(before);
  });
});
