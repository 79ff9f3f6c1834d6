import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createApp } from '../../src/app.js';
import { newOneTimePassword } from '../../src/modules/auth/credentials/one-time-password.js';
import { developmentConfig } from '../support/staging/development.js';
import { openDb } from '../../src/platform/db/open-database.js';
import { DEMO } from '../../fixtures/demo/seed.js';
import { newId } from '../../src/platform/values/ids.js';
import { operationIds, operationOf } from '../support/service/contract.js';
import { rounds } from '../support/harness/effort.js';
import { fingerprint } from '../support/readers/fingerprint.js';
import { untilAdmitted, type Call, type Reply } from '../support/service/service.js';
import { matching } from '../support/assertions/matching.js';
import { withService } from '../support/fixture/with-service.js';
import { unchecked } from '../support/fixture/sent.js';

const { api, service } = withService();

type Fields = Record<string, unknown>;

const manage = (body: Fields, call: Call = { as: 'admin' }) =>
  api.with({ ...call }).manageUsers(unchecked(body));
const logIn = (username: string, password: string) =>
  api.anonymous.login({ action: 'login', username, password });
const changePassword = (token: string, current: string, wanted: string) =>
  api.withToken(token).changePassword({ current_password: current, new_password: wanted });
const coded = ({ status, body }: Reply) => `${status} ${body['code'] ?? body['status']}`;
const fieldOf = ({ body }: Reply) =>
  body['errors']?.map((each: Fields) => `${String(each['field'])} ${String(each['code'])}`);

let serial = 0;
const freshName = () => `user${(serial += 1)}`;

type UserWithToken = { id: string; username: string; token: string };

/** Creates a user with a token, without the cost of a hash. */
async function makeUser(fields: Fields = {}): Promise<UserWithToken> {
  const row: Fields = {
    id: newId(),
    username: freshName(),
    full_name: 'Test User',
    role: 'warehouse',
    ...fields,
  };
  const columns = Object.keys(row);
  await service().owner.query(
    `insert into users (tenant_id, password_hash, ${columns.join(', ')})
     select $1, password_hash, ${columns.map((_, index) => `$${index + 3}`).join(', ')} from users where id = $2`,
    [DEMO.tenants.demo, DEMO.users.admin, ...Object.values(row)],
  );
  const username = String(row['username']);
  return { id: String(row['id']), username, token: await service().tokenOf(username) };
}

async function rowOf(id: string): Promise<Fields> {
  const { rows } = await service().owner.query<Fields>('select * from users where id = $1', [id]);
  return rows[0] ?? {};
}

async function auditOf(id: string): Promise<Fields[]> {
  const { rows } = await service().owner.query<Fields>(
    'select action, actor_id, before, after from audit_entries where entity_id = $1 order by at, id',
    [id],
  );
  return rows;
}

const statusWith = async (token: string) => await api.withToken(token).getTwoFactor().status();

