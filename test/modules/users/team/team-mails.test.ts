import { expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { withOutbox } from '../../../support/fixture/with-outbox.js';
import { freshName, makeUserCalls } from '../user-calls.js';
import { makeTeamCalls } from './team-calls.js';

// The mails that changes of users cause: nobody has confirmed the addresses.

const fixture = withOutbox({ TRUST_PROXY: '127.0.0.1' });
const { db, outbox } = fixture;
const { makeColleague, makeUser, manageTeam } = makeTeamCalls(fixture);
const { manage } = makeUserCalls(fixture);

const mailsTo = (userId: string) => db.count('account_mails', { user_id: userId });

/** Sets how many mails a caller has caused today. */
const setUsed = (kind: 'courier' | 'user', id: string, used: number) =>
  db.query(
    `insert into principal_quotas (tenant_id, principal_kind, principal_id, courier_id, kind, period_start, used)
     values ($1, $2, $3, case when $2 = 'courier' then $3::uuid end, 'account_mails',
       date_trunc('day', now() at time zone 'UTC') at time zone 'UTC', $4)
     on conflict (tenant_id, principal_kind, principal_id, kind, period_start) do update set used = $4`,
    [DEMO.tenants.demo, kind, id, used],
  );

test('an owner in a loop of new addresses writes 60 mails, and then changes nothing, but may disable', async () => {
  const { id } = await makeColleague({ email: 'v0@quay.example' });
  const update = (n: number) =>
    manageTeam({ action: 'update', user_id: id, email: `v${n}@quay.example` }, 'iex');
  for (let n = 1; n <= 30; n += 1) await update(n).ok();
  const entries = await db.count('audit_entries', { entity_id: id });
  const refusal = await update(31).refused(429, 'quota_exceeded');
  expect(refusal.message).toContain('60 mails per day');
  expect(await mailsTo(id)).toBe(60);
  expect(await db.user(id)).toMatchObject({ email: 'v30@quay.example' });
  expect(await db.count('audit_entries', { entity_id: id })).toBe(entries);
  await manageTeam({ action: 'reset_password', user_id: id }, 'iex').refused(429, 'quota_exceeded');
  await manageTeam({ action: 'update', user_id: id, full_name: 'No mail' }, 'iex').ok();
  await manageTeam({ action: 'disable', user_id: id }, 'iex').ok();

  // Others have their own limit.
  const colleague = await makeColleague({ email: 'b@quay.example', courier_id: DEMO.couriers.HRB });
  await manageTeam({ action: 'reset_password', user_id: colleague.id }, 'hrb').ok();
  await manageTeam({ action: 'update', user_id: id, email: 'staff@quay.example' }).ok();
  await setUsed('courier', DEMO.couriers.IEX, 0);
});

test('a user of the staff has the same limit for all users of the tenant', async () => {
  await setUsed('user', DEMO.users.admin, 59);
  const user = await makeUser({ email: 'c@quay.example', two_factor_enabled: true, totp_secret: 'x' });
  // To the old and to the new address.
  await manage({ action: 'update', user_id: user.id, email: 'd@quay.example' }).refused(
    429,
    'quota_exceeded',
  );
  await manage({ action: 'reset_two_factor', user_id: user.id }).ok();
  await manage({ action: 'reset_password', user_id: user.id }).refused(429, 'quota_exceeded');
  const silent = await makeUser({ email: null });
  await manage({ action: 'reset_password', user_id: silent.id }).ok();
  expect(await mailsTo(user.id)).toBe(1);
  await setUsed('user', DEMO.users.admin, 0);
});

test('simultaneous changes by one owner do not exceed the limit', async () => {
  await setUsed('courier', DEMO.couriers.IEX, 55);
  const users = await Promise.all(
    Array.from({ length: 12 }, () => makeColleague({ email: 'e@quay.example' })),
  );
  const replies = await Promise.all(
    users.map(({ id }) => manageTeam({ action: 'update', user_id: id, email: null }, 'iex').status()),
  );
  expect(replies.toSorted()).toEqual([...Array(5).fill(200), ...Array(7).fill(429)]);
  await setUsed('courier', DEMO.couriers.IEX, 0);
});

test('a mail carries no text that an owner writes, and no link', async () => {
  const created = {
    action: 'create',
    username: `iex.www.evil.example-${freshName()}`,
    full_name: 'Parcel held: pay at http://evil.example',
    role: 'courier',
    courier_role: 'member',
    email: 'f@quay.example',
  };
  const { data } = await manageTeam(created, 'iex').ok();
  await manageTeam({ action: 'update', user_id: data.user_id, email: 'victim@quay.example' }, 'iex').ok();
  const [mail] = await outbox.untilSent('victim@quay.example', 1);
  expect(mail?.to).toBe('victim@quay.example');
  const texts = [mail?.text ?? '', mail?.html ?? '', mail?.subject ?? ''];
  for (const part of ['Parcel held', 'pay at', '://', 'evil.example', 'www.evil', 'iex.www'])
    expect(texts.filter((text) => text.includes(part))).toEqual([]);
  expect(texts.filter((text) => text.includes('iex. www. evil. example-'))).toHaveLength(2);
  expect(texts.filter((text) => text.includes('Hello,'))).toHaveLength(2);
});

test('a user name and a client name of which an owner makes a message are cut', async () => {
  const attacks = [
    'iex.your-parcel-is-held_pay-now-call+1-876-555-0100_1',
    'iex.call+1-876-555-0100',
    'iex.call_1_8_7_6_5.5_5',
  ];
  for (const [n, username] of attacks.entries()) {
    const email = `cut${n}@quay.example`;
    const created = {
      action: 'create',
      username,
      full_name: 'Cut',
      role: 'courier',
      courier_role: 'member',
      email,
    };
    await manageTeam(created, 'iex').ok();
    await fixture.api.anonymous.resetPassword({ action: 'request', username }).ok();
    const [mail] = await outbox.untilSent(email, 1);
    const shown = `${username.slice(0, 12).replace('.', '. ')}…`;
    for (const text of [mail?.text ?? '', mail?.html ?? '']) {
      expect(text).toContain(`${shown} at`);
      expect(text).not.toContain(username.slice(4, 14));
    }
  }
});

test.each([
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64) AppleWebKit/537.36 Chrome/130.0 Safari/537.36 Edg/130.0',
    'Edge on Windows',
  ],
  ['Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) CriOS/130.0 Mobile Safari/604.1', 'Chrome on iOS'],
  [
    'Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0 call +1 876 555 0100',
    'Firefox on Linux',
  ],
  ['curl/8.5.0', 'curl/8.5.0'],
  ['Your parcel is held. Pay now at evil.example, or call us', 'Your parcel …'],
  ['Call 1-876-555-0100', 'Call 1-876-5…'],
])('the client %s is named %s', async (userAgent, shown) => {
  const email = `${freshName()}@quay.example`;
  const { username } = await makeColleague({ email });
  const logInFrom = (address: string) =>
    fixture.api.anonymous.login(
      { action: 'login', username, password: DEMO.password },
      { headers: { 'x-forwarded-for': address, 'user-agent': userAgent } },
    );
  for (const address of ['198.51.100.1', '203.0.113.1']) await logInFrom(address).ok();
  const [mail] = await outbox.untilSent(email, 1);
  expect(mail?.text).toContain(`Client    ${shown}\r\n`);
  expect(mail?.html).toContain(`<td dir="auto">${shown}</td>`);
});
