import { beforeEach, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { unchecked } from '../../../support/fixture/sent.js';
import { withOutbox } from '../../../support/fixture/with-outbox.js';
import { agedToken } from '../../../support/sign-in/aged-token.js';
import { until } from '../../../support/service/processes.js';
import { makeUserCalls, type UserWithToken } from '../../users/user-calls.js';

// A stolen session must not read on after its end: by a URL, by a mail, or by a courier that was deactivated (decision 0135).

const fixture = withOutbox({});
const { api, db, service, outbox } = fixture;
const { makeUser } = makeUserCalls(fixture);
const { HRB } = DEMO.couriers;
const THIEF = 'https://thief.evil.example/steal';

let admin: UserWithToken;
let manager: UserWithToken;
beforeEach(async () => {
  [admin, manager] = [await makeUser({ role: 'admin' }), await makeUser({ role: 'manager' })];
  await db.query(
    `update couriers set email = 'old@harbour.example', api_url_add_package = 'https://harbour.example/hooks', api_url_update_package = null
     where id = $1`,
    [HRB],
  );
  await db.query('update users set is_active = true where id = $1', [DEMO.users.hrb]);
  await db.query('delete from account_mails; delete from courier_quotas');
});

type Change = {
  by: 'admin' | 'manager';
  call: 'updateCourierSettings' | 'manageCouriers' | 'updateSecuritySettings';
  body: object;
};

const send = ({ by, call, body }: Change, minutes: number, more: object = {}) => {
  const { token } = by === 'admin' ? admin : manager;
  const ofCourier = call === 'updateCourierSettings' ? { query: { id: HRB } } : {};
  return api.with({ token: agedToken(token, minutes), ...ofCourier })[call](unchecked({ ...body, ...more }));
};

const update = { action: 'update', courier_id: HRB };
const CHANGES: Record<string, Change> = {
  'a URL for new packages': {
    by: 'manager',
    call: 'updateCourierSettings',
    body: { api_url_add_package: THIEF },
  },
  'a URL for changes': {
    by: 'manager',
    call: 'updateCourierSettings',
    body: { api_url_update_package: THIEF },
  },
  'a URL for customers': {
    by: 'admin',
    call: 'updateCourierSettings',
    body: { api_url_get_customers: THIEF },
  },
  'the address in the settings': {
    by: 'manager',
    call: 'updateCourierSettings',
    body: { email: 'thief@evil.example' },
  },
  'the address of a courier': {
    by: 'manager',
    call: 'manageCouriers',
    body: { ...update, email: 'thief@evil.example' },
  },
  'activating a courier': {
    by: 'manager',
    call: 'manageCouriers',
    body: { action: 'activate', courier_id: HRB },
  },
  'no second factor': { by: 'admin', call: 'updateSecuritySettings', body: { require_two_factor: [] } },
  'no end of idle sessions': {
    by: 'admin',
    call: 'updateSecuritySettings',
    body: { idle_timeout_minutes: null },
  },
};

const stateOf = () =>
  db.query(
    `select c.is_active, c.email, c.api_url_add_package, c.api_url_update_package, c.api_url_get_customers, s.require_two_factor,
       s.idle_timeout_minutes
     from couriers c left join security_settings s on s.tenant_id = c.tenant_id where c.id = $1`,
    [HRB],
  );

test.each(Object.entries(CHANGES))(
  '%s needs the own password 15 minutes after the login',
  async (name, change) => {
    if (name === 'activating a courier')
      await db.query('update couriers set is_active = false where id = $1', [HRB]);
    // Stricter settings need no password.
    const strict = { require_two_factor: ['warehouse'], idle_timeout_minutes: 30 };
    await send({ by: 'admin', call: 'updateSecuritySettings', body: strict }, 16).ok();
    const before = await stateOf();
    const refused = await send(change, 16).refused(400, 'validation_failed');
    expect(refused.errors).toEqual([
      {
        field: 'current_password',
        code: 'required',
        message: expect.stringContaining('more than 15 minutes ago'),
      },
    ]);
    await send(change, 16, { current_password: 'guessed' }).refused(400, 'password_wrong');
    expect(await stateOf()).toEqual(before);
    await send(change, 16, { current_password: DEMO.password }).ok();
    expect(await stateOf()).not.toEqual(before);
    await send(change, 14).ok();
    await db.query('delete from security_settings');
  },
);

test('what sends nothing elsewhere needs no password', async () => {
  const same = { api_url_update_package: 'https://harbour.example/hooks', email: 'old@harbour.example' };
  for (const body of [same, { courier_name: 'Harbour Couriers' }, { api_url_add_package: '', email: '' }])
    await send({ by: 'manager', call: 'updateCourierSettings', body }, 16).ok();
  await send(
    { by: 'manager', call: 'manageCouriers', body: { ...update, city_town: 'Bridgetown' } },
    16,
  ).ok();
  const guessed = { ...update, city_town: 'Oistins', current_password: 'guessed' };
  await send({ by: 'manager', call: 'manageCouriers', body: guessed }, 1).refused(400, 'password_wrong');
  await send(
    { by: 'manager', call: 'manageCouriers', body: { action: 'deactivate', courier_id: HRB } },
    16,
  ).ok();
  await send(
    { by: 'manager', call: 'manageCouriers', body: { action: 'activate', courier_id: HRB } },
    1,
  ).ok();
});

/** The mails about redirected data, when no job for them waits or runs. */
async function told(): Promise<string[]> {
  const jobs = "select 1 from graphile_worker.jobs where task_identifier = 'tellCourierOwners'";
  await until(async () => (await db.query(jobs)).length === 0);
  const rows = await db.query<{ recipient: string }>(
    "select recipient from account_mails where kind = 'courier_redirected' order by recipient",
  );
  return rows.map(({ recipient }) => recipient);
}

test('a courier redirects its own data without a password, and its owners and its old address are told', async () => {
  await db.query("update users set email = 'owner@harbour.example' where id = $1", [DEMO.users.hrb]);
  await makeUser({
    role: 'courier',
    courier_id: HRB,
    is_courier_owner: false,
    email: 'member@harbour.example',
  });
  const token = agedToken(await service().tokenOf('hrb'), 16);
  const change = (body: object) => api.withToken(token).updateCourierSettings(unchecked(body)).ok();
  await change({ api_url_add_package: THIEF });
  expect(await told()).toEqual(['old@harbour.example', 'owner@harbour.example']);
  const [mail] = await outbox.untilSent('owner@harbour.example', 1);
  expect(mail?.text).toContain('Somebody changed where we send the data of your courier, or which');
  expect(mail?.text).not.toContain('evil.example');
  await change({ api_url_add_package: THIEF, city_town: 'Oistins' });
  expect(await told()).toHaveLength(2);
  await db.query('delete from account_mails');
  await change({ update_package_events: ['package.updated', 'bill.paid'] });
  expect(await told()).toEqual(['old@harbour.example', 'owner@harbour.example']);
  await change({ update_package_events: ['bill.paid', 'package.updated'] });
  expect(await told()).toHaveLength(2);
  await db.query('delete from account_mails');
  await change({ email: 'thief@evil.example' });
  expect(await told()).toEqual(['old@harbour.example', 'owner@harbour.example']);
});

test('owners who were disabled before are told, and without an owner the address of the profile', async () => {
  await db.query(
    "update users set email = 'owner@harbour.example', is_active = false, updated_at = now() where id = $1",
    [DEMO.users.hrb],
  );
  const change = (url: string) =>
    send({ by: 'manager', call: 'updateCourierSettings', body: { api_url_update_package: url } }, 1).ok();
  await change(THIEF);
  expect(await told()).toEqual(['old@harbour.example', 'owner@harbour.example']);
  await db.query('delete from account_mails');
  await db.query("update users set updated_at = now() - interval '8 days' where courier_id = $1", [HRB]);
  await db.query('update users set is_courier_owner = false where courier_id = $1 and id <> $2', [
    HRB,
    DEMO.users.hrb,
  ]);
  await change(`${THIEF}/again`);
  expect(await told()).toEqual(['old@harbour.example']);
});

test('the old address is told if no owner has an address', async () => {
  await db.query('update users set email = null where id = $1', [DEMO.users.hrb]);
  await send(
    { by: 'manager', call: 'updateCourierSettings', body: { email: 'new@harbour.example' } },
    1,
  ).ok();
  expect(await told()).toEqual(['old@harbour.example']);
});

test('beyond 60 mails a day the settings still change', async () => {
  await db.query("update users set email = 'owner@harbour.example' where id = $1", [DEMO.users.hrb]);
  for (let count = 0; count < 32; count++)
    await send(
      { by: 'manager', call: 'updateCourierSettings', body: { email: `desk${count}@harbour.example` } },
      1,
    ).ok();
  expect(await told()).toHaveLength(60);
});
