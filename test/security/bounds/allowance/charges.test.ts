import { randomUUID } from 'node:crypto';
import { beforeEach, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { makeApi } from '../../../support/fixture/api.js';
import { easyPost, makeFeedCalls, shopifyOrder, wooOrder } from '../../../modules/feeds/feed-calls.js';
import { makeBilling } from '../../../support/builders/billing.js';
import { insertBill } from '../../../support/builders/bills.js';
import { insertClaim, newNumber } from '../../../support/builders/parcels.js';
import { startService, type Call, type Service } from '../../../support/service/service.js';
import { SMALL, callUntilRefused, newCustomer, storeUsedUp } from './use-up.js';

let service: Service;

// The level of an owner is also in the process, so each test has a service of its own.
beforeEach(async () => {
  service = await startService({ env: SMALL });
});

const stopAfter = async (work: () => Promise<void>) => {
  try {
    await work();
  } finally {
    await service.stop();
  }
};

const batch = (userCode: string, lines: number): Call => ({
  key: DEMO.apiKeys.IEX,
  headers: { 'content-type': 'application/x-ndjson' },
  body: Buffer.from(
    Array.from({ length: lines }, () =>
      JSON.stringify({ UserCode: userCode, TrackingNumber: `B-${randomUUID()}` }),
    ).join('\n'),
  ),
});

test('a batch is given back the lines that it did not create', () =>
  stopAfter(async () => {
    const statuses = [];
    // 200 lines take more than half of the allowance.
    for (let n = 0; n < 5; n += 1)
      statuses.push((await service.call('submitPrealert', batch('NOBODY', 200))).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200]);
    expect((await service.call('submitPrealert', batch('IEX-1001', 200))).status).toBe(200);
    expect((await service.call('submitPrealert', batch('NOBODY', 200))).status).toBe(429);
    expect((await service.call('submitPrealert', batch('NOBODY', 50))).status).toBe(200);
  }));

test('an upload of customers is given back the rows that it did not create or change', () =>
  stopAfter(async () => {
    // 100 rows take a third of the allowance.
    const rows = Array.from({ length: 100 }, (_, n) => `UP-${n},Ana,Castillo`);
    const file = ['user_code,first_name,last_name', ...rows, ''].join('\n');
    const upload = () => service.call('uploadCustomers', { as: 'iex', form: { file: { file } } });
    expect((await upload()).body).toMatchObject({ data: { created: 100 } });
    for (let n = 0; n < 5; n += 1) expect((await upload()).body).toMatchObject({ data: { unchanged: 100 } });
  }));

test('the lines of a draft are counted when they are written', () =>
  stopAfter(async () => {
    const billing = makeBilling(service);
    const courierId = await billing.newCourier();
    // 300 lines of 2 KiB are more than half of the allowance.
    await billing.addPackages(
      courierId,
      Array.from({ length: 300 }, () => ({ weight: '1' })),
    );
    for (let n = 0; n < 2; n += 1) {
      const drafted = await billing.draft(courierId, {}, 'manager');
      expect(drafted.status).toBe(200);
      const last = await billing.remove(drafted.body['data'].bill_id);
      expect(last.status).toBe(n === 0 ? 200 : 429);
    }
    expect((await billing.draft(courierId, {}, 'manager')).status).toBe(429);
    const run = { action: 'draft', month: '2024-05', service_type: 'Air' };
    expect((await service.call('manageBillingRun', { as: 'manager', body: run })).status).toBe(429);
    const other = await billing.newCourier();
    await billing.addPackages(
      other,
      Array.from({ length: 600 }, () => ({ weight: '1' })),
    );
    const ran = { ...run, courier_ids: [other] };
    expect((await service.call('manageBillingRun', { as: 'admin', body: ran })).status).toBe(200);
    expect((await service.call('createCustomer', newCustomer('admin'))).status).toBe(429);
  }));

/** Stores that a user has written so many bytes less than the allowance. */
const leaveBytes = (userId: string, bytes: number) =>
  service.owner.query(
    `insert into write_allowances (tenant_id, principal_kind, principal_id, used, settled_at) values ($1, 'user', $2, $3, now())`,
    [DEMO.tenants.demo, userId, 1024 * 1024 - bytes],
  );

test('a run of bills is charged for the event of each bill', () =>
  stopAfter(async () => {
    for (let n = 0; n < 60; n += 1)
      await insertBill(service.owner, {
        courierId: DEMO.couriers.IEX,
        start: '2023-02-01',
        end: '2023-02-28',
        amount: '10.00',
      });
    // 60 events of 2 KiB take more than what is left; two requests of 4 KiB do not.
    await leaveBytes(DEMO.users.manager, 100 * 1024);
    const run = { action: 'publish', month: '2023-02' };
    const published = await service.call('manageBillingRun', { as: 'manager', body: run });
    expect(published.body['message']).toBe('60 bills published.');
    expect((await service.call('createCustomer', newCustomer('manager'))).status).toBe(429);
  }));

