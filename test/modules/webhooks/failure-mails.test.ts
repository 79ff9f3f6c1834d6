import { afterAll, beforeEach, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { insertMailedUser, type MailedUser } from '../../support/builders/users.js';
import { withOutbox } from '../../support/fixture/with-outbox.js';
import { accept, refuse, startReceiver, type Receiver } from '../../support/receivers/receiver.js';
import { setEndpoints } from '../../support/receivers/webhooks.js';
import { until } from '../../support/service/processes.js';

// The owners of a courier are told by mail that a URL fails: at first, before it is paused, and when it is paused (decision 0144).

let receiver: Receiver | undefined;
// Before the service stops, so that its worker does not wait for responses.
afterAll(() => receiver?.stop());

const { api, db, service, outbox } = withOutbox({ WEBHOOK_RETRY_SECONDS: '1,1,1' });
const { HRB } = DEMO.couriers;
const SECRET_OF_URL = 'hidden-in-the-url';

let owner: MailedUser;
beforeEach(async () => {
  receiver ??= await startReceiver(accept);
  const url = `${receiver.url}/add?key=${SECRET_OF_URL}`;
  await setEndpoints(
    { owner: service().owner, secrets: service().app.secrets },
    { courierId: HRB, add: url },
  );
  await db.query('update couriers set email = null, is_active = true where id = $1', [HRB]);
  await db.query('delete from webhook_endpoints');
  await db.query('delete from account_mails');
  await db.query('update couriers set is_active = false where code like $1', ['MANY-%']);
  // The owners of earlier tests.
  await db.query('update users set is_courier_owner = false where courier_id = $1', [HRB]);
  owner = await insertMailedUser(service().owner, 'owner', {
    full_name: 'Owner',
    role: 'courier',
    courier_id: HRB,
    is_courier_owner: true,
  });
});

const subjectsTo = async ({ email }: { email: string }) =>
  (await outbox.to(email)).map(({ subject }) => subject);

const isIdle = async () =>
  (
    await db.query(
      "select from graphile_worker.jobs where task_identifier in ('tellOwnersOfFailures', 'sendAccountMail', 'deliver')",
    )
  ).length === 0;

async function runJob(times = 1): Promise<void> {
  await db.query(
    "select graphile_worker.add_job('tellOwnersOfFailures', max_attempts => 1) from generate_series(1, $1::int)",
    [times],
  );
  await until(isIdle);
}

/** As if the URL had failed for so long. */
const failingFor = (
  interval: string,
  { failures = 3, courierId = HRB, endpoint = 'add_package', tenantId = DEMO.tenants.demo } = {},
) =>
  db.query(
    `insert into webhook_endpoints as e (tenant_id, courier_id, endpoint, failures, failing_since, last_failure_at,
       last_failure_outcome, last_failure_status)
     values ($1, $2, $3, $4, now() - $5::interval, now(), 'rejected', 503)
     on conflict (tenant_id, courier_id, endpoint) do update set failures = excluded.failures,
       failing_since = case when e.told_since is null then excluded.failing_since else e.told_since - $5::interval end,
       told_since = e.told_since - $5::interval`,
    [tenantId, courierId, endpoint, failures, interval],
  );

const receiveParcel = (tracking_number: string) =>
  api.as('warehouse').receivePackage({ tracking_number, weight: 1, courier_id: HRB }).created();

test('of real failures: once at first, once before the pause, once when it is paused, and not of a URL that works', async () => {
  if (!receiver) throw new Error('The receiver does not run.');
  receiver.answer = refuse(503, 'the text of the receiver');
  await receiveParcel('FAILURE-MAIL-1');
  await until(async () => {
    const [row] = await db.all('webhook_endpoints', { courier_id: HRB });
    return Number(row?.['failures']) >= 3;
  });
  await runJob();
  // Within a quarter of an hour nobody is told.
  expect(await subjectsTo(owner)).toEqual([]);
  await db.query("update webhook_endpoints set failing_since = failing_since - interval '16 minutes'");
  await runJob(3);
  const [first] = await outbox.untilSent(owner.email, 1);
  expect(first?.subject).toMatch(/^Your webhook does not accept deliveries \(/);
  expect(first?.text).toMatch(
    /URL\s+api_url_add_package\s+Since\s+\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\s+Last\s+HTTP 503\s/,
  );
  for (const hidden of [SECRET_OF_URL, 'the text of the receiver', '127.0.0.1'])
    expect(`${first?.text}${first?.html}`).not.toContain(hidden);

  await db.query(
    "update webhook_endpoints set failing_since = failing_since - interval '37 hours', told_since = told_since - interval '37 hours'",
  );
  await runJob(3);
  await outbox.untilSent(owner.email, 2);
  await db.query(
    "update webhook_endpoints set failing_since = failing_since - interval '12 hours', told_since = told_since - interval '12 hours'",
  );
  await receiveParcel('FAILURE-MAIL-2');
  await until(async () => (await db.count('webhook_endpoints', { courier_id: HRB, paused_at: null })) === 0);
  await runJob(3);
  await outbox.untilSent(owner.email, 3);
  expect((await subjectsTo(owner)).map((subject) => subject.replace(/ \(.*/, ''))).toEqual([
    'Your webhook does not accept deliveries',
    'Your webhook will be paused within 12 hours',
    'Your webhook is paused',
  ]);
  // Nor on the next day, while it is still paused.
  await db.query("update account_mails set created_at = created_at - interval '25 hours'");
  await runJob(2);
  expect(await subjectsTo(owner)).toHaveLength(3);
  await db.query("update account_mails set created_at = created_at + interval '25 hours'");

  receiver.answer = accept;
  await api.as('hrb').manageWebhookDeliveries({ action: 'send_test', endpoint: 'add_package' }).ok();
  await until(
    async () => (await db.count('webhook_endpoints', { courier_id: HRB, failing_since: null })) === 1,
  );
  await runJob();
  expect(await subjectsTo(owner)).toHaveLength(3);
  // It fails again on the same day: no second mail about first failures.
  await db.query(
    "update webhook_endpoints set failing_since = now() - interval '20 minutes', failures = 9 where courier_id = $1",
    [HRB],
  );
  await runJob();
  expect(await subjectsTo(owner)).toHaveLength(3);
});

test('tells the active owners and the address of the profile, and nobody else', async () => {
  const plant = (fields: Record<string, unknown>) =>
    insertMailedUser(service().owner, 'other', { full_name: 'Other', ...fields });
  const others = await Promise.all([
    plant({ role: 'courier', courier_id: HRB, is_courier_owner: false }),
    plant({ role: 'courier', courier_id: HRB, is_courier_owner: true, is_active: false }),
    plant({ role: 'courier', courier_id: DEMO.couriers.IEX, is_courier_owner: true }),
    plant({ role: 'manager' }),
  ]);
  await db.query("update couriers set email = 'profile@harbour.example' where id = $1", [HRB]);
  await failingFor('20 minutes');
  await runJob();
  await outbox.untilSent(owner.email, 1);
  await outbox.untilSent('profile@harbour.example', 1);
  for (const other of others) expect(await subjectsTo(other)).toEqual([]);
});

test.each<[string, () => Promise<unknown>]>([
  ['fewer failures', () => failingFor('20 minutes', { failures: 2 })],
  [
    'a URL that was removed',
    async () => {
      await failingFor('20 minutes');
      await db.query('update couriers set api_url_add_package = null where id = $1', [HRB]);
    },
  ],
  [
    'a courier that was disabled',
    async () => {
      await failingFor('20 minutes');
      await db.query('update couriers set is_active = false where id = $1', [HRB]);
    },
  ],
])('tells nobody of %s', async (_case, plant) => {
  await plant();
  await runJob();
  expect(await subjectsTo(owner)).toEqual([]);
});

test('sends no queued mail to a user who was moved to another courier, and nothing of either', async () => {
  await failingFor('20 minutes', { courierId: DEMO.couriers.IEX });
  await db.query(
    `with mail as (
       insert into account_mails (tenant_id, id, user_id, kind, recipient, endpoint, courier_id)
       values ($1, new_id(), $2, 'webhook_failing', $3, 'add_package', $4) returning id), moved as (
       update users set courier_id = $5 where id = $2)
     select graphile_worker.add_job('sendAccountMail', json_build_object('tenantId', $1::text, 'mailId', id)) from mail`,
    [DEMO.tenants.demo, owner.id, owner.email, HRB, DEMO.couriers.IEX],
  );
  await until(isIdle);
  expect(await db.all('account_mails', { user_id: owner.id })).toMatchObject([{ status: 'skipped' }]);
});

test('sends no queued mail about a URL that works again', async () => {
  await failingFor('20 minutes');
  await db.query(
    `with mail as (
       insert into account_mails (tenant_id, id, user_id, kind, recipient, endpoint, courier_id)
       values ($1, new_id(), $2, 'webhook_failing', $3, 'update_package', $4) returning id)
     select graphile_worker.add_job('sendAccountMail', json_build_object('tenantId', $1::text, 'mailId', id)) from mail`,
    [DEMO.tenants.demo, owner.id, owner.email, HRB],
  );
  await until(isIdle);
  expect(await db.all('account_mails', { user_id: owner.id })).toMatchObject([{ status: 'skipped' }]);
});

/** Other couriers whose URLs fail. */
async function plantCouriers(fields: {
  count: number;
  isActive?: boolean;
  failingFor: string;
}): Promise<void> {
  const { rows } = await service().owner.query<{ id: string }>(
    `insert into couriers (tenant_id, id, code, name, api_url_add_package, is_active)
     select $1, new_id(), 'MANY-' || new_id(), 'Many', 'https://many.example/' || n, $3 from generate_series(1, $2) n returning id`,
    [DEMO.tenants.demo, fields.count, fields.isActive ?? true],
  );
  for (const { id } of rows) await failingFor(fields.failingFor, { courierId: id });
}

test('tells nobody at first if five couriers fail and nobody accepts anything, because the cause is here', async () => {
  await plantCouriers({ count: 4, failingFor: '20 minutes' });
  await failingFor('20 minutes');
  await runJob();
  expect(await subjectsTo(owner)).toEqual([]);
  // Another one has accepted something since.
  await db.query(
    `insert into webhook_endpoints (tenant_id, courier_id, endpoint, last_success_at) values ($1, $2, 'add_package', now())`,
    [DEMO.tenants.demo, DEMO.couriers.IEX],
  );
  await runJob();
  expect(await outbox.untilSent(owner.email, 1)).toHaveLength(1);
});

test.each([
  ['were deactivated', { isActive: false, failingFor: '20 minutes' }],
  ['failed long ago', { failingFor: '20 days' }],
])('couriers that %s keep nobody from being told', async (_what, fields) => {
  await plantCouriers({ count: 9, ...fields });
  await failingFor('20 minutes');
  await runJob();
  expect(await outbox.untilSent(owner.email, 1)).toHaveLength(1);
});

test('a change of the URL causes no second mail on the same day', async () => {
  await failingFor('20 minutes');
  await runJob();
  await outbox.untilSent(owner.email, 1);
  await db.query('delete from webhook_endpoints');
  await failingFor('20 minutes');
  await runJob();
  expect(await subjectsTo(owner)).toHaveLength(1);
});

test('a tenant whose statements fail keeps no other tenant from being told', async () => {
  await service().owner.query(`
    create function refuse_told() returns trigger language plpgsql as $$
    begin raise exception 'refused' using errcode = '57P03'; end $$;
    create trigger refuse_told before update of told_since on webhook_endpoints for each row
      when (old.tenant_id = '${DEMO.tenants.demo}') execute function refuse_told()`);
  await failingFor('20 minutes');
  const other = await insertMailedUser(service().owner, 'other', {
    full_name: 'Other',
    tenant_id: DEMO.tenants.two,
    role: 'courier',
    courier_id: DEMO.couriers.TWO,
    is_courier_owner: true,
  });
  await db.query("update couriers set api_url_add_package = 'https://two.example' where id = $1", [
    DEMO.couriers.TWO,
  ]);
  await failingFor('20 minutes', { courierId: DEMO.couriers.TWO, tenantId: DEMO.tenants.two });
  await db.query("select graphile_worker.add_job('tellOwnersOfFailures', max_attempts => 1)");
  expect(await outbox.untilSent(other.email, 1)).toHaveLength(1);
  expect(await subjectsTo(owner)).toEqual([]);
  await service().owner.query('drop trigger refuse_told on webhook_endpoints; drop function refuse_told()');
});
