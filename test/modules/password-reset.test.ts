import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import bcrypt from 'bcrypt';
import { DEMO } from '../../fixtures/demo/seed.js';
import { newId } from '../../src/platform/values/ids.js';
import { rounds } from '../support/harness/effort.js';
import { openOutbox, type Outbox, type SentMail } from '../support/builders/outbox.js';
import { until } from '../support/service/processes.js';
import { startService, type Reply } from '../support/service/service.js';
import { withService } from '../support/fixture/with-service.js';
import { unchecked } from '../support/fixture/sent.js';

let outbox: Outbox;
let cheapHash: string;

beforeAll(async () => {
  cheapHash = await bcrypt.hash(DEMO.password, 4);
  outbox = await openOutbox();
}, 60_000);
const { api, service } = withService(() => ({
  worker: true,
  env: {
    TRUST_PROXY: '127.0.0.1',
    MAIL_OUTBOX: outbox.folder,
    PASSWORD_RESET_URL: 'https://{tenant}.portal.example/reset#token={token}',
  },
}));
afterAll(async () => {
  await outbox.remove();
});

const NEW = 'seven parcels on a wet quay';

type Fields = Record<string, unknown>;
type User = { id: string; username: string; email: string };

async function makeUser(fields: Fields = {}): Promise<User> {
  const username = `p-${randomBytes(4).toString('hex')}`;
  const row: Fields = {
    id: newId(),
    tenant_id: DEMO.tenants.demo,
    username,
    full_name: 'Forgetful User',
    email: `${username}@example.com`,
    role: 'manager',
    password_hash: cheapHash,
    ...fields,
  };
  const columns = Object.keys(row);
  await service().owner.query(
    `insert into users (${columns.join(', ')}) values (${columns.map((_, n) => `$${n + 1}`).join(', ')})`,
    Object.values(row),
  );
  return { id: String(row['id']), username, email: String(row['email']) };
}

const randomAddress = () => `10.${[...randomBytes(3)].join('.')}`;
const send = (body: Fields, address = randomAddress()) =>
  api.anonymous.resetPassword(unchecked(body), { headers: { 'x-forwarded-for': address } });
const request = (username: string, address?: string) => send({ action: 'request', username }, address);
const reset = (token: string, password = NEW, address?: string) =>
  send({ action: 'reset', token, new_password: password }, address);
const logIn = (username: string, password: string) =>
  api.anonymous.login(
    { action: 'login', username, password },
    { headers: { 'x-forwarded-for': randomAddress() } },
  );
const coded = ({ status, body }: Reply) => `${status} ${body['code'] ?? body['status']}`;
const tokenIn = ({ text }: SentMail) => /token=([\w-]{43})\s/.exec(text)?.[1] ?? '';

/** Returns the tokens that were mailed to a user, oldest first. */
async function tokensOf({ email }: User, count = 1): Promise<string[]> {
  return (await outbox.untilSent(email, count)).map(tokenIn);
}

async function requestToken(user: User): Promise<string> {
  await request(user.username).ok();
  return (await tokensOf(user))[0] ?? '';
}

async function isIdle(): Promise<boolean> {
  const { rows } = await service().owner.query(
    "select 1 from graphile_worker.jobs where task_identifier in ('preparePasswordReset', 'sendAccountMail')",
  );
  return rows.length === 0;
}

const idle = () => until(isIdle);

