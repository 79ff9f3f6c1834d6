import { beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/demo.js';
import { withNotices } from '../../support/fixture/with-notices.js';
import { newNumber, shipPackages } from '../../support/builders/parcels.js';
import { makeNoticeCalls } from './notice-calls.js';

const fixture = withNotices();
const { api, db, outbox, pass, service, tell, tellNow, work } = fixture;
const { newCustomer, receive, settings, statesOf } = makeNoticeCalls(fixture);

const PARCELS = 300;

beforeAll(async () => {
  await settings({ is_enabled: true, states: ['shipped'] }).ok();
});

/** Copies packages of the demo without a manifest, for customers. */
async function addParcels(userCodes: string[]): Promise<string[]> {
  const { rows } = await service().owner.query<{ id: string }>(
    `insert into packages select (jsonb_populate_record(p, jsonb_build_object('id', gen_random_uuid(), 'tracking_number', number, 'tracking_key',
       number, 'house_number', number, 'manifest_id', null, 'prealert_id', null, 'status', 'received', 'user_code', made.user_code))).*
     from packages p,
       lateral (select user_code, $3 || 'X' || n as number from unnest($2::text[]) with ordinality as codes (user_code, n)) made
     where p.id = (select id from packages where courier_id = $1 order by id limit 1) returning id`,
    [DEMO.couriers.IEX, userCodes, newNumber()],
  );
  return rows.map(({ id }) => id);
}

const mailCount = () => db.count('notice_mails', {});

describe('a flight', () => {
  test(`of ${PARCELS} parcels of a customer is told in one mail`, async () => {
    const customer = await newCustomer();
    await shipPackages(api, await addParcels(Array.from({ length: PARCELS }, () => customer.userCode)));
    await tellNow();
    const [mail, ...others] = await outbox.to(customer.email);
    expect(others).toEqual([]);
    expect(mail?.subject).toBe(`${PARCELS} parcels are on a flight (Island Express)`);
    expect(mail?.text.match(/^- /gm)).toHaveLength(PARCELS);
    const stored = await db.all('notices', { customer_id: customer.id });
    expect(stored).toHaveLength(PARCELS);
    expect(new Set(stored.map(({ mail_id: id }) => id)).size).toBe(1);
  }, 60_000);

  test('of more parcels than a mail lists says how many there are', async () => {
    const customer = await newCustomer();
    await shipPackages(api, await addParcels(Array.from({ length: 510 }, () => customer.userCode)));
    await tellNow();
    const [mail] = await outbox.to(customer.email);
    expect(mail?.subject).toBe('510 parcels are on a flight (Island Express)');
    expect(mail?.text.match(/^- /gm)).toHaveLength(500);
    expect(mail?.text).toContain('And 10 more.');
  }, 60_000);

  test(`of ${PARCELS} customers is told in a mail for each, with its own parcel only`, async () => {
    const customers: Awaited<ReturnType<typeof newCustomer>>[] = [];
    for (let n = 0; n < PARCELS; n += 1) customers.push(await newCustomer());
    const ids = await addParcels(customers.map(({ userCode }) => userCode));
    const before = await mailCount();
    await shipPackages(api, ids);
    await tellNow();
    expect((await mailCount()) - before).toBe(PARCELS);
    const { rows } = await service().owner.query<{ number: string; email: string }>(
      `select p.tracking_number as number, cu.email from packages p join customers cu on cu.user_code = p.user_code where p.id = any($1)`,
      [ids],
    );
    const numbers = rows.map(({ number }) => number);
    expect(numbers).toHaveLength(PARCELS);
    const mails = await outbox.to('@quay.example');
    const wrong = rows.filter(({ number, email }) => {
      const own = mails.filter(({ to }) => to === email);
      const named = numbers.filter((each) => own.some(({ text }) => text.includes(`- ${each}\r\n`)));
      return own.length !== 1 || named.join() !== number;
    });
    expect(wrong).toEqual([]);
  }, 120_000);
});

test('what reaches a status within the wait is told in one mail, and what comes later in another', async () => {
  await settings({ states: ['received', 'shipped'] }).ok();
  const customer = await newCustomer();
  await receive(customer);
  await tell();
  await tell();
  expect(await statesOf(customer)).toEqual(['received held']);
  await receive(customer);
  await tell();
  await pass();
  await tell();
  await receive(customer);
  await tellNow();
  expect((await outbox.to(customer.email)).map(({ subject }) => subject)).toEqual([
    '2 parcels are at the warehouse (Island Express)',
    'Your parcel is at the warehouse (Island Express)',
  ]);
});

test('a mail of two statuses has a section for each, in the language of the settings', async () => {
  await settings({ language: 'es' }).ok();
  const customer = await newCustomer();
  const [first, second] = [await receive(customer), await receive(customer)];
  await shipPackages(api, [second.id]);
  await tellNow();
  await settings({ language: 'en' }).ok();
  const [mail] = await outbox.to(customer.email);
  expect(mail?.subject).toBe('Novedades de 2 paquetes (Island Express)');
  expect(mail?.html).toContain('<html lang="es">');
  const text = mail?.text.replaceAll('\r\n', '\n') ?? '';
  expect(text).toContain(`Su paquete está en un vuelo:\n- ${second.number}\n`);
  expect(text).toContain(`Su paquete está en el almacén:\n- ${first.number}\n`);
});

describe('the limits', () => {
  test('of an address hold what is above them, and tell it later in one mail', async () => {
    const customer = await newCustomer();
    await service().owner.query(
      `insert into notice_mails (tenant_id, id, courier_id, customer_id, recipient, address_key, language, status, created_at)
       select tenant_id, gen_random_uuid(), courier_id, id, email, encode(sha256(convert_to(lower(email), 'UTF8')), 'hex'), 'en', 'sent',
         now() - n * interval '1 hour' from customers, generate_series(1, 10) n where id = $1`,
      [customer.id],
    );
    await receive(customer);
    await receive(customer);
    await tellNow();
    expect(await statesOf(customer)).toEqual(['received held', 'received held']);
    const { rows } = await service().owner.query(
      'select extract(epoch from due_at - now()) / 3600 as hours from notices where customer_id = $1',
      [customer.id],
    );
    expect(rows.map(({ hours }) => Math.round(hours))).toEqual([14, 14]);
    expect(await outbox.to(customer.email)).toEqual([]);
    await service().owner.query(
      "update notice_mails set created_at = created_at - interval '1 day' where customer_id = $1",
      [customer.id],
    );
    await tellNow();
    expect((await outbox.to(customer.email)).map(({ subject }) => subject)).toEqual([
      '2 parcels are at the warehouse (Island Express)',
    ]);
  });

  test('of a courier hold what is above them until the next day', async () => {
    const customer = await newCustomer();
    const setUsed = (used: number) =>
      service().owner.query(
        `insert into courier_quotas (tenant_id, courier_id, kind, period_start, used)
         select tenant_id, id, 'notice_mails', date_trunc('day', now() at time zone 'UTC') at time zone 'UTC', $2 from couriers where id = $1
         on conflict (tenant_id, courier_id, kind, period_start) do update set used = excluded.used`,
        [DEMO.couriers.IEX, used],
      );
    const left = async () => (await api.as('iex').getNoticeSettings({}).ok()).data.mails_left_today;
    await setUsed(20_000);
    expect(await left()).toBe(0);
    await receive(customer);
    await tellNow();
    expect(await statesOf(customer)).toEqual(['received held']);
    const [notice] = await db.all('notices', { customer_id: customer.id });
    const tomorrow = new Date();
    tomorrow.setUTCHours(24, 0, 0, 0);
    expect(notice?.due_at?.getTime()).toBeGreaterThanOrEqual(tomorrow.getTime());
    await setUsed(19_998);
    await tellNow();
    expect(await statesOf(customer)).toEqual(['received sent']);
    expect(await left()).toBe(1);
    await setUsed(0);
  });
});

test('what could not be told for three days is cancelled', async () => {
  const customer = await newCustomer();
  await receive(customer);
  await tell();
  await service().owner.query(
    "update notices set created_at = now() - interval '73 hours' where customer_id = $1",
    [customer.id],
  );
  await pass();
  await tell();
  await work();
  expect(await statesOf(customer)).toEqual(['received cancelled']);
  expect(await outbox.to(customer.email)).toEqual([]);
});
