import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import bcrypt from 'bcrypt';
import { openLastSeen } from '../../src/modules/sessions/last-seen.js';
import { DEMO } from '../../fixtures/demo/seed.js';
import { newId } from '../../src/platform/values/ids.js';
import { deleteExpired } from '../../src/jobs/retention.js';
import { rounds } from '../support/harness/effort.js';
import { changeMeanwhile } from '../support/harness/meanwhile.js';
import { operationIds, operationOf } from '../support/service/contract.js';
import { fingerprint } from '../support/readers/fingerprint.js';
import { type Call, type Reply } from '../support/service/service.js';
import { withService } from '../support/fixture/with-service.js';
import { unchecked } from '../support/fixture/sent.js';

let cheapHash: string;

beforeAll(async () => {
  cheapHash = await bcrypt.hash(DEMO.password, 4);
}, 60_000);
const { api, service } = withService({ env: { TRUST_PROXY: '127.0.0.1' } });

type Fields = Record<string, unknown>;
type User = { id: string; username: string };

async function makeUser(fields: Fields = {}): Promise<User> {
  const row: Fields = {
    id: newId(),
    username: `s-${randomBytes(4).toString('hex')}`,
    full_name: 'Session User',
    role: 'manager',
    password_hash: cheapHash,
    tenant_id: DEMO.tenants.demo,
    ...fields,
  };
  const columns = Object.keys(row);
  await service().owner.query(
    `insert into users (${columns.join(', ')}) values (${columns.map((_, n) => `$${n + 1}`).join(', ')})`,
    Object.values(row),
  );
  return { id: String(row['id']), username: String(row['username']) };
}

const post = ({ username }: User, headers: Record<string, string> = {}) =>
  api.anonymous.login(
    { action: 'login', username, password: DEMO.password },
    { headers: { 'x-forwarded-for': `10.${[...randomBytes(3)].join('.')}`, ...headers } },
  );
const logIn = async (user: User, headers?: Record<string, string>): Promise<string> =>
  (await post(user, headers).ok()).data.access_token;

const coded = ({ status, body }: Reply) => `${status} ${body['code'] ?? body['status']}`;
const manage = (token: string, body: Fields) => api.withToken(token).manageSessions(unchecked(body));
const list = async (token: string, query: Call['query'] = {}): Promise<Fields[]> =>
  (await api.withToken(token).listSessions(query).ok()).data;
const statusWith = async (token: string) => coded(await api.withToken(token).getTwoFactor().answer());
const sessionOf = (token: string): string =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).session;

async function auditOf(id: string): Promise<Fields[]> {
  const { rows } = await service().owner.query<Fields>(
    `select action, actor_id, after from audit_entries where entity_id = $1 and action <> 'user.logged_in' order by at, id`,
    [id],
  );
  return rows;
}

/** Issues a token in the format of earlier releases. */
async function tokenWithoutSession({ id }: User): Promise<string> {
  const { rows } = await service().owner.query(
    'select role, token_version, extract(epoch from now())::int as now_s from users where id = $1',
    [id],
  );
  const [{ role, token_version: tokenVersion, now_s: nowS }] = rows;
  return service().app.tokens.issue(
    { tenantId: DEMO.tenants.demo, userId: id, role, courierId: null, tokenVersion },
    nowS,
  );
}

