import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../fixtures/demo/seed.js';
import { newId } from '../../src/platform/values/ids.js';
import { requeue } from '../../src/jobs/requeue.js';
import { rounds } from '../support/harness/effort.js';
import { operationIds, operationOf } from '../support/service/contract.js';
import { fingerprint } from '../support/readers/fingerprint.js';
import { type Reply } from '../support/service/service.js';
import { withService } from '../support/fixture/with-service.js';
import { malformedCall } from '../support/fixture/malformed-call.js';
import { unchecked } from '../support/fixture/sent.js';
import { makeAuthenticator } from '../support/sign-in/authenticator.js';
import { cheapHash } from '../support/builders/users.js';
import { randomAddress } from '../support/sign-in/random-address.js';

const { api, service } = withService({ env: { TRUST_PROXY: '127.0.0.1' } });
const { codeOf } = makeAuthenticator(service);
afterEach(() => service().owner.query('delete from security_settings'));

type Fields = Record<string, unknown>;
type User = { id: string; username: string };

async function makeUser(role = 'manager', courierId: string | null = null): Promise<User> {
  const user = { id: newId(), username: `r-${randomBytes(4).toString('hex')}` };
  await service().owner.query(
    `insert into users (tenant_id, id, username, full_name, role, courier_id, password_hash)
     values ($1, $2, $3, 'Required User', $4, $5, $6)`,
    [DEMO.tenants.demo, user.id, user.username, role, courierId, await cheapHash],
  );
  return user;
}

const set = (body: Fields, as = 'admin') => api.as(as).updateSecuritySettings(body);
const coded = ({ status, body }: Reply) => `${status} ${body['code'] ?? body['status']}`;
const logIn = ({ username }: User, password: string = DEMO.password) =>
  api.anonymous.login(
    { action: 'login', username, password },
    { headers: { 'x-forwarded-for': randomAddress() } },
  );
const tokenOf = async (user: User): Promise<string> => (await logIn(user).ok()).data.access_token;
const listWith = async (token: string) => coded(await api.withToken(token).listPrealerts().answer());
const factor = (token: string, body: Fields) => api.withToken(token).manageTwoFactor(unchecked(body));

async function enrol(token: string): Promise<{ secret: string; token: string; codes: string[] }> {
  const begun = await factor(token, { action: 'setup', password: DEMO.password }).ok();
  const { secret } = begun.data;
  const enabled = await factor(token, { action: 'enable', code: await codeOf(secret, -1) }).ok();
  const { access_token: fresh, backup_codes: codes } = enabled.data;
  return { secret, token: fresh, codes };
}

