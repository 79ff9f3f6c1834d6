import { beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/demo.js';
import type { Mailer } from '../../../src/platform/mail/send-result.js';
import { makeSandbox } from '../../support/fixture/sandboxes.js';
import { insertNotices } from '../../support/fixture/notices.js';
import { withNotices } from '../../support/fixture/with-notices.js';
import { linkOf, makeNoticeCalls } from './notice-calls.js';

const fixture = withNotices();
const { api, db, outbox, pass, service, tell, tellNow, work } = fixture;
const { log, newCustomer, page, receive, settings } = makeNoticeCalls(fixture);

beforeAll(async () => {
  for (const as of ['iex', 'hrb']) await settings({ is_enabled: true, states: ['received'] }, as).ok();
});

const failing = (reason: string, detail?: string): Mailer => ({
  send: async () => ({ outcome: 'refused', reason, ...(detail ? { detail } : {}) }),
  close: () => undefined,
});

/** A mail that the mail service refuses. */
async function refused(detail?: string) {
  const customer = await newCustomer();
  const parcel = await receive(customer);
  await tell();
  await pass();
  await tell();
  await work(failing('MessageRejected', detail));
  return { customer, parcel };
}

describe('the log', () => {
  test('has what was sent, with the mail, the address and the times', async () => {
    const customer = await newCustomer();
    const parcel = await receive(customer);
    await tell();
    const [held] = await log({ package_id: parcel.id });
    expect(held).toMatchObject({ status: 'held', mail_id: null, settled_at: null, address: customer.email });
    expect(held?.due_at).toMatch(/^\d{4}-/);
    await pass();
    await tell();
    expect((await log({ package_id: parcel.id }))[0]).toMatchObject({ status: 'queued', due_at: null });
    await work();
    const [mail] = await db.all('notice_mails', { customer_id: customer.id });
    expect(await log({ package_id: parcel.id })).toEqual([
      {
        notice_id: held?.notice_id,
        courier_id: DEMO.couriers.IEX,
        package_id: parcel.id,
        tracking_number: parcel.number,
        user_code: customer.userCode,
        state: 'received',
        status: 'sent',
        mail_id: mail?.id,
        address: customer.email,
        reason: null,
        due_at: null,
        created_at: held?.created_at,
        settled_at: expect.stringMatching(/^\d{4}-/),
      },
    ]);
  });

  test('and the settings show that a mail has failed, and why', async () => {
    const before = (await api.as('iex').getNoticeSettings({}).ok()).data.failed_mails;
    const { customer } = await refused();
    expect(await log({ status: 'failed' })).toMatchObject([
      { user_code: customer.userCode, status: 'failed', reason: 'MessageRejected' },
    ]);
    expect((await api.as('iex').getNoticeSettings({}).ok()).data.failed_mails).toBe(before + 1);
  });

  test('shows warehouse staff a part of the address only, also in what the mail service says', async () => {
    const { customer, parcel } = await refused('x');
    await service().owner.query(
      "update notice_mails set last_error = 'MessageRejected: ' || recipient || ' is unknown' where customer_id = $1",
      [customer.id],
    );
    const masked = `${customer.email[0]}***@quay.example`;
    const query = { package_id: parcel.id };
    expect(await log(query, 'warehouse')).toMatchObject([
      { address: masked, reason: `MessageRejected: ${masked} is unknown` },
    ]);
    for (const as of ['manager', 'iex'])
      expect(await log(query, as)).toMatchObject([{ address: customer.email }]);
  });

  test('of a sandbox says that no mail leaves it', async () => {
    const { sandboxId, courierId } = await makeSandbox(service());
    await service().owner.query(
      `insert into notice_settings (tenant_id, courier_id, is_enabled, states) values ($1, $2, true, '{received}')`,
      [sandboxId, courierId],
    );
    await service().owner.query(
      `with customer as (
         insert into customers (tenant_id, id, courier_id, user_code, first_name, last_name, email)
         values ($1, gen_random_uuid(), $2, 'SANDBOX-1', 'Marcia', 'Campbell', 'sandbox@quay.example') returning *
       ), package as (
         insert into packages select (jsonb_populate_record(p, jsonb_build_object('id', gen_random_uuid(), 'tenant_id', $1, 'courier_id', $2, 'user_code', 'SANDBOX-1',
           'tracking_number', 'SANDBOXED1', 'tracking_key', 'SANDBOXED1', 'house_number', 'SANDBOXED1', 'manifest_id', null, 'prealert_id', null, 'carrier_id', null,
           'warehouse_id', (select id from warehouses where tenant_id = $1 limit 1)))).*
         from packages p where p.id = $3 returning *
       )
       insert into notices (tenant_id, id, courier_id, customer_id, package_id, tracking_number, state, sequence, status, due_at)
       select c.tenant_id, gen_random_uuid(), c.courier_id, c.id, p.id, p.tracking_number, p.status, 1, 'held', now() from customer c, package p`,
      [sandboxId, courierId, DEMO.packages.shipped.IEX[0]],
    );
    await tellNow();
    const [mail] = await db.all('notice_mails', { tenant_id: sandboxId });
    expect(mail).toMatchObject({ status: 'skipped', last_error: 'no mail leaves a sandbox' });
    expect(await outbox.to('sandbox@quay.example')).toEqual([]);
  });
});

test('a mail and the page of its link have nothing else of the parcel or of others', async () => {
  const customer = await newCustomer();
  const parcel = await receive(customer);
  const { owner } = service();
  await owner.query(
    "update packages set shipper = 'SHIPPERMARK', description = 'GOODSMARK', house_number = 'HOUSEMARK', weight_lb = 98765.432 where id = $1",
    [parcel.id],
  );
  await owner.query(
    "update prealerts set vendor = 'VENDORMARK', reference = 'REFMARK' where tracking_number = $1",
    [parcel.number],
  );
  await owner.query("update customers set last_name = 'NAMEMARK', branch = 'BRANCHMARK' where id = $1", [
    customer.id,
  ]);
  await owner.query(
    "update couriers set address1 = 'ADDRESSMARK', phone_number1 = 'PHONEMARK' where id = $1",
    [DEMO.couriers.IEX],
  );
  await tellNow();
  const [mail] = await outbox.to(customer.email);
  const shown = await page('GET', linkOf(mail).key);
  const { rows } = await owner.query<{ secret: string }>(
    `select p.id::text as secret from packages p union select user_code from customers where id <> $1
     union select name from couriers where id <> $2 union select full_name from users union select email from customers where email <> $3`,
    [customer.id, DEMO.couriers.IEX, customer.email],
  );
  const secrets = [
    ...rows.map(({ secret }) => secret).filter((secret) => secret !== 'Island Express'),
    ...[
      'SHIPPERMARK',
      'GOODSMARK',
      'HOUSEMARK',
      '98765',
      'VENDORMARK',
      'REFMARK',
      'NAMEMARK',
      'BRANCHMARK',
      'ADDRESSMARK',
      'PHONEMARK',
    ],
  ];
  expect(secrets.length).toBeGreaterThan(60);
  for (const text of [mail?.text ?? '', mail?.html ?? '', shown.bytes.toString()]) {
    expect(text.length).toBeGreaterThan(100);
    expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
  }
  expect(shown.bytes.toString()).not.toContain(parcel.number);
});

test('texts of couriers and customers are no markup, no header and no link', async () => {
  const { owner } = service();
  await owner.query('update couriers set name = $2 where id = $1', [
    DEMO.couriers.IEX,
    'Island <b>x</b>\r\nBcc: a@b.example',
  ]);
  await settings({ signature: '<script>x</script>\nwww.evil.example' }).ok();
  const customer = await newCustomer();
  await owner.query("update customers set first_name = '<i>Marcia</i> +1 305 555 0100' where id = $1", [
    customer.id,
  ]);
  await receive(customer);
  await tellNow();
  const [mail] = await outbox.to(customer.email);
  await owner.query("update couriers set name = 'Island Express' where id = $1", [DEMO.couriers.IEX]);
  await settings({ signature: null }).ok();
  expect(Object.keys(mail?.headers ?? {})).not.toContain('bcc');
  expect(mail?.html).not.toMatch(/<script|<b>|<i>/);
  expect(mail?.html.match(/href=/g)).toHaveLength(1);
  expect(mail?.text).not.toContain('www.evil.example');
  expect(mail?.text).not.toContain('555');
});

// Each layer must be sufficient alone.
describe.each([
  ['both layers', {}],
  ['row-level security alone', { applicationFilters: false }],
  ["the application's filters alone", { rowSecurity: false }],
] as const)('notices with %s', (_name, options) => {
  const own = withNotices(options);
  const calls = makeNoticeCalls(own);

  test('are shown to their courier and to the staff of its tenant only', async () => {
    await insertNotices(own.service().owner);
    const couriersOf = async (as: string) => [
      ...new Set((await calls.log({}, as)).map(({ courier_id: id }) => id)),
    ];
    expect([await couriersOf('iex'), await couriersOf('hrb')]).toEqual([
      [DEMO.couriers.IEX],
      [DEMO.couriers.HRB],
    ]);
    expect((await couriersOf('admin')).sort()).toEqual([DEMO.couriers.IEX, DEMO.couriers.HRB].sort());
    expect(await couriersOf('two/two')).toEqual([DEMO.couriers.TWO]);
    expect(await calls.log({ courier_id: DEMO.couriers.HRB }, 'iex')).toEqual(await calls.log({}, 'iex'));
    const { meta } = await own.api
      .as('iex')
      .listNotices({} as never)
      .ok();
    expect(meta.total_records).toBe(3);
    expect((await own.api.as('hrb').getNoticeSettings({}).ok()).data.failed_mails).toBe(1);
    await own.service().owner.query('delete from notices; delete from notice_mails');
  });

  test('are told to the customers of their courier, and their links find nothing of others', async () => {
    for (const as of ['iex', 'hrb'])
      await calls.settings({ is_enabled: true, states: ['received'] }, as).ok();
    const [mine, theirs] = [await calls.newCustomer(), await calls.newCustomer(undefined, 'HRB')];
    // The code of a customer of the other courier.
    await own
      .service()
      .owner.query('update customers set user_code = $2 where id = $1', [theirs.id, mine.userCode]);
    await calls.receive(mine);
    await own.tellNow();
    expect(await own.outbox.to(theirs.email)).toEqual([]);
    const { key } = linkOf((await own.outbox.to(mine.email))[0]);
    expect((await calls.page('GET', key, { host: DEMO.hosts.two })).status).toBe(404);
    expect((await calls.page('GET', key)).status).toBe(200);
    expect((await calls.page('POST', key, { urlencoded: { choice: 'stop' } })).status).toBe(200);
    const choices = await own.db.all('notice_choices', {});
    expect(choices.map(({ courier_id: id }) => id)).toEqual([DEMO.couriers.IEX]);
  });
});
