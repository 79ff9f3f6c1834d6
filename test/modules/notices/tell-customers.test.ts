import { beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/demo.js';
import { recordQueuedSyncs } from '../../../src/modules/webhooks/delivery/syncs.js';
import { BACKGROUND } from '../../../src/platform/audit/audit.js';
import { makeContext } from '../../../src/platform/context/request-context.js';
import { unchecked } from '../../support/fixture/sent.js';
import { withNotices } from '../../support/fixture/with-notices.js';
import { linkOf, makeNoticeCalls } from './notice-calls.js';

const fixture = withNotices();
const { api, db, outbox, pass, service, tell, tellNow, work } = fixture;
const { arrive, log, newCustomer, receive, record, settings, ship, statesOf } = makeNoticeCalls(fixture);

const ALL_STATES = [
  'received',
  'shipped',
  'in_transit',
  'delivered',
  'on_hold',
  'customs_hold',
  'returned',
  'lost',
];

/** Stores the events of changed packages, as the job of the courier's deliveries does. */
const storeChanges = () => {
  const [tenantId, courierId] = [DEMO.tenants.demo, DEMO.couriers.IEX];
  const ctx = makeContext(service().db, { kind: 'system', tenantId }, BACKGROUND);
  return recordQueuedSyncs(ctx, { tenantId, courierId, endpoint: 'update_package' }, 100);
};

beforeAll(async () => {
  await settings({ is_enabled: true, states: ALL_STATES }).ok();
});

describe('a customer', () => {
  test('is told of each status that a parcel reaches, from the intake to its return', async () => {
    const customer = await newCustomer();
    const parcel = await receive(customer);
    await tellNow();
    const { manifestId } = await ship([parcel]);
    await tellNow();
    for (const status of ['in_transit', 'customs_hold', 'on_hold', 'lost']) {
      await record([parcel.id], status).ok();
      await tellNow();
    }
    await record([parcel.id], 'in_transit').ok();
    await arrive(manifestId).ok();
    await tellNow();
    await record([parcel.id], 'returned').ok();
    await tellNow();
    const mails = await outbox.to(customer.email);
    expect(mails.map(({ subject }) => subject)).toEqual([
      'Your parcel is at the warehouse (Island Express)',
      'Your parcel is on a flight (Island Express)',
      'Your parcel is on its way (Island Express)',
      'Your parcel is at customs (Island Express)',
      'Your parcel is on hold (Island Express)',
      'Your parcel is being looked for (Island Express)',
      'Your parcel has arrived (Island Express)',
      'Your parcel was returned (Island Express)',
    ]);
    expect(
      mails.filter(({ text, html }) => text.includes(parcel.number) && html.includes(parcel.number)),
    ).toHaveLength(8);
    expect(await statesOf(customer)).toEqual([
      'returned sent',
      'delivered sent',
      'lost sent',
      'on_hold sent',
      'customs_hold sent',
      'in_transit sent',
      'shipped sent',
      'received sent',
    ]);
  });

  test('gets a mail in the name of the courier, with its answers going there, and one link', async () => {
    await service().owner.query("update couriers set email = 'desk@island.example' where id = $1", [
      DEMO.couriers.IEX,
    ]);
    const customer = await newCustomer();
    const { number } = await receive(customer);
    await tellNow();
    const [mail, ...others] = await outbox.to(customer.email);
    expect(others).toEqual([]);
    expect(mail?.headers).toMatchObject({
      from: 'Island Express <warehouse@crossdock.example>',
      'reply-to': 'desk@island.example',
      'list-unsubscribe-post': 'List-Unsubscribe=One-Click',
    });
    const { url } = linkOf(mail);
    expect(url).toMatch(/^https:\/\/demo\.crossdock\.example\/notices\/[0-9a-f]{32}$/);
    expect(mail?.text.replaceAll('\r\n', '\n')).toBe(
      `Hello Marcia,\n\nYour parcel is at the warehouse:\n- ${number}\n\n--\nMiami Gateway Logistics sends this mail for Island Express, because you are its customer ${customer.userCode}.\nNo more of these mails: ${url}\n`,
    );
    expect(mail?.html.match(/href="[^"]*"/g)).toEqual([`href="${url}"`]);
  });

  test('is told once, although the event is repeated and 100 runs look at it at once', async () => {
    const customer = await newCustomer();
    const { id } = await receive(customer);
    await service().owner.query(
      `insert into events (tenant_id, id, courier_id, sequence, type, package_id, data)
       select e.tenant_id, gen_random_uuid(), e.courier_id, k.last_sequence + copy, e.type, e.package_id, e.data
       from events e join event_counters k on k.tenant_id = e.tenant_id and k.courier_id = e.courier_id, generate_series(1, 100) as copy
       where e.package_id = $1 and e.type = 'package.created'`,
      [id],
    );
    await service().owner.query(
      'update event_counters set last_sequence = last_sequence + 100 where courier_id = $1',
      [DEMO.couriers.IEX],
    );
    await Promise.all(Array.from({ length: 100 }, () => tell()));
    await pass();
    await Promise.all(Array.from({ length: 100 }, () => tell()));
    await work();
    await tellNow();
    expect(await statesOf(customer)).toEqual(['received sent']);
    expect(await outbox.to(customer.email)).toHaveLength(1);
  });

  test('is not told again when a parcel returns to a status', async () => {
    const customer = await newCustomer();
    const { id } = await receive(customer);
    await tellNow();
    for (const status of ['on_hold', 'released', 'on_hold', 'released']) {
      await record([id], status).ok();
      await tellNow();
    }
    expect(await statesOf(customer)).toEqual(['on_hold sent', 'received sent']);
    expect(await outbox.to(customer.email)).toHaveLength(2);
  });

  test('is told the latest status alone if a parcel has reached several while they were held', async () => {
    const customer = await newCustomer();
    const parcel = await receive(customer);
    await ship([parcel]);
    await tellNow();
    const [mail, ...others] = await outbox.to(customer.email);
    expect(others).toEqual([]);
    expect(mail?.subject).toBe('Your parcel is on a flight (Island Express)');
    expect(await statesOf(customer)).toEqual(['shipped sent', 'received superseded']);
  });

  test('is not told a status that the parcel has lost again before, and is told when it returns', async () => {
    const customer = await newCustomer();
    const parcel = await receive(customer);
    await tellNow();
    await record([parcel.id], 'on_hold').ok();
    await record([parcel.id], 'released').ok();
    await tellNow();
    expect(await statesOf(customer)).toEqual(['on_hold superseded', 'received sent']);
    await record([parcel.id], 'on_hold').ok();
    await tellNow();
    expect(await statesOf(customer)).toEqual(['on_hold sent', 'received sent']);
    expect(await outbox.to(customer.email)).toHaveLength(2);
  });

  test('without an address is listed, and gets nothing', async () => {
    const [none, unusable] = [await newCustomer(null), await newCustomer('at home')];
    await receive(none);
    await receive(unusable);
    await tellNow();
    expect(await statesOf(none)).toEqual(['received no_address']);
    expect(await statesOf(unusable)).toEqual(['received no_address']);
    expect(await db.count('notice_mails', { customer_id: none.id })).toBe(0);
  });

  test('who gets the parcel of another one is told, and the other one gets nothing more', async () => {
    const [wrong, right] = [await newCustomer(), await newCustomer()];
    const parcel = await receive(wrong);
    await tell();
    await api
      .as('manager')
      .updatePackage(unchecked({ package_id: parcel.id, user_code: right.userCode }))
      .ok();
    await storeChanges();
    await tellNow();
    expect(await outbox.to(wrong.email)).toEqual([]);
    expect(await outbox.to(right.email)).toHaveLength(1);
    expect(await log({ user_code: wrong.userCode })).toMatchObject([
      { status: 'cancelled', reason: 'other_customer' },
    ]);
    expect(await statesOf(right)).toEqual(['received sent']);
  });

  test('gets no mail that is queued when the parcel gets another customer', async () => {
    const [wrong, right] = [await newCustomer(), await newCustomer()];
    const parcel = await receive(wrong);
    await tell();
    await pass();
    await tell();
    await service().owner.query('update packages set user_code = $2 where id = $1', [
      parcel.id,
      right.userCode,
    ]);
    await work();
    expect(await outbox.to(wrong.email)).toEqual([]);
    expect(await log({ user_code: wrong.userCode })).toMatchObject([
      { status: 'cancelled', reason: 'the parcels belong to the customer no longer' },
    ]);
  });
});
