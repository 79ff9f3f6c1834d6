import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { newId } from '../../../src/platform/values/ids.js';
import { malformedCall } from '../../support/fixture/malformed-call.js';
import { unchecked } from '../../support/fixture/sent.js';
import { withService } from '../../support/fixture/with-service.js';
import { rounds } from '../../support/harness/effort.js';
import { changeMeanwhile } from '../../support/harness/meanwhile.js';
import { operationIds, operationOf } from '../../support/service/contract.js';
import { makeSessionCalls, sessionOf, type User } from './session-calls.js';

const CALLERS = rounds(60, 200);

const { api, db, service } = withService({ env: { TRUST_PROXY: '127.0.0.1' } });
const { auditOf, list, logIn, makeUser, manage, statusWith } = makeSessionCalls(api, db);

/** Issues a token in the format of earlier releases. */
function tokenWithoutSession({ id }: User): string {
  return service().app.tokens.issue(
    { tenantId: DEMO.tenants.demo, userId: id, role: 'manager', courierId: null, tokenVersion: 1 },
    Math.floor(Date.now() / 1000),
  );
}

describe('session end', () => {
  test('after logout every operation is rejected with 401 session_ended and has no effect', async () => {
    const user = await makeUser({ role: 'admin' });
    const [token, other] = [await logIn(user), await logIn(user)];
    await manage(token, { action: 'logout' }).ok();
    const before = await db.fingerprint();
    const ids = operationIds.filter((id) => operationOf(id).credential === 'token');
    expect(ids.length).toBeGreaterThan(30);
    for (const id of ids) {
      const { status, code, body } = await malformedCall(api.withToken(token), id).answer();
      expect([id, status, code, body['status']]).toEqual([id, 401, 'session_ended', 'error']);
    }
    expect(await db.fingerprint()).toEqual(before);
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
    const bare = tokenWithoutSession(user);
    expect(await statusWith(bare)).toBe('200 success');
    await db.query(
      `insert into preauth_tokens (tenant_id, token_hash, user_id, expires_at) values ($1, $2::uuid::text, $2, now() + interval '5 min')`,
      [DEMO.tenants.demo, user.id],
    );
    const keepingCurrent = await manage(token, { action: 'end_all', keep_current: true }).ok();
    expect(keepingCurrent.data).toEqual({ ended: 1 });
    expect([await statusWith(token), await statusWith(other)]).toEqual(['200 success', '401 session_ended']);
    expect(await db.all('preauth_tokens', { user_id: user.id })).toEqual([]);
    expect((await manage(token, { action: 'end_all' }).ok()).data).toEqual({ ended: 1 });
    expect([await statusWith(token), await statusWith(bare)]).toEqual(Array(2).fill('401 token_invalid'));
    expect((await auditOf(user.id)).map(({ action, after }) => [action, after])).toEqual([
      ['user.sessions_ended', { sessions: 1, kept_current: true }],
      ['user.sessions_ended', { sessions: 1, kept_current: false }],
    ]);
  });

  test('logout with a token without a session ends all tokens of the user', async () => {
    const user = await makeUser();
    const [bare, token] = [tokenWithoutSession(user), await logIn(user)];
    await manage(bare, { action: 'logout' }).ok();
    expect([await statusWith(bare), await statusWith(token)]).toEqual(Array(2).fill('401 token_invalid'));
  });

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
      const { status, code } = await changeMeanwhile(service().owner, { text, values: [user.id] }, () =>
        call().answer(),
      );
      expect([index, `${status} ${code}`]).toEqual([index, refusal]);
      const sessions = await db.all('sessions', { user_id: user.id });
      expect(sessions.map(({ end_reason }) => end_reason)).toEqual([reason, reason]);
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
    const end = (session_id: string) => ({ action: 'end', session_id }) as const;
    await manage(token, end(newId())).refused(404, 'session_not_found');
    await manage(token, end(sessionOf(theirs))).refused(404, 'session_not_found');
    // An administrator must name the user, too.
    const named = api.as('admin').manageSessions(end(sessionOf(theirs)));
    await named.refused(404, 'session_not_found');
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
    const foreign = api.as('two/admin');
    await foreign.listSessions(named).refused(404, 'user_not_found');
    const all = { action: 'end_all', ...named };
    await foreign.manageSessions(unchecked(all)).refused(404, 'user_not_found');
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