describe('create', () => {
  test('returns a one-time password, which the user must change at the first login', async () => {
    const created = await manage({
      action: 'create',
      username: 'Bob',
      full_name: 'Bob M',
      role: 'manager',
    }).ok();
    expect(coded(created)).toBe('200 success');
    const { user_id: id, one_time_password: password, password_expires_at: expires } = created.data;
    // Stored in lower case, as login compares it.
    expect(created.data.username).toBe('bob');
    expect(password).toMatch(/^(?:[2-9A-HJ-NP-Za-km-z]{4}-){3}[2-9A-HJ-NP-Za-km-z]{4}$/);
    const days = (Date.parse(`${expires}Z`) - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(6.99);
    expect(days).toBeLessThan(7.01);
    expect(await auditOf(id)).toEqual([
      {
        action: 'user.created',
        actor_id: DEMO.users.admin,
        before: null,
        after: { username: 'bob', full_name: 'Bob M', email: null, role: 'manager', courier_id: null },
      },
    ]);

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
    const dump = JSON.stringify([await rowOf(id), await auditOf(id)]);
    expect(dump).not.toContain(password);
    expect(dump).not.toContain('seven parcels');
  });

  test('rejects every other operation before it validates the request until the password is changed', async () => {
    const { id: userId, token } = await makeUser({ role: 'admin', must_change_password: true });
    const before = await fingerprint(service().owner);
    const ids = operationIds.filter(
      (id) => operationOf(id).credential === 'token' && id !== 'changePassword' && id !== 'manageSessions',
    );
    expect(ids.length).toBeGreaterThan(25);
    for (const id of ids) {
      const call = operationOf(id).mediaTypes.length > 0 ? { body: '{"action":1}' } : {};
      const type = { 'content-type': operationOf(id).mediaTypes[0] ?? '' };
      const reply = await service().call(id, { token, ...call, ...(call.body ? { headers: type } : {}) });
      expect([id, coded(reply)]).toEqual([id, '403 password_change_required']);
    }
    expect(await fingerprint(service().owner)).toEqual(before);
    // changePassword validates the body, so it is not rejected earlier.
    await api.withToken(token).changePassword(unchecked({})).refused(400, 'validation_failed');
    await service().owner.query('delete from users where id = $1', [userId]);
  });

  test('treats an expired one-time password as wrong for login and change', async () => {
    const user = await makeUser({ must_change_password: true });
    await logIn(user.username, DEMO.password).ok();
    await service().owner.query(
      "update users set password_expires_at = now() - interval '1 second' where id = $1",
      [user.id],
    );
    const [late, wrong] = [
      await logIn(user.username, DEMO.password).answer(),
      await logIn(user.username, 'wrong').answer(),
    ];
    expect(coded(late)).toBe('401 credentials_invalid');
    expect(late.message).toBe(wrong.message);
    await changePassword(user.token, DEMO.password, 'seven parcels on a wet quay').refused(
      400,
      'password_wrong',
    );
  });

  test("a courier's user belongs to that courier only", async () => {
    const body = { action: 'create', username: freshName(), full_name: 'Desk', role: 'courier' };
    await manage({ ...body, courier_id: DEMO.couriers.HRB }).ok();
    const list = await api.as('admin').listUsers({ search: body.username }).ok();
    expect(list.data).toMatchObject([
      { courier_id: DEMO.couriers.HRB, courier_code: 'HRB', role: 'courier' },
    ]);
  });

  test.each([
    [
      'the role courier without a courier',
      { role: 'courier' },
      '400 validation_failed',
      ['courier_id required'],
    ],
    [
      'another role with a courier',
      { role: 'manager', courier_id: DEMO.couriers.IEX },
      '400 validation_failed',
      ['courier_id conflict'],
    ],
    [
      'a courier of another tenant',
      { role: 'courier', courier_id: DEMO.couriers.TWO },
      '404 courier_not_found',
      undefined,
    ],
    ['a name that is taken', { username: 'manager' }, '409 duplicate_username', undefined],
    ['a name that is taken, in capitals', { username: 'MANAGER' }, '409 duplicate_username', undefined],
    ['a blank full name', { full_name: ' ' }, '400 validation_failed', ['full_name pattern']],
    ['a name with a space', { username: 'bob m' }, '400 validation_failed', ['username pattern']],
    ['a role that does not exist', { role: 'owner' }, '400 validation_failed', ['role enum']],
  ])('rejects %s', async (_what, fields, code, named) => {
    const before = await fingerprint(service().owner);
    const body = { action: 'create', username: 'refused', full_name: 'R', role: 'warehouse', ...fields };
    const reply = await manage(body).answer();
    expect([coded(reply), fieldOf(reply)]).toEqual([code, named]);
    expect(await fingerprint(service().owner)).toEqual(before);
  });

  test('user names are unique per tenant, and of 10 simultaneous creations one succeeds', async () => {
    const body = { action: 'create', username: 'popular', full_name: 'P', role: 'warehouse' };
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => untilAdmitted(() => manage(body).answer())),
    );
    expect(replies.map(coded).sort()).toEqual(['200 success', ...Array(9).fill('409 duplicate_username')]);
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
      await service().owner.query(
        `insert into preauth_tokens (tenant_id, token_hash, user_id, expires_at) values ($1, $2::uuid::text, $2, now() + interval '5 min')`,
        [DEMO.tenants.demo, user.id],
      );
      expect(await replica.status(user.token)).toBe(200);
      await manage({ action, user_id: user.id, ...fields }).ok();
      expect([await replica.status(user.token), await statusWith(user.token)]).toEqual([status, status]);
      const facts = await auditOf(user.id);
      expect(facts).toMatchObject([{ action: auditAction, actor_id: DEMO.users.admin }]);
      expect(JSON.stringify(facts)).not.toMatch(matching(/hash|secret/, 'password_hash', 'totp_secret'));
      const { rows } = await service().owner.query('select 1 from preauth_tokens where user_id = $1', [
        user.id,
      ]);
      expect(rows).toEqual([]);
    },
  );

  test('a user needs a new token after disabling and enabling', async () => {
    const user = await makeUser();
    await manage({ action: 'disable', user_id: user.id }).ok();
    const enabled = await manage({ action: 'enable', user_id: user.id }).ok();
    expect(enabled.data).toMatchObject({ user_id: user.id, is_active: true });
    expect(await statusWith(user.token)).toBe(401);
    expect((await auditOf(user.id)).map(({ action }) => action)).toEqual(['user.disabled', 'user.enabled']);
  });

  test('a change of the name ends no tokens', async () => {
    const user = await makeUser();
    const reply = await manage({ action: 'update', user_id: user.id, full_name: 'Another Name' }).ok();
    expect(reply.data).toMatchObject({ full_name: 'Another Name' });
    expect(await statusWith(user.token)).toBe(200);
    expect(await auditOf(user.id)).toMatchObject([
      { action: 'user.updated', before: { full_name: 'Test User' }, after: { full_name: 'Another Name' } },
    ]);
  });

  test('equal values write nothing and end no tokens', async () => {
    const [user, courier] = [
      await makeUser(),
      await makeUser({ role: 'courier', courier_id: DEMO.couriers.IEX }),
    ];
    const off = await makeUser({ is_active: false });
    const before = await fingerprint(service().owner);
    for (const body of [
      { action: 'update', user_id: user.id, full_name: 'Test User' },
      { action: 'change_role', user_id: user.id, role: 'warehouse' },
      { action: 'change_role', user_id: courier.id, role: 'courier', courier_id: DEMO.couriers.IEX },
      { action: 'enable', user_id: user.id },
      { action: 'disable', user_id: off.id },
      { action: 'reset_two_factor', user_id: user.id },
    ])
      await manage(body).ok();
    expect(await fingerprint(service().owner)).toEqual(before);
    expect(await statusWith(user.token)).toBe(200);
  });
});

