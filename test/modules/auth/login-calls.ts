import { randomBytes } from 'node:crypto';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { newId } from '../../../src/platform/values/ids.js';
import { type Reply } from '../../support/service/service.js';
import { unchecked } from '../../support/fixture/sent.js';
import { withService, type Fixture } from '../../support/fixture/with-service.js';
import { BASE_32, codeOfStep, makeAuthenticator } from '../../support/sign-in/authenticator.js';
import { cheapHash } from '../../support/builders/users.js';
import { randomAddress } from '../../support/sign-in/random-address.js';

/** Hashes of this cost take longer than everything else in a login, so that their time can be measured. */
export const HASH_COST = 10;

export const WRONG = 'not-the-password';

type Options = { host?: string; address?: string };

export const coded = ({ status, body }: Reply) => `${status} ${body['code'] ?? body['status']}`;

export const codesOf = (replies: Reply[]) => replies.map(coded);

export const uniqueName = (stem: string) => `${stem}-${randomBytes(4).toString('hex')}`;

type User = { id: string; username: string };

/** A service with a trusted proxy, so that each test has its own address, and the calls below. */
export function withLogins() {
  const fixture = withService({ env: { TRUST_PROXY: '127.0.0.1', PASSWORD_HASH_COST: String(HASH_COST) } });
  return { ...fixture, ...makeLogins(fixture) };
}

/** Calls and planted users for tests of the login. */
function makeLogins({ api, service }: Fixture) {
  const { currentStep, codeOf: codeOfNow, wrongCode } = makeAuthenticator(service);

  function post(body: unknown, { host, address = randomAddress() }: Options = {}) {
    return api
      .with({ ...(host ? { host } : {}) })
      .login(unchecked(body), { headers: { 'x-forwarded-for': address } });
  }

  const logIn = (username: unknown, password: unknown = DEMO.password, options?: Options) =>
    post({ action: 'login', username, password }, options);

  const verify = (preauthToken: unknown, code: unknown, options?: Options) =>
    post({ action: 'verify_2fa', preauth_token: preauthToken, code }, options);

  async function failTimes(times: number, username: string): Promise<Reply[]> {
    const replies: Reply[] = [];
    for (let count = 0; count < times; count += 1) replies.push(await logIn(username, WRONG).answer());
    return replies;
  }

  /** Creates a manager of tenant demo with the demo users' password, so that no test locks another test's user. */
  async function makeUser(stem: string, changes: Record<string, unknown> = {}): Promise<User> {
    const user = { id: newId(), username: uniqueName(stem) };
    await service().owner.query(
      `insert into users (tenant_id, id, username, full_name, role, password_hash)
     values ($1, $2, $3, 'Test User', 'manager', $4)`,
      [DEMO.tenants.demo, user.id, user.username, await cheapHash],
    );
    await changeUser(user, changes);
    return user;
  }

  async function changeUser({ id }: { id: string }, changes: Record<string, unknown>): Promise<void> {
    for (const [column, value] of Object.entries(changes)) {
      await service().owner.query(`update users set ${column} = $2 where id = $1`, [id, value]);
    }
  }

  async function makeUserWithTwoFactor(stem: string, secret: string = DEMO.totpSecret): Promise<User> {
    const user = await makeUser(stem);
    const encryptionContext = { tenantId: DEMO.tenants.demo, rowId: user.id, field: 'totp_secret' } as const;
    const totpSecret = service().app.secrets.encrypt(secret, encryptionContext);
    await service().owner.query(
      'update users set two_factor_enabled = true, totp_secret = $2 where id = $1',
      [user.id, totpSecret],
    );
    return user;
  }

  /** Inserts the token that a correct password would return, without the cost of the hash. */
  async function makePreauthToken(userId: string): Promise<string> {
    const token = randomBytes(32).toString('base64url');
    await service().owner.query(
      `insert into preauth_tokens (tenant_id, token_hash, user_id, expires_at)
     values ($1, $2, $3, now() + interval '5 minutes')`,
      [DEMO.tenants.demo, service().app.secrets.lookupHash(token, 'preauth_token'), userId],
    );
    return token;
  }

  /** Returns a secret whose current code begins with a zero. */
  async function secretWithLeadingZero(): Promise<string> {
    const step = await currentStep();
    for (;;) {
      const secret = [...randomBytes(32)].map((byte) => BASE_32.charAt(byte % 32)).join('');
      if (codeOfStep(step, secret).startsWith('0')) return secret;
    }
  }

  async function throttleOf(kind: string, subject: string) {
    const { rows } = await service().owner.query(
      'select * from login_throttles where kind = $1 and subject = $2',
      [kind, subject],
    );
    return rows[0];
  }

  async function auditOf(userId: string): Promise<string[]> {
    const { rows } = await service().owner.query(
      'select action from audit_entries where entity_id = $1 order by at, id',
      [userId],
    );
    return rows.map(({ action }) => action);
  }

  return {
    post,
    logIn,
    verify,
    failTimes,
    makeUser,
    changeUser,
    makeUserWithTwoFactor,
    makePreauthToken,
    currentStep,
    codeOfNow,
    secretWithLeadingZero,
    wrongCode,
    throttleOf,
    auditOf,
  };
}
