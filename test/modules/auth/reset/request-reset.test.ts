import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { openOutbox } from '../../../support/builders/outbox.js';
import { until } from '../../../support/service/processes.js';
import { startService, type Reply } from '../../../support/service/service.js';
import { makeApi } from '../../../support/fixture/api.js';
import { unchecked } from '../../../support/fixture/sent.js';
import { coded, NEW, withPasswordResets } from './password-resets.js';

const { service, outbox, makeUser, request, reset, tokensOf, requestToken } = withPasswordResets();

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
    // Whoever created the user wrote the name, so no mail repeats it.
    for (const part of ['Bo</b>', 'Bo&lt;', 'evil.example']) {
      expect(mail?.text).not.toContain(part);
      expect(mail?.html).not.toContain(part);
    }
    expect(mail?.html).toContain('Hello,');
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

test('the mail contains the token itself if PASSWORD_RESET_URL is not set', async () => {
  const plain = await openOutbox();
  const other = await startService({ worker: true, env: { MAIL_OUTBOX: plain.folder } });
  try {
    const body = { action: 'request', username: 'WAREHOUSE' };
    const { anonymous } = makeApi(() => other);
    await anonymous.resetPassword(unchecked(body)).ok();
    const [mail] = await plain.untilSent('warehouse@example.com', 1);
    const token = /^Code +([\w-]{43})$/m.exec(mail?.text.replaceAll('\r', '') ?? '')?.[1] ?? '';
    const { message } = await anonymous
      .resetPassword(unchecked({ action: 'reset', token, new_password: NEW }))
      .ok();
    expect(message).toEqual(expect.any(String));
  } finally {
    await other.stop();
    await plain.remove();
  }
});