describe('request', () => {
  test('mails a link with a token that is stored as a hash and expires after 30 minutes by the database clock', async () => {
    const user = await makeUser({ full_name: '<b>Bo</b>\r\nBcc: thief@evil.example' });
    const token = await requestToken(user);
    expect(Buffer.from(token, 'base64url')).toHaveLength(32);
    const [mail] = await outbox.to(user.email);
    expect(mail?.text).toContain(`https://demo.portal.example/reset#token=${token}`);
    expect(mail?.text).toContain('<b>Bo</b> Bcc: thief@evil.example,');
    expect(mail?.html).not.toContain('<b>Bo</b>');
    expect(mail?.to).toContain(user.email);
    await idle();
    const { rows } = await service().owner.query(
      `select r.token_hash, extract(epoch from r.expires_at - now())::int as left_s, m.status, m.secret_cipher
       from password_resets r join account_mails m on m.user_id = r.user_id where r.user_id = $1`,
      [user.id],
    );
    expect(rows).toMatchObject([
      {
        token_hash: service().app.secrets.lookupHash(token, 'password_reset'),
        status: 'sent',
        secret_cipher: null,
      },
    ]);
    expect(rows[0].left_s).toBeGreaterThan(1_700);
    expect(rows[0].left_s).toBeLessThanOrEqual(1_800);
    // No table stores the token in clear text.
    for (const table of [
      'password_resets',
      'account_mails',
      'graphile_worker._private_jobs',
      'audit_entries',
    ]) {
      const { rows: all } = await service().owner.query(`select * from ${table}`);
      expect(JSON.stringify(all)).not.toContain(token);
    }
  });

  test('responds identically to known, unknown, disabled and locked users and those without an address', async () => {
    const locked = await makeUser();
    await service().owner.query(
      `insert into login_throttles (tenant_id, kind, subject, failures, locked_until)
       values ($1, 'password', $2, 5, now() + interval '15 minutes')`,
      [DEMO.tenants.demo, locked.username],
    );
    const users = [
      await makeUser(),
      await makeUser({ is_active: false }),
      await makeUser({ email: null }),
      await makeUser({ two_factor_enabled: true, totp_secret: 'x' }),
      locked,
    ];
    const names = [...users.map(({ username }) => username), 'nobody-at-all', 'two', 'ßcharfes', ' x '];
    const replies: Reply[] = [];
    // One after the other, because a request without a connection within 2 s would get 503.
    for (const name of names) replies.push(await request(name).answer());
    const bytes = replies.map(({ status, body }) => JSON.stringify([status, { ...body, timestamp: 0 }]));
    expect(new Set(bytes).size).toBe(1);
    expect(replies[0]?.status).toBe(200);
    await idle();
    const mailed = await Promise.all(users.map(async ({ email }) => (await outbox.to(email)).length));
    expect(mailed).toEqual([1, 0, 0, 1, 1]);
    // Requests that match no mailable user are not stored.
    const { rows } = await service().owner.query('select 1 from password_resets where username = any($1)', [
      ['nobody-at-all', 'two', users[1]?.username, users[2]?.username],
    ]);
    expect(rows).toEqual([]);
  });

  test('writes the same rows for known and unknown names before the response, so timing reveals nothing', async () => {
    const writesOf = async (name: string) => {
      const count = async () => {
        const { rows } = await service().owner.query(
          `select (select count(*)::int from password_resets where username = $1) as requests,
             (select count(*)::int from login_throttles where kind = 'password_reset' and subject = $1) as throttles`,
          [name],
        );
        return rows[0];
      };
      // Neither the request nor the worker can read users now.
      await service().owner.query('revoke select on users from crossdock_app');
      try {
        const reply = await request(name).answer();
        return [reply.status, await count()];
      } finally {
        await service().owner.query('grant select on users to crossdock_app');
      }
    };
    const { username } = await makeUser();
    const [known, unknown] = [await writesOf(username), await writesOf('who-is-this')];
    // The response did not need the table of users.
    expect(known).toEqual([200, { requests: 1, throttles: 1 }]);
    expect(unknown).toEqual(known);
    await until(async () => {
      // The worker would repeat a job that failed meanwhile only after some seconds.
      await service().owner.query(
        'update graphile_worker._private_jobs set run_at = now() where locked_at is null',
      );
      return isIdle();
    });
  });

  test('a newer request replaces the token of an older one', async () => {
    const user = await makeUser();
    await requestToken(user);
    await request(user.username).ok();
    const [older = '', newer = ''] = await tokensOf(user, 2);
    await reset(older).refused(400, 'reset_token_invalid');
    await reset(newer).ok();
  });

  test('of 30 simultaneous requests for one name, five are accepted and one mailed token works', async () => {
    const user = await makeUser();
    for (const name of [user.username, 'nobody-in-a-hurry']) {
      const replies = await Promise.all(Array.from({ length: 30 }, () => request(name).answer()));
      const codes = replies.map(coded).sort();
      expect(codes).toEqual([...Array(5).fill('200 success'), ...Array(25).fill('429 too_many_attempts')]);
      for (const reply of replies.filter(({ status }) => status === 429))
        expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(800);
    }
    await idle();
    const tokens = await tokensOf(user);
    const live = [];
    for (const token of tokens) live.push(coded(await reset(token).answer()));
    expect(live.filter((code) => code === '200 success')).toHaveLength(1);
  });

  test('an address may send 20 requests in 15 minutes, for any names', async () => {
    const address = '203.0.113.99';
    const codes = [];
    for (let n = 0; n < 21; n += 1) codes.push(coded(await request(`spray-${n}`, address).answer()));
    expect(codes).toEqual([...Array(20).fill('200 success'), '429 too_many_attempts']);
    await request('spray-21').ok();
  });
});