describe('session start', () => {
  test('a login creates one session with address, client and expiry, marked as current in the list', async () => {
    const user = await makeUser();
    const headers = { 'x-forwarded-for': '203.0.113.7', 'user-agent': `Desk/1.0 ${'x'.repeat(500)}` };
    const token = await logIn(user, headers);
    const [first, ...others] = await list(token);
    expect(others).toEqual([]);
    expect(first).toMatchObject({
      session_id: sessionOf(token),
      user_id: user.id,
      is_current: true,
      is_active: true,
      started_by: 'login',
      address: '203.0.113.7',
      ended_at: null,
      end_reason: null,
    });
    expect(String(first?.['user_agent'])).toMatch(/^Desk\/1\.0 x+…$/);
    expect(String(first?.['user_agent'])).toHaveLength(255);
    const timeOf = (field: string) => Date.parse(`${String(first?.[field])}Z`);
    const lifetime = timeOf('expires_at') - timeOf('created_at');
    expect(Math.abs(lifetime - 8 * 60 * 60 * 1000)).toBeLessThanOrEqual(1_000);
    // The list never contains the token.
    expect(JSON.stringify(first)).not.toContain(token.slice(-20));
    const [second] = [await logIn(user)];
    expect((await list(second)).map((each) => each['is_current'])).toEqual([true, false]);
    expect((await list(second, { limit: 1, page: 2 })).map((each) => each['session_id'])).toEqual([
      sessionOf(token),
    ]);
  });

  test('a password change ends all earlier sessions and starts a new one', async () => {
    const user = await makeUser();
    const [old, other] = [await logIn(user), await logIn(user)];
    const body = { current_password: DEMO.password, new_password: 'seven parcels on a wet quay' };
    const changed = await api.withToken(old).changePassword(body).ok();
    const fresh: string = changed.data.access_token;
    expect([await statusWith(old), await statusWith(other)]).toEqual(Array(2).fill('401 token_invalid'));
    expect(await list(fresh)).toMatchObject([
      { session_id: sessionOf(fresh), started_by: 'password_change', is_current: true },
    ]);
    expect(await list(fresh, { is_active: false })).toMatchObject([
      { session_id: sessionOf(other), end_reason: 'revoked', is_active: false },
      { session_id: sessionOf(old), end_reason: 'revoked', is_active: false },
    ]);
  });

  test("every action that ends a user's tokens ends the sessions too", async () => {
    for (const [action, fields] of Object.entries({
      change_role: { role: 'warehouse' },
      disable: {},
      reset_password: {},
    })) {
      const user = await makeUser();
      const token = await logIn(user);
      await api
        .as('admin')
        .manageUsers(unchecked({ action, user_id: user.id, ...fields }))
        .ok();
      const query = { user_id: user.id, is_active: false };
      const ended = await api.as('admin').listSessions(query).ok();
      expect([action, ended.data]).toMatchObject([
        action,
        [{ session_id: sessionOf(token), end_reason: 'revoked' }],
      ]);
    }
  });
});