describe('security settings', () => {
  test('require nothing by default, keep omitted fields and are disabled by null', async () => {
    const read = async () => (await api.as('admin').getSecuritySettings().ok()).data;
    expect(await read()).toEqual({ require_two_factor: [], idle_timeout_minutes: null, updated_at: null });
    const before = await fingerprint(service().owner);
    await set({}).ok();
    expect(await fingerprint(service().owner)).toEqual(before);

    const reply = await set({ require_two_factor: ['warehouse', 'courier'] }).ok();
    expect(reply.data).toMatchObject({ require_two_factor: ['courier', 'warehouse'] });
    expect((await set({ idle_timeout_minutes: 30 }).ok()).data).toMatchObject({
      require_two_factor: ['courier', 'warehouse'],
      idle_timeout_minutes: 30,
    });
    expect((await set({ require_two_factor: [] }).ok()).data).toMatchObject({ idle_timeout_minutes: 30 });
    expect((await set({ idle_timeout_minutes: null }).ok()).data).toMatchObject({
      require_two_factor: [],
      idle_timeout_minutes: null,
      updated_at: expect.any(String),
    });
    const { rows } = await service().owner.query(
      `select actor_id, before, after from audit_entries where action = 'tenant.security_settings_changed' order by at, id`,
    );
    expect(rows).toHaveLength(4);
    expect(rows[0]).toEqual({
      actor_id: DEMO.users.admin,
      before: { require_two_factor: [], idle_timeout_minutes: null },
      after: { require_two_factor: ['courier', 'warehouse'], idle_timeout_minutes: null },
    });
  });

  test('are neither readable nor writable for a disabled administrator', async () => {
    const user = await makeUser('admin');
    const token = await tokenOf(user);
    await service().owner.query('update users set is_active = false where id = $1', [user.id]);
    await api.withToken(token).getSecuritySettings().refused(403, 'account_disabled');
    await api.withToken(token).updateSecuritySettings({}).refused(403, 'account_disabled');
  });

  test.each([
    [{ idle_timeout_minutes: 4 }, 'idle_timeout_minutes minimum'],
    [{ idle_timeout_minutes: 481 }, 'idle_timeout_minutes maximum'],
    [{ idle_timeout_minutes: 5.5 }, 'idle_timeout_minutes type'],
    [{ require_two_factor: ['owner'] }, 'require_two_factor[0] enum'],
    [{ require_two_factor: ['admin', 'admin'] }, 'require_two_factor uniqueItems'],
    [{ require_two_factor: null }, 'require_two_factor type'],
  ])('reject %j', async (body, problem) => {
    const reply = await set(body).refused(400, 'validation_failed');
    expect(reply.errors.map((each: Fields) => `${String(each['field'])} ${String(each['code'])}`)).toContain(
      problem,
    );
  });

  const CALLERS = rounds(40, 100);

  test(`lose no change of ${CALLERS} administrators who set one field each`, async () => {
    await Promise.all(
      Array.from({ length: CALLERS }, (_, n) =>
        set(n % 2 ? { require_two_factor: ['courier'] } : { idle_timeout_minutes: 60 }).answer(),
      ),
    );
    const { data } = await api.as('admin').getSecuritySettings().answer();
    expect(data).toMatchObject({ require_two_factor: ['courier'], idle_timeout_minutes: 60 });
  });

  test('apply to one tenant only', async () => {
    await set({ require_two_factor: ['admin', 'courier'], idle_timeout_minutes: 5 }, 'two/admin').ok();
    const { data } = await api.as('admin').getSecuritySettings().answer();
    expect(data).toMatchObject({ require_two_factor: [], idle_timeout_minutes: null });
    await api.as('iex').listPrealerts().ok();
    await api.as('two/two').listPrealerts().refused(403, 'two_factor_required');
  });
});

describe('role that requires two-factor authentication', () => {
  test.each([
    ['manager', null],
    ['courier', DEMO.couriers.IEX],
  ])('%s: every token is limited to enrolment at once and works fully after it', async (role, courierId) => {
    const user = await makeUser(role, courierId);
    const token = await tokenOf(user);
    expect(await listWith(token)).toBe('200 success');
    await set({ require_two_factor: [role] }).ok();
    // This applies to tokens that were issued before, too.
    expect(await listWith(token)).toBe('403 two_factor_required');
    const again = await logIn(user).ok();
    expect(again.data.user).toMatchObject({ must_set_up_two_factor: true });
    const status = await api.withToken(token).getTwoFactor().ok();
    expect(status.data).toMatchObject({ enabled: false, required: true });
    const enrolled = await enrol(token);
    expect(await listWith(enrolled.token)).toBe('200 success');
    expect(await listWith(token)).toBe('401 token_invalid');
    const preauth = (await logIn(user).ok()).data.preauth_token;
    const body = { action: 'verify_2fa', preauth_token: preauth, code: enrolled.codes[0] };
    const signedIn = await api.anonymous.login(unchecked(body)).ok();
    expect(signedIn.data.user).toMatchObject({ must_set_up_two_factor: false });
    expect(await listWith(signedIn.data.access_token)).toBe('200 success');
  });

  test('rejects every other operation before it validates the request', async () => {
    const token = await tokenOf(await makeUser('admin'));
    await set({ require_two_factor: ['admin'] }).ok();
    const before = await fingerprint(service().owner);
    const open = ['changePassword', 'getTwoFactor', 'manageTwoFactor', 'manageSessions'];
    const ids = operationIds.filter((id) => operationOf(id).credential === 'token' && !open.includes(id));
    expect(ids.length).toBeGreaterThan(30);
    for (const id of ids) {
      const { status, code } = await malformedCall(api.withToken(token), id).answer();
      expect([id, status, code]).toEqual([id, 403, 'two_factor_required']);
    }
    for (const body of [{ action: 'end_all' }, { action: 'end', session_id: newId() }])
      await api.withToken(token).manageSessions(unchecked(body)).refused(403, 'two_factor_required');
    expect(await fingerprint(service().owner)).toEqual(before);
    await api.withToken(token).changePassword(unchecked({})).refused(400, 'validation_failed');
    await api.withToken(token).manageSessions({ action: 'logout' }).ok();
  });

  test('cannot disable it, and must enrol again after a reset by an administrator', async () => {
    const user = await makeUser('warehouse');
    const { token, codes } = await enrol(await tokenOf(user));
    await set({ require_two_factor: ['warehouse'] }).ok();
    expect(await listWith(token)).toBe('200 success');
    const body = { action: 'disable', password: DEMO.password, code: codes[0] };
    await factor(token, body).refused(403, 'two_factor_required');
    // The backup code was not consumed.
    expect((await api.withToken(token).getTwoFactor().ok()).data).toMatchObject({
      enabled: true,
      backup_codes_left: 10,
    });
    const reset = { action: 'reset_two_factor', user_id: user.id };
    await api.as('admin').manageUsers(unchecked(reset)).ok();
    expect(await listWith(await tokenOf(user))).toBe('403 two_factor_required');
    // After the requirement is removed, the token works again.
    const waiting = await tokenOf(user);
    await set({ require_two_factor: [] }).ok();
    expect(await listWith(waiting)).toBe('200 success');
  });

  test('must change a one-time password before the enrolment', async () => {
    const user = await makeUser('warehouse');
    await service().owner.query('update users set must_change_password = true where id = $1', [user.id]);
    await set({ require_two_factor: ['warehouse'] }).ok();
    const token = await tokenOf(user);
    expect(await listWith(token)).toBe('403 password_change_required');
    await api.withToken(token).getTwoFactor().refused(403, 'password_change_required');
    const body = { current_password: DEMO.password, new_password: 'seven parcels on a wet quay' };
    const changed = await api.withToken(token).changePassword(body).ok();
    expect(changed.data.user).toMatchObject({ must_set_up_two_factor: true });
    expect(await listWith(changed.data.access_token)).toBe('403 two_factor_required');
  });

  test('does not apply to API keys', async () => {
    await set({ require_two_factor: ['admin', 'courier', 'manager', 'warehouse'] }).ok();
    const body = { UserCode: 'IEX-1001', TrackingNumber: `KEY-${randomBytes(4).toString('hex')}` };
    await api.withKey(DEMO.apiKeys.IEX).submitPrealert(body).created();
  });
});

