import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { developmentConfig } from '../../support/staging/development.js';
import type { Message } from '../../../src/platform/mail/mime.js';
import { makeMailer } from '../../../src/platform/mail/transport.js';
import { isListedHost } from '../../../src/platform/outbound/urls.js';
import { insertDelivery, insertEvent } from '../../support/builders/deliveries.js';
import { openOutbox } from '../../support/builders/outbox.js';
import { startReceiver, type Receiver } from '../../support/receivers/receiver.js';
import { startSes, type Ses } from '../../support/receivers/ses.js';
import { webhookSecret, setEndpoints } from '../../support/receivers/webhooks.js';
import { until } from '../../support/service/processes.js';
import { startService, type Call, type Service } from '../../support/service/service.js';

// A database copied from production, opened as staging: couriers' URLs, addresses, and work that was queued in production.

const { IEX, HRB } = DEMO.couriers;
const SECRETS = {
  TOKEN_KEYS: `k1:${'test-key-0123456789'.repeat(3)}`,
  ENCRYPTION_KEYS: `1:${'0123456789abcdef'.repeat(4)}`,
  LOOKUP_KEY: 'fedcba9876543210'.repeat(4),
  TRUST_PROXY: '127.0.0.1',
};
const MAILBOX = 'testers@staging.example';
const LISTED = 'staging-courier.example';
/** Pending in the copy, in the order in which they are planted. */
const OLD_DELIVERIES = 3;

let production: Receiver;
let tester: Receiver;
let ses: Ses;
let service: Service;

beforeAll(async () => {
  [production, tester, ses] = await Promise.all([startReceiver(), startReceiver(), startSes()]);
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' });
  service = await startService({
    worker: true,
    env: {
      ...{ ...SECRETS, APP_ENV: 'staging', OUTBOUND_HOSTS: 'localhost, *.staging.example' },
      ...{ STAGING_MAIL_TO: MAILBOX, STAGING_MAIL_DOMAINS: LISTED },
      ...{ SES_REGION: 'us-east-1', SES_ENDPOINT: ses.url, MAIL_FROM: 'us@staging.example' },
      WEBHOOK_RETRY_SECONDS: '3600',
    },
  });
  await copyFromProduction();
}, 60_000);

afterAll(async () => {
  await service.stop();
  for (const each of [production, tester, ses]) await each.stop();
}, 60_000);

/** IEX still has its own system's URLs and address; testers have set those of HRB. */
async function copyFromProduction(): Promise<void> {
  const { owner, app } = service;
  const testing = tester.url.replace('127.0.0.1', 'localhost');
  await setEndpoints(
    { owner, secrets: app.secrets },
    { courierId: IEX, add: `${production.url}/add`, update: `${production.url}/flat` },
  );
  await setEndpoints(
    { owner, secrets: app.secrets },
    ...[{ courierId: HRB, add: `${testing}/add`, update: `${testing}/update`, secret: webhookSecret('h') }],
  );
  await owner.query(
    `update couriers set update_package_format = 'flat', api_url_get_customers = $2 where id = $1`,
    [IEX, `${production.url}/customers`],
  );
  await owner.query('update couriers set email = $2 where id = $1', [HRB, `desk@${LISTED}`]);
  for (let n = 0; n < OLD_DELIVERIES; n += 1) await oldDelivery();
}

async function oldDelivery(): Promise<void> {
  const id = await insertDelivery(service.owner, {
    eventId: await insertEvent(service.owner, { age: '1 day' }),
    status: 'pending',
  });
  await service.owner.query(
    `update webhook_deliveries set next_attempt_at = now() - interval '1 hour' where id = $1`,
    [id],
  );
}

const call = (operationId: Parameters<Service['call']>[0], options: Call) =>
  service.call(operationId, { ...options, headers: { 'x-forwarded-proto': 'https' } });