describe('reset', () => {
  test('changes the password, ends sessions, tokens and the lock, keeps the second factor and notifies the user', async () => {
    const user = await makeUser({ must_change_password: true });
    const before = (await logIn(user.username, DEMO.password).ok()).data.access_token;
    const token = await requestToken(user);
    await service().owner.query(
      `insert into login_throttles (tenant_id, kind, subject, failures, locked_until)
       values ($1, 'password', $2, 5, now() + interval '15 minutes')`,
      [DEMO.tenants.demo, user.username],
    );
    await service().owner.query(
      `insert into preauth_tokens (tenant_id, token_hash, user_id, expires_at) values ($1, $2::uuid::text, $2, now() + interval '5 min')`,
      [DEMO.tenants.demo, user.id],
    );
    const reply = await reset(token).ok();
    expect(JSON.stringify(reply.body)).not.toContain('access_token');
    await api.withToken(before).changePassword(unchecked({})).refused(401, 'token_invalid');
    await logIn(user.username, DEMO.password).refused(401, 'credentials_invalid');
    const again = await logIn(user.username, NEW).ok();
    expect(again.data.user).toMatchObject({ id: user.id, must_change_password: false });
    const { rows } = await service().owner.query('select 1 from preauth_tokens where user_id = $1', [
      user.id,
    ]);
    expect(rows).toEqual([]);
    const { rows: facts } = await service().owner.query(
      `select actor_kind, after from audit_entries where entity_id = $1 and action = 'user.password_reset'`,
      [user.id],
    );
    expect(facts).toEqual([{ actor_kind: 'system', after: { must_change_password: false, by: 'email' } }]);
    const mails = await outbox.untilSent(user.email, 2);
    expect(mails.map(({ subject }) => subject)).toContainEqual(
      expect.stringMatching(/^Your password was reset/),
    );
  });

  test('with two-factor authentication, login with the new password still requires a code', async () => {
    const user = await makeUser({ two_factor_enabled: true, totp_secret: 'x' });
    await reset(await requestToken(user)).ok();
    expect(coded(await logIn(user.username, NEW).answer())).toBe('200 2fa_required');
  });

  test('rejects wrong, used, expired and outdated tokens with identical responses', async () => {
    const change = (user: User, what: string) =>
      service().owner.query(`update users set ${what} where id = $1`, [user.id]);
    const tokenAfter = async (invalidate: (user: User) => Promise<unknown>) => {
      const user = await makeUser();
      const token = await requestToken(user);
      await invalidate(user);
      return token;
    };
    const tokens = {
      wrong: randomBytes(32).toString('base64url'),
      empty: ' ',
      used: await tokenAfter(async (user) =>
        reset((await tokensOf(user))[0] ?? '', 'another parcel on a wet quay').answer(),
      ),
      expired: await tokenAfter(({ id }) =>
        service().owner.query(
          "update password_resets set expires_at = now() - interval '1 second' where user_id = $1",
          [id],
        ),
      ),
      disabled: await tokenAfter((user) => change(user, 'is_active = false')),
      'password changed': await tokenAfter((user) => change(user, 'token_version = token_version + 1')),
      'address changed': await tokenAfter((user) => change(user, "email = 'other@example.com'")),
    };
    const replies = await Promise.all(Object.values(tokens).map((token) => reset(token).answer()));
    const bytes = replies.map(({ status, body }) =>
      JSON.stringify([status, { ...body, request_id: '', timestamp: 0 }]),
    );
    expect(new Set(bytes).size).toBe(1);
    expect(new Set(replies.map(coded))).toEqual(new Set(['400 reset_token_invalid']));
    // The token is also unknown on another tenant's host.
    const user = await makeUser();
    const token = await requestToken(user);
    const body = { action: 'reset', token, new_password: NEW };
    await api
      .with({ host: DEMO.hosts.two })
      .resetPassword(unchecked(body))
      .refused(400, 'reset_token_invalid');
    await reset(token).ok();
  });

  test.each([
    ['eleven char', 'minLength'],
    ['password1234', 'common'],
    ['crossdock-demo', 'common'],
    ['parcelparcel', 'repeated'],
    ['é'.repeat(40), 'bytes'],
  ])('rejects the password %j and keeps the token valid', async (password, code) => {
    const user = await makeUser();
    const token = await requestToken(user);
    const refused = await reset(token, password).refused(400, 'validation_failed');
    expect(refused.errors).toMatchObject([{ field: 'new_password', code }]);
    await reset(token).ok();
  });

  test("rejects the user's own name as a password", async () => {
    const user = await makeUser({ full_name: 'Forgetful Parcel Man' });
    const refused = await reset(await requestToken(user), 'forgetful parcel man').answer();
    expect(refused.errors).toMatchObject([{ field: 'new_password', code: 'personal' }]);
  });

  const CALLERS = rounds(40, 100);

  test(`of ${CALLERS} callers with one token, one sets the password`, async () => {
    const user = await makeUser();
    const token = await requestToken(user);
    const replies = await Promise.all(
      Array.from({ length: CALLERS }, (_, n) => reset(token, `${NEW} number ${n}`).answer()),
    );
    const won = replies.findIndex(({ status }) => status === 200);
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    // The queue before the hash is short, so that some callers get 503.
    expect(replies.filter(({ status }) => ![200, 400, 503].includes(status))).toEqual([]);
    await logIn(user.username, `${NEW} number ${won}`).ok();
  });

  test('blocks an address after fifty wrong tokens', async () => {
    const address = '203.0.113.50';
    const codes = [];
    for (let n = 0; n < 51; n += 1) codes.push(coded(await reset(`wrong-${n}`, NEW, address).answer()));
    expect(codes.slice(0, 50)).toEqual(Array(50).fill('400 reset_token_invalid'));
    expect(codes[50]).toBe('429 too_many_attempts');
  });
});

test('the mail contains the token itself if PASSWORD_RESET_URL is not set', async () => {
  const plain = await openOutbox();
  const other = await startService({ worker: true, env: { MAIL_OUTBOX: plain.folder } });
  try {
    const body = { action: 'request', username: 'WAREHOUSE' };
    expect((await other.call('resetPassword', { body })).status).toBe(200);
    const [mail] = await plain.untilSent('warehouse@example.com', 1);
    const token = /^Code +([\w-]{43})$/m.exec(mail?.text.replaceAll('\r', '') ?? '')?.[1] ?? '';
    const reply = await other.call('resetPassword', { body: { action: 'reset', token, new_password: NEW } });
    expect(reply.status).toBe(200);
  } finally {
    await other.stop();
    await plain.remove();
  }
});