describe('session end', () => {
  test('after logout every operation is rejected with 401 session_ended and has no effect', async () => {
    const user = await makeUser({ role: 'admin' });
    const [token, other] = [await logIn(user), await logIn(user)];
    await manage(token, { action: 'logout' }).ok();
    const before = await fingerprint(service().owner);
    const ids = operationIds.filter((id) => operationOf(id).credential === 'token');
    expect(ids.length).toBeGreaterThan(30);
    for (const id of ids) {
      const call = operationOf(id).mediaTypes.length > 0 ? { body: '{"action":1}' } : {};
      const type = { 'content-type': operationOf(id).mediaTypes[0] ?? '' };
      const reply = await service().call(id, { token, ...call, ...(call.body ? { headers: type } : {}) });
      expect([id, coded(reply), reply.body['status']]).toEqual([id, '401 session_ended', 'error']);
    }
    expect(await fingerprint(service().owner)).toEqual(before);
    expect(await statusWith(other)).toBe('200 success');
    expect(await auditOf(user.id)).toEqual([
      { action: 'user.logged_out', actor_id: user.id, after: { session_id: sessionOf(token) } },
    ]);
    expect(await list(other, { is_active: false })).toMatchObject([
      { session_id: sessionOf(token), end_reason: 'logout' },
    ]);
  });

  test('end closes one session once and leaves the others open', async () => {
    const user = await makeUser({ role: 'courier', courier_id: DEMO.couriers.IEX });
    const [token, doomed, other] = [await logIn(user), await logIn(user), await logIn(user)];
    const body = { action: 'end', session_id: sessionOf(doomed) };
    expect((await manage(token, body).ok()).data).toEqual({ ended: 1 });
    expect((await manage(token, body).ok()).data).toEqual({ ended: 0 });
    expect(await Promise.all([token, doomed, other].map(statusWith))).toEqual([
      '200 success',
      '401 session_ended',
      '200 success',
    ]);
    expect(await auditOf(user.id)).toEqual([
      { action: 'user.session_ended', actor_id: user.id, after: { session_id: sessionOf(doomed) } },
    ]);
  });

  test('end_all ends all sessions, tokens without a session and preauth tokens, except the current session with keep_current', async () => {
    const user = await makeUser();
    const [token, other] = [await logIn(user), await logIn(user)];
    const bare = await tokenWithoutSession(user);
    expect(await statusWith(bare)).toBe('200 success');
    await service().owner.query(
      `insert into preauth_tokens (tenant_id, token_hash, user_id, expires_at) values ($1, $2::uuid::text, $2, now() + interval '5 min')`,
      [DEMO.tenants.demo, user.id],
    );
    const keepingCurrent = await manage(token, { action: 'end_all', keep_current: true }).ok();
    expect(keepingCurrent.data).toEqual({ ended: 1 });
    expect([await statusWith(token), await statusWith(other)]).toEqual(['200 success', '401 session_ended']);
    const { rows } = await service().owner.query('select 1 from preauth_tokens where user_id = $1', [
      user.id,
    ]);
    expect(rows).toEqual([]);
    expect((await manage(token, { action: 'end_all' }).ok()).data).toEqual({ ended: 1 });
    expect([await statusWith(token), await statusWith(bare)]).toEqual(Array(2).fill('401 token_invalid'));
    expect((await auditOf(user.id)).map(({ action, after }) => [action, after])).toEqual([
      ['user.sessions_ended', { sessions: 1, kept_current: true }],
      ['user.sessions_ended', { sessions: 1, kept_current: false }],
    ]);
  });

  test('logout with a token without a session ends all tokens of the user', async () => {
    const user = await makeUser();
    const [bare, token] = [await tokenWithoutSession(user), await logIn(user)];
    await manage(bare, { action: 'logout' }).ok();
    expect([await statusWith(bare), await statusWith(token)]).toEqual(Array(2).fill('401 token_invalid'));
  });

  const CALLERS = rounds(60, 200);

  test.each([
    ['is disabled', 'update users set is_active = false where id = $1', '403 account_disabled', null],
    [
      'loses its tokens',
      'update users set token_version = token_version + 1 where id = $1',
      '401 token_invalid',
      'revoked',
    ],
  ])('a user who %s while a request waits ends no session', async (_what, text, refusal, reason) => {
    const calls = (own: string, other: string) => [
      () => manage(own, { action: 'logout' }),
      () => manage(own, { action: 'end', session_id: other }),
      () => manage(own, { action: 'end_all' }),
    ];
    for (const index of calls('', '').keys()) {
      const user = await makeUser();
      const [own, other] = [await logIn(user), await logIn(user)];
      const call = calls(own, sessionOf(other))[index];
      if (!call) throw new Error('There is no such call.');
      const reply = await changeMeanwhile(service().owner, { text, values: [user.id] }, () =>
        call().answer(),
      );
      expect([index, coded(reply)]).toEqual([index, refusal]);
      const { rows } = await service().owner.query('select end_reason from sessions where user_id = $1', [
        user.id,
      ]);
      expect(rows).toEqual([{ end_reason: reason }, { end_reason: reason }]);
    }
  });

  test(`of ${CALLERS} callers who end one session, one succeeds and one audit entry is written`, async () => {
    const user = await makeUser();
    const [token, doomed] = [await logIn(user), await logIn(user)];
    const end = () => manage(token, { action: 'end', session_id: sessionOf(doomed) });
    const replies = await Promise.all(Array.from({ length: CALLERS }, () => end().answer()));
    const taken = replies.filter(({ status }) => status === 200);
    // Callers without a connection within 2 s got 503.
    expect(replies.filter(({ status }) => ![200, 503].includes(status))).toEqual([]);
    expect(taken.map(({ data }) => data.ended).filter(Boolean)).toEqual([1]);
    expect(await auditOf(user.id)).toHaveLength(1);
  });

  test('no request that begins after the response to a logout succeeds', async () => {
    const user = await makeUser();
    const token = await logIn(user);
    const during = Promise.all(Array.from({ length: CALLERS / 2 }, () => statusWith(token)));
    await manage(token, { action: 'logout' }).ok();
    const after = await Promise.all(Array.from({ length: CALLERS / 2 }, () => statusWith(token)));
    expect(new Set(after)).toEqual(new Set(['401 session_ended']));
    for (const each of await during) expect(['200 success', '401 session_ended']).toContain(each);
  });
});