/** Starts a second server on the same database. */
async function startReplica() {
  const url = String((service().owner.options as { connectionString?: string }).connectionString);
  const config = developmentConfig({ LOG_LEVEL: 'silent', PORT: '0', DATABASE_URL: url });
  const db = openDb({ url, size: 2, assumeRole: 'crossdock_app', onError: () => {} });
  const { server } = await createApp({ config, db });
  const address = await server.listen({ host: '127.0.0.1', port: 0 });
  return {
    async status(token: string) {
      const headers = { authorization: `Bearer ${token}` };
      return (await fetch(`${address}/api/TwoFactor.php`, { headers })).status;
    },
    async stop() {
      await server.close();
      await db.close();
    },
  };
}

describe('reset_password', () => {
  test('returns a one-time password and removes the lock', async () => {
    const user = await makeUser();
    await service().owner.query(
      `insert into login_throttles (tenant_id, kind, subject, failures, locked_until)
       values ($1, 'password', $2, 5, now() + interval '15 minutes')`,
      [DEMO.tenants.demo, user.username],
    );
    await logIn(user.username, DEMO.password).refused(429, 'too_many_attempts');
    const reset = await manage({ action: 'reset_password', user_id: user.id }).ok();
    expect(Object.keys(reset.data).sort()).toEqual([
      'one_time_password',
      'password_expires_at',
      'user_id',
      'username',
    ]);
    const again = await logIn(user.username, reset.data.one_time_password).ok();
    expect(again.data.user).toMatchObject({ must_change_password: true });
  });

  test('keeps two-factor authentication', async () => {
    const user = await makeUser({ two_factor_enabled: true, totp_secret: 'x' });
    const reset = await manage({ action: 'reset_password', user_id: user.id }).ok();
    expect(coded(await logIn(user.username, reset.data.one_time_password).answer())).toBe('200 2fa_required');
  });
});

