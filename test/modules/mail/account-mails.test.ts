import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { until } from '../../support/service/processes.js';
import { type Reply } from '../../support/service/service.js';
import { matching } from '../../support/assertions/matching.js';
import { unchecked } from '../../support/fixture/sent.js';
import { makeAuthenticator } from '../../support/sign-in/authenticator.js';
import { withOutbox } from '../../support/fixture/with-outbox.js';
import { insertMailedUser, type MailedUser } from '../../support/builders/users.js';

type Fields = Record<string, unknown>;

const { api, service, outbox } = withOutbox({ TRUST_PROXY: '127.0.0.1' });
const makeUser = (fields: Fields = {}) =>
  insertMailedUser(service().owner, 'm', { full_name: 'Mailed User', ...fields });
const coded = ({ status, body }: Reply) => `${status} ${body['code'] ?? body['status']}`;
const manage = (body: Fields) => api.as('admin').manageUsers(unchecked(body));
const logInFrom = (
  { username }: MailedUser,
  address: string,
  agent = 'Desk/1.0',
  password: string = DEMO.password,
) =>
  api.anonymous.login(
    { action: 'login', username, password },
    { headers: { 'x-forwarded-for': address, 'user-agent': agent } },
  );
const subjectsTo = async (email: string) => (await outbox.to(email)).map(({ subject }) => subject);

async function kindsOf({ id }: MailedUser): Promise<string[]> {
  const { rows } = await service().owner.query<{ kind: string }>(
    'select kind from account_mails where user_id = $1 order by created_at, id',
    [id],
  );
  return rows.map(({ kind }) => kind);
}

const settled = () =>
  until(async () => {
    const { rows } = await service().owner.query("select 1 from account_mails where status = 'queued'");
    return rows.length === 0;
  });

