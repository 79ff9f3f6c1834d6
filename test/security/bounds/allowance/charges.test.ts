import { randomUUID } from 'node:crypto';
import { beforeEach, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { makeBilling } from '../../../support/builders/billing.js';
import { insertBill } from '../../../support/builders/bills.js';
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
