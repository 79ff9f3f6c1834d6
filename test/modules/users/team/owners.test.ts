import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { newId } from '../../../../src/platform/values/ids.js';
import { withService } from '../../../support/fixture/with-service.js';
import { freshName, makeUserCalls } from '../user-calls.js';
import { makeTeamCalls } from './team-calls.js';

const fixture = withService();
const { api, db } = fixture;
const { changesOf, endingsOf, logIn, makeColleague, manageTeam, manageWith, statusWith } =
  makeTeamCalls(fixture);
const { manage } = makeUserCalls(fixture);

const member = (fields: Record<string, unknown> = {}) => ({
  role: 'courier',
  courier_role: 'member',
  ...fields,
});
const newUser = (fields: Record<string, unknown> = {}) => ({
  action: 'create',
  username: `iex.${freshName()}`,
  full_name: 'Colleague',
  ...member(fields),
});

describe('an owner of a courier', () => {
  test('creates a user of its own courier, whatever courier it names', async () => {
    const { data } = await manageTeam(newUser({ courier_id: DEMO.couriers.HRB }), 'iex').ok();
    expect(await db.user(data.user_id)).toMatchObject({
      courier_id: DEMO.couriers.IEX,
      is_courier_owner: false,
    });
    const { data: login } = await logIn(data.username, data.one_time_password).ok();
    expect(login.user).toMatchObject({ courier_code: 'IEX', must_change_password: true });
    expect(await changesOf(data.user_id)).toMatchObject([
      { action: 'user.created', actor_id: DEMO.users.iex },
    ]);
  });

  test('gives user names that begin with the code of its courier, so that it learns of no others', async () => {
    for (const username of ['manager', 'hrb.desk', 'iex', 'iexdesk']) {
      const refusal = await manageTeam(newUser({ username }), 'iex').refused(400, 'validation_failed');
      expect(refusal.errors).toMatchObject([{ field: 'username', code: 'pattern' }]);
      expect(refusal.errors[0]?.message).toContain('iex.');
    }
  });

  test('gives no role of the warehouse', async () => {
    const colleague = await makeColleague();
    const before = await db.fingerprint();
    const warehouse = { role: 'warehouse', courier_role: undefined };
    for (const body of [newUser(warehouse), { action: 'change_role', user_id: colleague.id, ...warehouse }]) {
      const { errors } = await manageTeam(body, 'iex').refused(403, 'permission_denied');
      expect(errors).toMatchObject([{ field: 'role' }]);
    }
    expect(await db.fingerprint()).toEqual(before);
  });

  test.each([
    ['change_role', member(), 'user.role_changed', 401],
    ['disable', {}, 'user.disabled', 403],
    ['reset_password', {}, 'user.password_reset', 401],
  ])(
    '%s of a colleague is audited, and ends its sessions and begun logins',
    async (action, fields, audited, status) => {
      const colleague = await makeColleague({ email: 'colleague@example.com' });
      await db.query(
        `insert into preauth_tokens (tenant_id, token_hash, user_id, expires_at) values ($1, $2::uuid::text, $2, now() + interval '5 min')`,
        [DEMO.tenants.demo, colleague.id],
      );
      const { access_token: token } = (await logIn(colleague.username, DEMO.password).ok()).data;
      await manageTeam({ action, user_id: colleague.id, ...fields }, 'iex').ok();
      expect(await statusWith(token)).toBe(status);
      expect(await changesOf(colleague.id)).toMatchObject([{ action: audited, actor_id: DEMO.users.iex }]);
      expect(await db.all('preauth_tokens', { user_id: colleague.id })).toEqual([]);
      expect(await endingsOf(colleague.id)).toEqual(new Set(['revoked']));
    },
  );

  test.each([
    ['a user of another courier', DEMO.users.hrb],
    ['a user of the warehouse', DEMO.users.warehouse],
    ['a manager', DEMO.users.manager],
    ['a user of another tenant', DEMO.usersOfTwo.two],
    ['no user', newId()],
  ])('finds %s in none of its actions', async (_who, id) => {
    const before = await db.fingerprint();
    for (const body of [
      { action: 'update', full_name: 'Taken' },
      { action: 'change_role', ...member() },
      { action: 'disable' },
      { action: 'enable' },
      { action: 'reset_password' },
    ])
      await manageTeam({ ...body, user_id: id }, 'iex').refused(404, 'user_not_found');
    expect(await db.fingerprint()).toEqual(before);
  });
});

test('a member of a courier sees the team and changes nothing', async () => {
  const [colleague, own] = [await makeColleague(), await makeColleague({ is_courier_owner: false })];
  const before = await db.fingerprint();
  for (const id of [colleague.id, own.id, DEMO.users.hrb, newId()])
    for (const body of [
      { action: 'update', full_name: 'Taken' },
      { action: 'change_role', ...member() },
      { action: 'disable' },
      { action: 'enable' },
      { action: 'reset_password' },
    ]) {
      const { message } = await manageWith(own.token, { ...body, user_id: id }).refused(
        403,
        'permission_denied',
      );
      expect(message).toContain('Only an owner');
    }
  await manageWith(own.token, newUser()).refused(403, 'permission_denied');
  expect(await db.fingerprint()).toEqual(before);
});

describe('ownership', () => {
  test('an owner who becomes a member needs a new token, and manages no more', async () => {
    const owner = await makeColleague();
    await manageTeam({ action: 'change_role', user_id: owner.id, ...member() }, 'iex').ok();
    await manageWith(owner.token, newUser()).refused(401, 'token_invalid');
    const { data } = await logIn(owner.username, DEMO.password).ok();
    await manageWith(data.access_token, newUser()).refused(403, 'permission_denied');
  });

  test('the first user of a courier is an owner, and later ones that administrators create are members', async () => {
    const created = await api
      .as('admin')
      .manageCouriers({
        action: 'create',
        courier_code: 'OWN',
        courier_name: 'Owned',
        house_color: '#123456',
        login: { username: 'own.first', full_name: 'First' },
      })
      .ok();
    const { id: courierId } = await db.one('couriers', { code: 'OWN' });
    expect(created.status).toBe(200);
    const later = {
      action: 'create',
      username: 'own.second',
      full_name: 'S',
      role: 'courier',
      courier_id: courierId,
    };
    await manage(later).ok();
    const ownership = async () => {
      const rows = await db.all('users', { courier_id: courierId });
      return Object.fromEntries(rows.map((row) => [row['username'], row['is_courier_owner']]));
    };
    expect(await ownership()).toEqual({ 'own.first': true, 'own.second': false });

    const { id: first } = await db.one('users', { username: 'own.first' });
    await manage({ action: 'disable', user_id: first }).ok();
    const mover = await makeColleague({ is_courier_owner: false });
    const toOwn = { action: 'change_role', role: 'courier', courier_id: courierId };
    await manage({ ...toOwn, user_id: mover.id }).ok();
    expect((await ownership())[mover.username]).toBe(true);
    const another = await makeColleague();
    await manage({ ...toOwn, user_id: another.id }).ok();
    expect((await ownership())[another.username]).toBe(false);
  });
});