test('reset_two_factor disables it, deletes the backup codes and resets the failure count', async () => {
  const user = await makeUser({ two_factor_enabled: true, totp_secret: 'x' });
  await service().owner.query(
    'insert into backup_codes (tenant_id, id, user_id, code_hash) values ($1, new_id(), $2, $2::uuid::text)',
    [DEMO.tenants.demo, user.id],
  );
  await service().owner.query(
    `insert into login_throttles (tenant_id, kind, subject, failures) values ($1, 'code', $2, 4)`,
    [DEMO.tenants.demo, user.id],
  );
  const reply = await manage({ action: 'reset_two_factor', user_id: user.id }).ok();
  expect(reply.data).toMatchObject({ two_factor_enabled: false });
  expect(await rowOf(user.id)).toMatchObject({ totp_secret: null, totp_last_step: null });
  const { rows } = await service().owner.query(
    `select 1 from backup_codes where user_id = $1 union all select 1 from login_throttles where subject = $1::text`,
    [user.id],
  );
  expect(rows).toEqual([]);
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
  await manage({ action: 'change_role', user_id: user.id, role: 'courier' }).refused(
    400,
    'validation_failed',
  );
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
    await service().owner.query(
      `insert into users (tenant_id, id, username, full_name, role, password_hash, is_active)
       values ($1, new_id(), 'retired', 'R', 'admin', 'x', false)`,
      [DEMO.tenants.two],
    );
    for (const body of cases) {
      await manage({ ...body, user_id: admin }, { as: 'two/admin' }).refused(400, 'last_admin');
    }
    await api.as('two/admin').listUsers().ok();
  });

  const REMOVAL_ROUNDS = rounds(20, 100);

  test(`one of two administrators who remove each other remains, in ${REMOVAL_ROUNDS} rounds`, async () => {
    const [one, two] = [await makeUser({ role: 'admin' }), await makeUser({ role: 'admin' })];
    await service().owner.query('update users set is_active = false where id = $1', [DEMO.users.admin]);
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
        const { rows } = await service().owner.query(
          "select 1 from users where tenant_id = $1 and role = 'admin' and is_active",
          [DEMO.tenants.demo],
        );
        expect(rows).toHaveLength(1);
        await service().owner.query("update users set is_active = true, role = 'admin' where id = any($1)", [
          [one.id, two.id],
        ]);
      }
    } finally {
      await service().owner.query('update users set is_active = true where id = $1', [DEMO.users.admin]);
      await service().owner.query('delete from users where id = any($1)', [[one.id, two.id]]);
    }
    // The other caller is rejected, or its own account has already changed.
    expect(outcomes.filter((each) => !/^200 (400|401|403)$/.test(each))).toEqual([]);
    expect(outcomes.filter((each) => each === '200 400').length).toBeGreaterThan(0);
  });

  async function freshToken({ id }: UserWithToken): Promise<string> {
    const { rows } = await service().owner.query<{ token_version: number; now_s: number }>(
      'select token_version, extract(epoch from now())::int as now_s from users where id = $1',
      [id],
    );
    const { token_version: tokenVersion = 1, now_s: nowS = 0 } = rows[0] ?? {};
    const user = {
      tenantId: DEMO.tenants.demo,
      userId: id,
      role: 'admin' as const,
      courierId: null,
      tokenVersion,
    };
    return service().app.tokens.issue(user, nowS);
  }
});
