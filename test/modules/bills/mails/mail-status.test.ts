import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/demo.js';
import { withService } from '../../../support/fixture/with-service.js';
import { makeMailCalls } from './mail-calls.js';

const fixture = withService();
const { api, service } = fixture;
const { send, newRecipient, published } = makeMailCalls(fixture);

const setLatest = (billId: string, status: string) =>
  service().owner.query(
    `update bill_mails set status = $2, settled_at = now() where id =
       (select id from bill_mails where bill_id = $1 order by created_at desc, id desc limit 1)`,
    [billId, status],
  );

test('a bill shows in the list and alone whether it was sent, and a failed repeat does not hide that', async () => {
  const courierId = await newRecipient('billing@quay.example');
  const billId = await published(courierId);
  const other = await published(courierId);
  const statuses = async () => {
    const { data: rows } = await api.as('manager').listCourierBills({ courier_id: courierId }).ok();
    const { data: bill } = await api.as('manager').getCourierBill({ bill_id: billId }).ok();
    const of = (id: string) => rows.find(({ bill_id: each }) => each === id)?.mail_status;
    expect(bill.mail_status).toBe(of(billId));
    return [of(billId), of(other)];
  };
  expect(await statuses()).toEqual([null, null]);
  await send(billId).ok();
  expect(await statuses()).toEqual(['queued', null]);
  await setLatest(billId, 'skipped');
  expect(await statuses()).toEqual(['skipped', null]);
  await send(billId).ok();
  await setLatest(billId, 'sent');
  await send(billId, { again: true }).ok();
  await setLatest(billId, 'failed');
  expect(await statuses()).toEqual(['sent', null]);
});

// Each layer must be sufficient alone.
describe.each([
  ['both layers', {}],
  ['row-level security alone', { applicationFilters: false }],
  ["the application's filters alone", { rowSecurity: false }],
] as const)('with %s', (_name, options) => {
  const other = withService(options);

  test('a courier does not see whether its bill was sent', async () => {
    const billId = DEMO.bills.published;
    const statusFor = async (as: string) => {
      const { data: rows } = await other.api.as(as).listCourierBills({}).ok();
      const { data: bill } = await other.api.as(as).getCourierBill({ bill_id: billId }).ok();
      return [rows.find(({ bill_id: id }) => id === billId)?.mail_status, bill.mail_status];
    };
    const { owner } = other.service();
    await owner.query(`update couriers set email = 'billing@quay.example' where id = $1`, [
      DEMO.couriers.IEX,
    ]);
    await other.api.as('manager').sendBill({ bill_id: billId }).ok();
    expect(await statusFor('manager')).toEqual(['queued', 'queued']);
    expect(await statusFor('iex')).toEqual([null, null]);
  });
});