describe('access to sessions', () => {
  test("another user's session is not found", async () => {
    const [user, victim] = [await makeUser(), await makeUser()];
    const [token, theirs] = [await logIn(user), await logIn(victim)];
    const replies = await Promise.all(
      [sessionOf(theirs), newId()].map((session_id) => manage(token, { action: 'end', session_id }).answer()),
    );
    expect(replies.map(coded)).toEqual(Array(2).fill('404 session_not_found'));
    // An administrator must name the user, too.
    await manage(await service().tokenOf('admin'), {
      action: 'end',
      session_id: sessionOf(theirs),
    }).refused(404, 'session_not_found');
    expect(await statusWith(theirs)).toBe('200 success');
  });

  test('only administrators may list and end sessions of other users, within their tenant', async () => {
    const victim = await makeUser();
    const theirs = await logIn(victim);
    const named = { user_id: victim.id };
    for (const as of ['manager', 'warehouse', 'iex']) {
      await api.as(as).listSessions(named).refused(403, 'permission_denied');
      for (const body of [
        { action: 'end', session_id: sessionOf(theirs), ...named },
        { action: 'end_all', ...named },
      ])
        await api.as(as).manageSessions(unchecked(body)).refused(403, 'permission_denied');
    }
    const foreign = { as: 'two/admin' };
    await api
      .with({ ...foreign })
      .listSessions(named)
      .refused(404, 'user_not_found');
    const all = { action: 'end_all', ...named };
    await api
      .with({ ...foreign })
      .manageSessions(unchecked(all))
      .refused(404, 'user_not_found');
    expect(await statusWith(theirs)).toBe('200 success');

    const seen = await api.as('admin').listSessions(named).ok();
    expect(seen.data).toMatchObject([{ session_id: sessionOf(theirs), is_current: false }]);
    const ended = await api
      .as('admin')
      .manageSessions({ action: 'end', session_id: sessionOf(theirs), ...named })
      .ok();
    expect(ended.data).toEqual({ ended: 1 });
    expect(await statusWith(theirs)).toBe('401 session_ended');
    const again = await logIn(victim);
    await api
      .as('admin')
      .manageSessions(unchecked({ ...all, keep_current: true }))
      .ok();
    expect(await statusWith(again)).toBe('401 token_invalid');
    expect((await auditOf(victim.id)).map(({ actor_id: actor }) => actor)).toEqual(
      Array(2).fill(DEMO.users.admin),
    );
  });

  test("a token that names another user's session is rejected", async () => {
    const [user, other] = [await makeUser(), await makeUser()];
    const theirs = sessionOf(await logIn(other));
    const claims = {
      tenantId: DEMO.tenants.demo,
      userId: user.id,
      role: 'manager' as const,
      courierId: null,
    };
    const forged = service().app.tokens.issue(
      { ...claims, tokenVersion: 1, sessionId: theirs },
      Math.floor(Date.now() / 1000),
    );
    expect(await statusWith(forged)).toBe('401 session_ended');
  });

  test('a user with a one-time password may log out but not manage sessions', async () => {
    const user = await makeUser({ role: 'admin', must_change_password: true });
    const token = await logIn(user);
    for (const body of [{ action: 'end', session_id: newId() }, { action: 'end_all' }])
      await manage(token, body).refused(403, 'password_change_required');
    await api.withToken(token).listSessions().refused(403, 'password_change_required');
    await manage(token, { action: 'logout' }).ok();
    expect(await statusWith(token)).toBe('401 session_ended');
  });
});