const rowsOf = async (text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> =>
  (await service.owner.query(text, values)).rows;

const untilNone = (text: string, values: unknown[] = []) =>
  until(async () => (await rowsOf(text, values)).length === 0);

describe('a staging deployment on a copy of the database of production', () => {
  test('calls no URL that production has, for old deliveries, new events and flat packages', async () => {
    await service.owner.query("select graphile_worker.add_job('sweep')");
    const [packageId] = DEMO.packages.available.IEX;
    const move = { package_ids: [packageId], status: 'in_transit' };
    expect(await call('recordPackageEvent', { as: 'warehouse', body: move })).toMatchObject({ status: 200 });
    const received = { tracking_number: 'COPY-1', weight: 1, user_code: 'IEX-1001' };
    expect(await call('receivePackage', { as: 'warehouse', body: received })).toMatchObject({ status: 201 });
    await untilNone('select from webhook_deliveries where courier_id = $1 and attempt_count = 0', [IEX]);
    expect(
      await rowsOf(
        `select d.endpoint, a.outcome, a.http_status, count(*)::int as attempts, min(a.error) as error
         from webhook_attempts a join webhook_deliveries d on d.tenant_id = a.tenant_id and d.id = a.delivery_id
         where a.courier_id = $1 group by 1, 2, 3 order by 1`,
        [IEX],
      ),
    ).toEqual([
      ...[{ endpoint: 'add_package', ...BLOCKED, attempts: OLD_DELIVERIES + 1 }],
      ...[{ endpoint: 'update_package', ...BLOCKED, attempts: 1 }],
    ]);
    const shown = await call('listWebhookDeliveries', { as: 'iex', query: { limit: 1 } });
    expect(JSON.stringify(shown.body)).toContain('unsafe_target');
  });

  test('calls the hosts that its operator lists', async () => {
    const received = { tracking_number: 'COPY-2', weight: 1, user_code: 'HRB-2001' };
    expect(await call('receivePackage', { as: 'warehouse', body: received })).toMatchObject({ status: 201 });
    await until(async () => tester.at('/add').length > 0);
  });

  test('synchronises customers from no system of production, and the run says why', async () => {
    const requested = await call('syncCustomers', { as: 'iex' });
    const { run_id: runId } = requested.body['data'];
    await untilNone("select from customer_sync_runs where id = $1 and status in ('queued', 'running')", [
      runId,
    ]);
    expect(await rowsOf('select status, error from customer_sync_runs where id = $1', [runId])).toEqual([
      { status: 'failed', error: BLOCKED.error },
    ]);
  });

  test('mails an allowed domain, and everything else to one mailbox, queued mail of production included', async () => {
    const manifest = DEMO.manifests.draft;
    for (const status of ['ready', 'shipped'])
      expect(
        await call('manageManifest', {
          as: 'warehouse',
          body: { action: 'update_meta', manifest_id: manifest, status },
        }),
      ).toMatchObject({ status: 200 });
    await service.owner.query(
      `with queued as (
         insert into account_mails (tenant_id, id, user_id, kind, recipient)
         values ($1, new_id(), $2, 'password_changed', 'somebody@production.example') returning tenant_id, id)
       select graphile_worker.add_job('sendAccountMail', json_build_object('tenantId', tenant_id, 'mailId', id)) from queued`,
      [DEMO.tenants.demo, DEMO.users.admin],
    );
    await untilNone(
      "select from manifest_mails where status = 'queued' union all select from account_mails where status = 'queued'",
    );
    expect([...new Set(ses.accepted.flatMap(({ destinations }) => destinations))].sort()).toEqual(
      [`desk@${LISTED}`, MAILBOX].sort(),
    );
    const subjects = ses.accepted.map(({ bytes }) => /^Subject: .*/m.exec(bytes.toString())?.[0] ?? '');
    expect(subjects.filter((subject) => subject.includes('[to somebody@production.example]'))).toHaveLength(
      1,
    );
    const recipients = await rowsOf(
      'select distinct recipient, status from manifest_mails where courier_id = any($1) order by 1',
      [[IEX, HRB]],
    );
    expect(recipients).toEqual([
      { recipient: `desk@${LISTED}`, status: 'sent' },
      { recipient: MAILBOX, status: 'sent' },
    ]);
  });

  // Last, after every other path.
  test('no request reached a system of production', () => {
    expect(production.received).toEqual([]);
  });
});

const BLOCKED = {
  outcome: 'unsafe_target',
  http_status: null,
  error: 'This deployment calls only the hosts that its operator lists in OUTBOUND_HOSTS. Nothing was sent.',
};

describe('the settings of staging', () => {
  const staging = (env: Record<string, string> = {}) =>
    developmentConfig({
      ...SECRETS,
      APP_ENV: 'staging',
      DATABASE_URL: 'postgres://login@127.0.0.1/crossdock',
      ...env,
    });

  test('without a decision, no host is called and SES mails nobody', () => {
    expect(staging().outbound.hosts).toEqual([]);
    expect(staging({ SES_REGION: 'us-east-1', MAIL_FROM: 'us@staging.example' }).mail.recipients).toEqual({
      otherwiseTo: undefined,
      domains: [],
    });
  });

  test('mail in files, which reaches nobody, is not restricted', () => {
    expect(staging().mail.recipients).toBeUndefined();
  });

  test('outside of staging nothing is restricted, and the settings for mail are refused', () => {
    expect(developmentConfig({}).outbound.hosts).toBeUndefined();
    expect(developmentConfig({ SES_REGION: 'x', MAIL_FROM: 'a@b.example' }).mail.recipients).toBeUndefined();
    expect(() => developmentConfig({ STAGING_MAIL_TO: MAILBOX, STAGING_MAIL_DOMAINS: LISTED })).toThrow(
      'STAGING_MAIL_TO and STAGING_MAIL_DOMAINS must only be set with APP_ENV=staging',
    );
  });

  test.each([
    ['OUTBOUND_HOSTS', '*', 'must be host names'],
    ['OUTBOUND_HOSTS', '*.com', 'must be host names'],
    ['OUTBOUND_HOSTS', 'https://hooks.example', 'must be host names'],
    ['STAGING_MAIL_DOMAINS', 'com', 'must be domains'],
    ['STAGING_MAIL_DOMAINS', '*', 'must be domains'],
    ['STAGING_MAIL_TO', 'testers', 'must be an e-mail address'],
  ])('%s=%s is refused', (name, value, message) => {
    expect(() => staging({ [name]: value })).toThrow(`${name} ${message}`);
  });
});

test.each([
  ['https://hooks.example/a', true],
  ['https://HOOKS.example./a', true],
  ['https://a.staging.example/', true],
  ['https://a.b.staging.example/', true],
  ['https://staging.example/', false],
  ['https://xstaging.example/', false],
  ['https://hooks.example.evil.example/', false],
  ['https://evil-hooks.example/', false],
  ['https://hooks.example@evil.example/', false],
])('the list hooks.example, *.staging.example: %s', (url, isListed) => {
  expect(isListedHost(url, ['hooks.example', '*.staging.example'])).toBe(isListed);
});

describe('a mailer for staging', () => {
  const message = (address: string): Message => ({
    id: 'id',
    senderName: 'Sender',
    recipient: { name: 'Name', address },
    subject: 'Subject',
    ...{ text: 'Text', html: '<p>Text</p>', date: new Date() },
  });

  test.each([
    ['a@listed.example', 'a@listed.example'],
    ['a@LISTED.example', 'a@listed.example'],
    ['a@sub.listed.example', undefined],
    ['a@listed.example.evil.example', undefined],
    ['listed.example@evil.example', undefined],
    ['"a@listed.example"@evil.example', undefined],
  ])('mail for %s goes to %s', async (address, goesTo) => {
    const outbox = await openOutbox();
    const recipients = { otherwiseTo: undefined, domains: ['listed.example'] };
    const mailer = makeMailer({ from: 'us@x.example', ses: undefined, outbox: outbox.folder, recipients });
    const { outcome } = await mailer.send(message(address));
    const sent = (await outbox.to('@')).map(({ to }) => to);
    await outbox.remove();
    expect([outcome, sent]).toEqual(
      goesTo ? ['sent', [expect.stringContaining(`<${goesTo}>`)]] : ['blocked', []],
    );
  });
});