test('a flight is charged for the event of each courier aboard', () =>
  stopAfter(async () => {
    const billing = makeBilling(service);
    const manifestId = await billing.newManifest(null);
    for (let n = 0; n < 30; n += 1)
      await billing.addPackages(await billing.newCourier('0', []), [{ weight: '1', manifest: manifestId }]);
    const update = (status: string) =>
      service.call('manageManifest', {
        as: 'manager',
        body: { action: 'update_meta', manifest_id: manifestId, status },
      });
    // 30 packages of 2 KiB fit; with 30 events of 2 KiB they do not.
    await leaveBytes(DEMO.users.manager, 100 * 1024);
    expect((await update('ready')).status).toBe(200);
    expect((await update('shipped')).status).toBe(200);
    expect((await service.call('createCustomer', newCustomer('manager'))).status).toBe(429);
  }));

test('all users and service tokens of the staff have an allowance together', () =>
  stopAfter(async () => {
    await storeUsedUp(service, [{ kind: 'staff', id: DEMO.tenants.demo }]);
    const { refused } = await callUntilRefused(50, () =>
      service.call('createCustomer', newCustomer('manager')),
    );
    expect(refused.body).toMatchObject({ code: 'quota_exceeded' });
    expect(refused.headers.get('ratelimit-policy')).toBe(
      '"staff-written-bytes";q=10485760;qu="bytes";w=86400',
    );
    expect((await service.call('createCustomer', newCustomer('admin'))).status).toBe(429);
    expect((await service.call('createCustomer', newCustomer('iex'))).status).toBe(200);
    // A refused request is given back what it took from its own allowance.
    for (let n = 0; n < 300; n += 1)
      expect((await service.call('createCustomer', newCustomer('admin'))).status).toBe(429);
    await service.owner.query("delete from write_allowances where principal_kind = 'staff'");
  }));

test('a document of a claim is charged for its bytes once, whatever is in it, and a repetition for nothing', () =>
  stopAfter(async () => {
    const courierId = DEMO.couriers.IEX;
    const claim = await insertClaim(service.owner, { courierId, trackingNumber: newNumber() });
    // Each byte would be a line of 3 KiB if it were a file of rows.
    const file = Buffer.from(`%PDF-1.7\n${'\n'.repeat(300_000)}%%EOF\n`);
    const add = () =>
      service.call('addClaimDocument', { as: 'iex', form: { claim_id: claim, document: { file } } });
    const statuses = [];
    for (let n = 0; n < 6; n += 1) statuses.push((await add()).status);
    expect(statuses).toEqual([201, 201, 201, 201, 201, 201]);
  }));

test('an order of a shop is charged for each of its parcels, and for nothing when it arrives again', () =>
  stopAfter(async () => {
    const { create, send } = makeFeedCalls(makeApi(() => service));
    const feed = await create('iex', 'shopify', undefined, 'IEX-1001');
    const order = () => shopifyOrder({ numbers: Array.from({ length: 50 }, newNumber) });
    const first = order();
    await send(feed, first).ok();
    for (let n = 0; n < 100; n += 1)
      expect((await send(feed, { ...first, n }).ok()).data).toEqual({ outcome: 'repeated' });
    const codes: unknown[] = [];
    while (codes.length < 20 && codes.at(-1) !== 'quota_exceeded')
      codes.push((await send(feed, order()).answer()).code);
    expect(codes.at(-1)).toBe('quota_exceeded');
  }));

test('an event of a feed that arrives again is charged for nothing', () =>
  stopAfter(async () => {
    const { create, send } = makeFeedCalls(makeApi(() => service));
    const feed = await create('iex');
    const event = easyPost({ number: newNumber(), status: 'in_transit', at: '2026-11-20T10:00:00Z' });
    await send(feed, event).ok();
    // 7 KiB each would be more than the allowance.
    for (let n = 0; n < 200; n += 1)
      expect((await send(feed, event).ok()).data).toEqual({ outcome: 'repeated' });
    expect((await service.call('createCustomer', newCustomer('iex'))).status).toBe(200);
  }));

test('events of feeds are refused when their courier has used up what it may write', () =>
  stopAfter(async () => {
    const { create, send } = makeFeedCalls(makeApi(() => service));
    const [easy, shop] = [await create('iex'), await create('iex', 'woocommerce', undefined, 'IEX-1001')];
    await storeUsedUp(service, [{ kind: 'courier', id: DEMO.couriers.IEX }]);
    const number = newNumber();
    const event = easyPost({ number, status: 'in_transit', at: '2026-11-20T10:00:00Z' });
    // The process asks the database when it has granted half of a slice.
    await callUntilRefused(20, () => service.call('createCustomer', newCustomer('iex')));
    for (const [feed, body] of [[easy, event] as const, [shop, wooOrder({ numbers: [number] })] as const])
      expect((await send(feed, body).refused(429, 'quota_exceeded')).message).toContain('written');
    expect(
      (await service.owner.query('select from carrier_states where tracking_key = $1', [number])).rowCount,
    ).toBe(0);
  }));
