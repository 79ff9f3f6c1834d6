import { beforeEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { preparePasswordReset } from '../../../../src/modules/password-reset/prepare.js';
import { newId } from '../../../../src/platform/values/ids.js';
import { unchecked } from '../../../support/fixture/sent.js';
import { until } from '../../../support/service/processes.js';
import { withPasswordResets } from './password-resets.js';

// Nobody has confirmed the addresses of users, so what sends mails to them has limits.

const { api, db, service, outbox, makeUser, request, reset, tokensOf, requestToken, logIn } =
  withPasswordResets();
const { IEX, HRB } = DEMO.couriers;

beforeEach(() => db.query('delete from account_mails'));

const idle = () =>
  until(async () => {
    const { rows } = await service().owner.query(
      "select 1 from graphile_worker.jobs where task_identifier in ('preparePasswordReset', 'sendAccountMail')",
    );
    return rows.length === 0;
  });

/** Stores mails to this user within the last 24 hours, to other addresses. */
const addMails = (userId: string, kind: string, count: number, hours = 23) =>
  db.query(
    `insert into account_mails (tenant_id, id, user_id, kind, status, recipient, settled_at, created_at)
     select $1, gen_random_uuid(), $2, $3, 'sent', n || '@before.example', now(), now() - make_interval(hours => $5)
     from generate_series(1, $4) n`,
    [DEMO.tenants.demo, userId, kind, count, hours],
  );

const mailsTo = async (email: string) => (await outbox.to(email)).length;

describe('mails with a reset token', () => {
  test('an owner that gives six users the address of a stranger causes 20 mails to it, whatever case it is written in', async () => {
    const names: string[] = [];
    for (const email of [
      'a@quay.example',
      'A@quay.example',
      'a@QUAY.example',
      'a@quay.example',
      'A@Quay.Example',
    ]) {
      const username = `iex.flood${names.length}`;
      const user = { username, full_name: 'F', role: 'courier', courier_role: 'member', email };
      await api
        .as('iex')
        .manageTeam(unchecked({ action: 'create', ...user }))
        .ok();
      names.push(username);
    }
    const staff = await makeUser({ email: 'a@quay.example' });
    names.push(staff.username);
    const replies = await Promise.all(
      Array.from({ length: 5 }, () => names)
        .flat()
        .map((name) => request(name).answer()),
    );
    const bytes = replies.map(({ status, body }) => JSON.stringify([status, { ...body, timestamp: 0 }]));
    expect(new Set(bytes).size).toBe(1);
    expect(replies[0]?.status).toBe(200);
    await idle();
    expect(await db.count('account_mails', { kind: 'password_reset_link' })).toBe(20);
    // The requests that sent none are not stored.
    expect(await db.query('select 1 from password_resets where user_id is null')).toEqual([]);
  });

  test('above the limit of a courier its users get none, but those of others do, and an older token remains valid', async () => {
    const [user, first] = [
      await makeUser({ role: 'courier', courier_id: IEX }),
      await makeUser({ role: 'courier', courier_id: IEX }),
    ];
    const others = [await makeUser({ role: 'courier', courier_id: HRB }), await makeUser()];
    await addMails(user.id, 'password_reset_link', 58);
    await addMails(user.id, 'password_reset_link', 60, 25);
    await requestToken(first);
    const token = await requestToken(user);
    await request(user.username).ok();
    for (const other of others) await requestToken(other);
    await idle();
    expect(await tokensOf(user)).toEqual([token]);
    await reset(token).ok();
  });

  test('above the limit of the staff no user of the staff gets one', async () => {
    const [user, other] = [await makeUser(), await makeUser()];
    const colleague = await makeUser({ role: 'courier', courier_id: IEX });
    await addMails(user.id, 'password_reset_link', 499);
    await requestToken(user);
    await request(other.username).ok();
    await requestToken(colleague);
    await idle();
    expect(await mailsTo(other.email)).toBe(0);
  });

  test('of 24 simultaneous requests for users with one address, which has five mails left, five are mailed', async () => {
    const email = 'race@quay.example';
    const users = await Promise.all(Array.from({ length: 24 }, () => makeUser({ email })));
    await addMails(users[0]?.id ?? '', 'password_reset_link', 15);
    await db.query("update account_mails set recipient = $1 where kind = 'password_reset_link'", [email]);
    const tenantId = DEMO.tenants.demo;
    const requests = users.map(({ username }) => ({ username, resetId: newId() }));
    for (const { username, resetId } of requests)
      await db.query('insert into password_resets (tenant_id, id, username) values ($1, $2, $3)', [
        tenantId,
        resetId,
        username,
      ]);
    const deps = { db: service().db, secrets: service().app.secrets };
    await Promise.all(requests.map(({ resetId }) => preparePasswordReset(deps, { tenantId, resetId })));
    expect(await db.count('account_mails', { recipient: email })).toBe(20);
  });

  test('notices do not count', async () => {
    const user = await makeUser({ role: 'courier', courier_id: IEX });
    await addMails(user.id, 'new_network', 70);
    await requestToken(user);
  });
});

describe('notices', () => {
  const email = () => `n${Math.random()}@quay.example`;

  test('logins from new networks mail an address of a courier 50 times, and hide no notice to a user of the staff', async () => {
    const address = email();
    const users = [
      await makeUser({ role: 'courier', courier_id: IEX, email: address }),
      await makeUser({ role: 'courier', courier_id: IEX, email: address.toUpperCase() }),
    ];
    const staff = await makeUser({ email: address });
    await addMails(users[0]?.id ?? '', 'new_network', 48);
    await db.query("update account_mails set recipient = $1 where kind = 'new_network'", [address]);
    for (const { username } of [...users, staff])
      for (let n = 0; n < 3; n += 1) await logIn(username, DEMO.password).ok();
    const count = async (ids: string[]) =>
      (await db.query('select 1 from account_mails where user_id = any($1)', [ids])).length;
    expect(await count(users.map(({ id }) => id))).toBe(50);
    expect(await count([staff.id])).toBe(2);
  });

  test.each([
    ['a courier', { role: 'courier', courier_id: IEX }, 500],
    ['the staff', {}, 5_000],
  ])('those of %s have a limit, and a change above it succeeds without a mail', async (_, fields, limit) => {
    const user = await makeUser(fields);
    await addMails(user.id, 'new_network', limit - 1);
    for (let n = 0; n < 3; n += 1) await logIn(user.username, DEMO.password).ok();
    await idle();
    expect(await mailsTo(user.email)).toBe(1);
  });
});
