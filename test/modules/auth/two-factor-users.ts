import { DEMO } from '../../../fixtures/demo/seed.js';
import { newId } from '../../../src/platform/values/ids.js';
import { unchecked } from '../../support/fixture/sent.js';
import type { Fixture } from '../../support/fixture/with-service.js';
import { type Reply } from '../../support/service/service.js';
import { makeAuthenticator } from '../../support/sign-in/authenticator.js';
import { cheapHash } from '../../support/builders/users.js';

export type User = { id: string; username: string; token: string; address: string };

export type UserWithTwoFactor = User & { secret: string; codes: string[] };

type Fields = Record<string, unknown>;

export const coded = ({ status: http, body }: Reply) => `${http} ${body['code'] ?? body['status']}`;

/** Users that set up two-factor authentication and log in with it, each from an own address. */
export function makeTwoFactorUsers({ api, service }: Fixture) {
  const { codeOf, wrongCode } = makeAuthenticator(service);
  let serial = 0;

  async function makeUser(role = 'warehouse', courierId: string | null = null): Promise<User> {
    const [id, username] = [newId(), `guard${(serial += 1)}`];
    await service().owner.query(
      `insert into users (tenant_id, id, username, full_name, role, courier_id, password_hash)
       values ($1, $2, $3, 'Guarded User', $4, $5, $6)`,
      [DEMO.tenants.demo, id, username, role, courierId, await cheapHash],
    );
    return { id, username, token: await service().tokenOf(username), address: `10.2.2.${serial}` };
  }

  const manage = ({ token, address }: User, body: Fields) =>
    api.withToken(token).manageTwoFactor(unchecked(body), { headers: { 'x-forwarded-for': address } });
  const setUp = (user: User, password: string = DEMO.password) => manage(user, { action: 'setup', password });
  const enable = (user: User, code: string) => manage(user, { action: 'enable', code });
  const status = async ({ token }: User) => (await api.withToken(token).getTwoFactor().ok()).data;

  const signIn = ({ address }: User, body: Fields) =>
    api.anonymous.login(unchecked(body), { headers: { 'x-forwarded-for': address } });
  const logIn = (user: User) =>
    signIn(user, { action: 'login', username: user.username, password: DEMO.password });

  /** Logs in with both steps. */
  async function logInWith(user: User, code: string): Promise<Reply> {
    const { data } = await logIn(user).answer();
    return signIn(user, { action: 'verify_2fa', preauth_token: data.preauth_token, code }).answer();
  }

  async function auditOf(id: string): Promise<Fields[]> {
    const { rows } = await service().owner.query<Fields>(
      'select action, actor_id, before, after from audit_entries where entity_id = $1 order by at, id',
      [id],
    );
    return rows;
  }

  /** Creates a user with two-factor authentication enabled and a new token. */
  async function makeUserWithTwoFactor(role?: string, courierId?: string): Promise<UserWithTwoFactor> {
    const user = await makeUser(role, courierId);
    const { secret } = (await setUp(user).ok()).data;
    const { access_token: token, backup_codes: codes } = (await enable(user, await codeOf(secret, -1)).ok())
      .data;
    return { ...user, token, secret, codes };
  }

  return {
    makeUser,
    makeUserWithTwoFactor,
    manage,
    setUp,
    enable,
    status,
    logIn,
    logInWith,
    auditOf,
    codeOf,
    wrongCode,
  };
}