describe('login from a new network', () => {
  test('is mailed once, but not the first login, a known network or another address of the same /64', async () => {
    const user = await makeUser();
    for (const address of ['198.51.100.1', '198.51.100.1']) await logInFrom(user, address).ok();
    expect(await kindsOf(user)).toEqual([]);
    for (const address of ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', '198.51.100.1'])
      await logInFrom(user, address, 'Phone <b>2</b>\tX').ok();
    expect(await kindsOf(user)).toEqual(['new_network']);
    const [mail] = await outbox.untilSent(user.email, 1);
    expect(mail?.subject).toMatch(/^New login to your account/);
    expect(mail?.text).toContain('2001:db8:1:2::1');
    expect(mail?.text).toContain('Phone <b>2</b> X');
    expect(mail?.html).not.toContain('<b>2</b>');
    expect(mail?.html).not.toMatch(
      matching(/<a |href|https?:/, '<a id="x">', 'href', 'http://a.example', 'https://a.example'),
    );
  });

  test('is not mailed or recorded for a wrong password or without the second factor', async () => {
    const user = await makeUser({ two_factor_enabled: true, totp_secret: 'x' });
    await service().owner.query(
      "insert into known_networks (tenant_id, user_id, network) values ($1, $2, '198.51.100.1')",
      [DEMO.tenants.demo, user.id],
    );
    expect(await logInFrom(user, '203.0.113.1', 'x', 'not-the-password').status()).toBe(401);
    expect(coded(await logInFrom(user, '203.0.113.1').answer())).toBe('200 2fa_required');
    expect(await kindsOf(user)).toEqual([]);
    const { rows } = await service().owner.query('select network from known_networks where user_id = $1', [
      user.id,
    ]);
    expect(rows).toEqual([{ network: '198.51.100.1' }]);
  });

  test('of 12 simultaneous logins from a new network, one is mailed', async () => {
    const user = await makeUser();
    await logInFrom(user, '198.51.100.1').ok();
    const replies = await Promise.all(
      Array.from({ length: 12 }, () => logInFrom(user, '203.0.113.77').answer()),
    );
    expect(replies.filter(({ status }) => status === 200).length).toBeGreaterThan(1);
    expect(await kindsOf(user)).toEqual(['new_network']);
  });

  test('succeeds without mail for a user without an email address', async () => {
    const user = await makeUser({ email: null });
    for (const address of ['198.51.100.1', '203.0.113.1']) await logInFrom(user, address).ok();
    expect(await kindsOf(user)).toEqual([]);
  });
});

describe('account changes', () => {
  const { codeOf } = makeAuthenticator(service);

  test('mails the user once about each change of password, second factor and backup codes', async () => {
    const user = await makeUser();
    let token: string = (await logInFrom(user, '198.51.100.1').ok()).data.access_token;
    const headers = { 'x-forwarded-for': '198.51.100.1' };
    const factor = (body: Fields) => api.withToken(token).manageTwoFactor(unchecked(body), { headers });
    const { secret } = (await factor({ action: 'setup', password: DEMO.password }).ok()).data;
    const enabled = await factor({ action: 'enable', code: await codeOf(secret, -1) }).ok();
    token = enabled.data.access_token;
    const again = {
      action: 'regenerate_backup_codes',
      password: DEMO.password,
      code: await codeOf(secret, 0),
    };
    const codes = (await factor(again).ok()).data.backup_codes;
    // A wrong code changes nothing.
    expect(await factor({ action: 'disable', password: DEMO.password, code: 'AAAA-AAAA' }).status()).toBe(
      400,
    );
    const off = await factor({ action: 'disable', password: DEMO.password, code: codes[0] }).ok();
    token = off.data.access_token;
    const body = { current_password: DEMO.password, new_password: 'seven parcels on a wet quay' };
    await api.withToken(token).changePassword(body, { headers }).ok();
    expect(await kindsOf(user)).toEqual([
      'two_factor_enabled',
      'backup_codes_regenerated',
      'two_factor_disabled',
      'password_changed',
    ]);
    const mails = await outbox.untilSent(user.email, 4);
    for (const { text } of mails) {
      expect(text).toContain('198.51.100.1');
      for (const each of [secret, ...codes, 'seven parcels', DEMO.password]) expect(text).not.toContain(each);
    }
  });

  test('mails the user about resets by an administrator', async () => {
    const user = await makeUser({ two_factor_enabled: true, totp_secret: 'x' });
    const reset = await manage({ action: 'reset_password', user_id: user.id }).ok();
    await manage({ action: 'reset_two_factor', user_id: user.id }).ok();
    // Two-factor authentication is already disabled.
    await manage({ action: 'reset_two_factor', user_id: user.id }).ok();
    expect(await kindsOf(user)).toEqual(['password_reset_by_admin', 'two_factor_reset_by_admin']);
    for (const { text } of await outbox.untilSent(user.email, 2))
      expect(text).not.toContain(reset.data.one_time_password);
  });

  test('mails both the old and the new address about a change of the email address', async () => {
    const user = await makeUser();
    const address = `new.${user.email}`;
    const changed = await manage({ action: 'update', user_id: user.id, email: address }).ok();
    expect(changed.data).toMatchObject({ email: address, full_name: 'Mailed User' });
    await outbox.untilSent(address, 1);
    await settled();
    for (const email of [user.email, address])
      expect(await subjectsTo(email)).toContainEqual(
        expect.stringMatching(/^The e-mail address of your account/),
      );
    // The mail to the old address does not contain the new one.
    const { rows } = await service().owner.query(
      'select recipient from account_mails where user_id = $1 order by recipient',
      [user.id],
    );
    expect(rows.map(({ recipient }) => recipient).sort()).toEqual([address, user.email].sort());
    // After the removal only the old address is left to notify.
    await manage({ action: 'update', user_id: user.id, email: null }).ok();
    expect(await kindsOf(user)).toHaveLength(3);
    // An unchanged address sends no mail.
    await manage({ action: 'update', user_id: user.id, email: null }).ok();
    await manage({ action: 'update', user_id: user.id, full_name: 'Another Name' }).ok();
    expect(await kindsOf(user)).toHaveLength(3);
    const { rows: audit } = await service().owner.query(
      'select before, after from audit_entries where entity_id = $1 order by at, id',
      [user.id],
    );
    expect(audit).toEqual([
      { before: { email: user.email }, after: { email: address } },
      { before: { email: address }, after: { email: null } },
      { before: { full_name: 'Mailed User' }, after: { full_name: 'Another Name' } },
    ]);
  });

  test('sends no mail for a rejected change and skips unusable addresses', async () => {
    const user = await makeUser();
    const before = await kindsOf(user);
    await manage({ action: 'update', user_id: user.id, email: 'not an address' }).refused(
      400,
      'validation_failed',
    );
    expect(await kindsOf(user)).toEqual(before);
    const unmailable = await makeUser({ email: 'of-old@localhost' });
    await manage({ action: 'reset_password', user_id: unmailable.id }).ok();
    await settled();
    const { rows } = await service().owner.query(
      'select status, last_error from account_mails where user_id = $1',
      [unmailable.id],
    );
    expect(rows).toEqual([
      { status: 'skipped', last_error: expect.stringContaining('no usable e-mail address') },
    ]);
  });
});

describe('email address of a user', () => {
  test('is set at creation, listed for administrators and validated', async () => {
    const username = `e-${randomBytes(4).toString('hex')}`;
    const body = { action: 'create', username, full_name: 'E', role: 'warehouse', email: 'e@example.com' };
    await manage(body).ok();
    const list = await api.as('admin').listUsers({ search: username }).ok();
    expect(list.data).toMatchObject([{ username, email: 'e@example.com' }]);
    for (const email of [
      '',
      'x',
      'a@b',
      'a b@example.com',
      'a@example.com\r\nBcc: b@example.com',
      'a@example.com,b@example.com',
    ]) {
      const reply = await manage({ ...body, username: `${username}x`, email }).answer();
      expect([email, coded(reply)]).toEqual([email, '400 validation_failed']);
    }
    await manage({ action: 'update', user_id: DEMO.users.hrb }).refused(400, 'validation_failed');
  });

  test("of a courier's first user is set together with the courier", async () => {
    const username = `c-${randomBytes(4).toString('hex')}`;
    const courier = { action: 'create', courier_code: 'EML', courier_name: 'E', house_color: '#2B5FA8' };
    const login = { username, full_name: 'First', email: 'first@example.com' };
    const create = (email: string) =>
      api.as('admin').manageCouriers(unchecked({ ...courier, login: { ...login, email } }));
    const refused = await create('first@').answer();
    expect(refused.errors).toMatchObject([{ field: 'login.email' }]);
    await create(login.email).ok();
    const list = await api.as('admin').listUsers({ search: username }).ok();
    expect(list.data).toMatchObject([{ email: 'first@example.com' }]);
  });
});