describe('time of last use', () => {
  const lastSeenOf = async (token: string): Promise<Date> => {
    const { rows } = await service().owner.query('select last_seen_at from sessions where id = $1', [
      sessionOf(token),
    ]);
    return rows[0].last_seen_at;
  };
  const age = (token: string, minutes: number) =>
    service().owner.query(
      'update sessions set last_seen_at = last_seen_at - make_interval(mins => $2) where id = $1',
      [sessionOf(token), minutes],
    );

  test('is written by the next flush instead of the request, at most once per minute', async () => {
    const token = await logIn(await makeUser());
    await age(token, 30);
    const before = await lastSeenOf(token);
    expect(await statusWith(token)).toBe('200 success');
    expect(await lastSeenOf(token)).toEqual(before);
    await service().app.lastSeen.flush();
    const written = await lastSeenOf(token);
    expect(Date.now() - written.getTime()).toBeLessThan(20_000);
    await statusWith(token);
    await service().app.lastSeen.flush();
    expect(await lastSeenOf(token)).toEqual(written);
  });

  test('is not updated by a rejected request', async () => {
    const user = await makeUser();
    const token = await logIn(user);
    await age(token, 30);
    const before = await lastSeenOf(token);
    await service().owner.query('update users set is_active = false where id = $1', [user.id]);
    expect(await statusWith(token)).toBe('403 account_disabled');
    await service().app.lastSeen.flush();
    expect(await lastSeenOf(token)).toEqual(before);
  });

  test('is updated by several servers for the same 500 sessions without deadlock or loss', async () => {
    const user = await makeUser();
    const { rows } = await service().owner.query<{ id: string }>(
      `insert into sessions (tenant_id, id, user_id, started_by, address, last_seen_at, expires_at)
       select $1, new_id(), $2, 'login', '::1', now() - interval '1 hour', now() + interval '1 hour'
       from generate_series(1, 500) returning id`,
      [DEMO.tenants.demo, user.id],
    );
    const errors: unknown[] = [];
    const servers = [1, 2, 3, 4].map(() => openLastSeen((error) => void errors.push(error)));
    for (const [n, server] of servers.entries())
      for (const { id } of n % 2 ? rows.toReversed() : rows)
        server.record({ tenantId: DEMO.tenants.demo, sessionId: id }, service().db);
    await Promise.all(servers.map((server) => server.stop()));
    const { rows: late } = await service().owner.query(
      "select 1 from sessions where user_id = $1 and last_seen_at < now() - interval '1 minute'",
      [user.id],
    );
    expect([errors, late]).toEqual([[], []]);
  });
});

test('retention deletes ended and expired sessions after 30 days, and networks after 90 except the newest', async () => {
  const user = await makeUser();
  const token = await logIn(user);
  await service().owner.query(
    `insert into sessions (tenant_id, id, user_id, started_by, address, expires_at, ended_at, end_reason)
     select $1, new_id(), $2, 'login', days::text, now() + interval '8 hours' - make_interval(days => days),
       case when is_ended then now() - make_interval(days => days) end, case when is_ended then 'logout' end
     from unnest(array[29, 31]) days, unnest(array[true, false]) is_ended`,
    [DEMO.tenants.demo, user.id],
  );
  const other = await makeUser();
  await service().owner.query(
    `insert into known_networks (tenant_id, user_id, network, last_seen_at)
     select $1, user_id, days::text, now() - make_interval(days => days)
     from (values ($2::uuid, 89), ($2, 91), ($3, 91), ($3, 92)) as known (user_id, days)`,
    [DEMO.tenants.demo, user.id, other.id],
  );
  await deleteExpired({ db: service().db, stopping: new AbortController().signal });
  const { rows } = await service().owner.query('select address from sessions where user_id = $1', [user.id]);
  expect(rows.map(({ address }) => address).filter((each) => /^\d\d$/.test(each))).toEqual(['29', '29']);
  const { rows: networks } = await service().owner.query(
    'select user_id, network from known_networks where user_id = any($1) and network ~ $2 order by network',
    [[user.id, other.id], '^\\d\\d$'],
  );
  expect(networks).toEqual([
    { user_id: user.id, network: '89' },
    { user_id: other.id, network: '91' },
  ]);
  expect(await statusWith(token)).toBe('200 success');
});