describe('idle timeout', () => {
  const age = (userId: string, seconds: number) =>
    service().owner.query(
      'update sessions set last_seen_at = now() - make_interval(secs => $2) where user_id = $1',
      [userId, seconds],
    );

  test('ends a session that was unused for that long by the database clock, but not one in use', async () => {
    const [user, busy] = [await makeUser(), await makeUser()];
    const [token, used] = [await tokenOf(user), await tokenOf(busy)];
    await age(user.id, 3_000);
    expect(await listWith(token)).toBe('200 success');
    await age(user.id, 310);
    await age(busy.id, 290);
    await set({ idle_timeout_minutes: 5 }).ok();
    // 15 s longer, for uses that servers have not written yet.
    expect(await listWith(token)).toBe('200 success');
    await age(user.id, 316);
    expect([await listWith(token), await listWith(used)]).toEqual(['401 session_ended', '200 success']);
    const query = { user_id: user.id, is_active: false };
    const ended = await api.as('admin').listSessions(query).ok();
    expect(ended.data).toMatchObject([{ end_reason: 'idle', is_active: false }]);
    // The last use is written, so the session stays open.
    await service().app.lastSeen.flush();
    const { rows } = await service().owner.query(
      'select extract(epoch from now() - last_seen_at)::int as age from sessions where user_id = $1',
      [busy.id],
    );
    expect(rows[0].age).toBeLessThan(30);
  });

  test('a session that it ended stays ended after the timeout is disabled', async () => {
    const user = await makeUser();
    const token = await tokenOf(user);
    await set({ idle_timeout_minutes: 5 }).ok();
    await age(user.id, 400);
    await requeue({ db: service().db });
    await set({ idle_timeout_minutes: null }).ok();
    expect(await listWith(token)).toBe('401 session_ended');
  });

  test('a token without a session is rejected while there is a timeout', async () => {
    const user = await makeUser();
    const claims = {
      tenantId: DEMO.tenants.demo,
      userId: user.id,
      role: 'manager' as const,
      courierId: null,
    };
    const bare = service().app.tokens.issue({ ...claims, tokenVersion: 1 }, Math.floor(Date.now() / 1000));
    expect(await listWith(bare)).toBe('200 success');
    await set({ idle_timeout_minutes: 480 }).ok();
    expect(await listWith(bare)).toBe('401 session_ended');
  });
});
