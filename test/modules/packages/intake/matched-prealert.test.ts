import { beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { setWebhookUrls } from '../../../support/receivers/outbound.js';
import { withService } from '../../../support/fixture/with-service.js';
import { makeIntake, newNumber, expectReceipt } from './intake-calls.js';

const { IEX, HRB } = DEMO.couriers;

const fixture = withService();
const { service } = fixture;
const { announce, receive, rows, packageRow, statusOf, auditOf, webhookEventsOf } = makeIntake(fixture);
beforeAll(async () => {
  await setWebhookUrls(service().owner, [IEX, HRB]);
}, 60_000);

describe('number with a pre-alert', () => {
  test('sets courier, customer, vendor and description from the pre-alert and marks it received', async () => {
    const number = newNumber();
    const id = await announce({ code: 'IEX-1003', number, vendor: 'Example Books', description: 'Atlas' });
    const reply = await receive({ tracking_number: number }).succeeded();
    expectReceipt(reply, { courier_id: IEX, user_code: 'IEX-1003', prealert_id: id, matched_by: 'prealert' });
    const [{ first_name, last_name }] = await rows("select * from customers where user_code = 'IEX-1003'");
    expect(await packageRow(reply.data.package_id)).toMatchObject({
      shipper: 'Example Books',
      description: 'Atlas',
      first_name,
      last_name,
    });
    expect(await statusOf(id)).toBe('received');
    expect(await auditOf(id)).toMatchObject([
      { action: 'prealert.received', before: { status: 'pending' }, after: { status: 'received' } },
    ]);
    expect(await webhookEventsOf(reply.data.package_id)).toMatchObject([{ courier_id: IEX }]);
  });

  test('shipper and description in the body take precedence, even if empty', async () => {
    const number = newNumber();
    await announce({ code: 'IEX-1003', number, vendor: 'Theirs', description: 'Theirs' });
    const { data } = await receive({ tracking_number: number, shipper: 'Ours', description: '' }).succeeded();
    expect(await packageRow(data.package_id)).toMatchObject({ shipper: 'Ours', description: '' });
  });

  test.each([
    ['USPS', '9400111899223100009999', '420331269400111899223100009999'],
    ['USPS, ZIP+4', '9400111899223100008888', '4203312612349400111899223100008888'],
    ['FedEx', '794644790132', '9632001960000000000400794644790132'],
    ['FedEx 34-digit that begins with 11', '871079919940', '1195266473930007521100871079919940'],
    ['FedEx 34-digit with a number of 14', '12345678901230', '1201921334250001000312345678901230'],
    ['FedEx 32-digit ASTRA', '784917580286', '32971514560102447849175802862014'],
  ])('matches a scan of the whole %s barcode', async (_name, short, scanned) => {
    const id = await announce({ code: 'IEX-1004', number: short });
    const reply = await receive({ tracking_number: scanned }).succeeded();
    expectReceipt(reply, { prealert_id: id });
    expect((await packageRow(reply.data.package_id)).tracking_number).toBe(scanned);
  });

  test('accepts the same owner in the body', async () => {
    for (const named of [
      { courier_id: IEX },
      { user_code: 'IEX-1005' },
      { courier_id: IEX, user_code: 'IEX-1005' },
    ]) {
      const number = newNumber();
      const id = await announce({ code: 'IEX-1005', number });
      const reply = await receive({ tracking_number: number, ...named }).answer();
      expectReceipt(reply, {
        courier_id: IEX,
        user_code: 'IEX-1005',
        prealert_id: id,
        matched_by: 'prealert',
      });
    }
  });

  test("sets the courier but no customer if the pre-alert's code is no longer an active customer", async () => {
    for (const code of ['IEX-1200', 'NOBODY']) {
      const number = newNumber();
      const id = await announce({ code, number });
      const reply = await receive({ tracking_number: number }).succeeded();
      expectReceipt(reply, { courier_id: IEX, user_code: null, prealert_id: id, matched_by: 'prealert' });
      expect(await statusOf(id)).toBe('received');
      const tracking_number = '*'.repeat(14) + number.slice(-4);
      expect(await webhookEventsOf(reply.data.package_id)).toMatchObject([{ data: { tracking_number } }]);
    }
  });

  test('assigns no owner and flags both pre-alerts if two couriers announced the number', async () => {
    for (const named of [{}, { courier_id: IEX }, { user_code: 'HRB-2001' }]) {
      const number = newNumber();
      const ids = [
        await announce({ code: 'IEX-1001', number }),
        await announce({ courier: HRB, code: 'HRB-2001', number }),
      ];
      const reply = await receive({ tracking_number: number, ...named }).succeeded();
      expectReceipt(reply, { courier_id: null, user_code: null, prealert_id: null, matched_by: 'none' });
      expect(await Promise.all(ids.map(statusOf))).toEqual(['flagged', 'flagged']);
      expect((await auditOf(ids[0] ?? ''))[0]).toMatchObject({
        action: 'prealert.flagged',
        after: { status: 'flagged' },
      });
      expect(await webhookEventsOf(reply.data.package_id)).toEqual([]);
    }
  });

  test('detects pre-alerts of two couriers in two spellings', async () => {
    const short = '9400111899223100007777';
    const ids = [
      await announce({ code: 'IEX-1001', number: short }),
      await announce({ courier: HRB, code: 'HRB-2001', number: `42033126${short}` }),
    ];
    expectReceipt(await receive({ tracking_number: short }).created(), {
      courier_id: null,
      matched_by: 'none',
    });
    expect(await Promise.all(ids.map(statusOf))).toEqual(['flagged', 'flagged']);
  });

  test('assigns no owner if the body names another courier than the pre-alert', async () => {
    for (const named of [{ courier_id: HRB }, { user_code: 'HRB-2001' }]) {
      const number = newNumber();
      const id = await announce({ code: 'IEX-1001', number });
      const reply = await receive({ tracking_number: number, ...named }).answer();
      expectReceipt(reply, { courier_id: null, user_code: null, prealert_id: null, matched_by: 'none' });
      expect(await statusOf(id)).toBe('flagged');
    }
  });

  test('keeps the courier without a customer if the body names another customer of the same courier', async () => {
    const number = newNumber();
    const id = await announce({ code: 'IEX-1001', number, vendor: 'Not taken' });
    const reply = await receive({ tracking_number: number, user_code: 'IEX-1002' }).succeeded();
    expectReceipt(reply, { courier_id: IEX, user_code: null, prealert_id: null, matched_by: 'none' });
    expect(await statusOf(id)).toBe('flagged');
    expect(await packageRow(reply.data.package_id)).toMatchObject({ first_name: null, shipper: null });
    expect(await webhookEventsOf(reply.data.package_id)).toHaveLength(1);
  });

  test('marks both pre-alerts of one customer received and returns the one spelled as scanned', async () => {
    const short = '9400111899223100006666';
    const ids = [
      await announce({ code: 'IEX-1001', number: short, vendor: 'Short' }),
      await announce({ code: 'IEX-1001', number: `42033126${short}`, vendor: 'Long' }),
    ];
    const reply = await receive({ tracking_number: `42033126${short}` }).answer();
    expectReceipt(reply, { user_code: 'IEX-1001', prealert_id: ids[1], matched_by: 'prealert' });
    expect(await Promise.all(ids.map(statusOf))).toEqual(['received', 'received']);
  });

  test('does not match a flagged pre-alert, also if it is the only one', async () => {
    const number = newNumber();
    const id = await announce({ code: 'IEX-1001', number, status: 'flagged' });
    expectReceipt(await receive({ tracking_number: number }).created(), {
      courier_id: null,
      prealert_id: null,
      matched_by: 'none',
      flagged: true,
    });
    expect(await statusOf(id)).toBe('flagged');
    expect(await auditOf(id)).toEqual([]);
  });

  test('ignores a pre-alert that an earlier package has matched', async () => {
    const number = newNumber();
    await announce({ courier: HRB, code: 'HRB-2001', number, status: 'received' });
    const id = await announce({ code: 'IEX-1001', number });
    expectReceipt(await receive({ tracking_number: number }).created(), { courier_id: IEX, prealert_id: id });
  });

  test('ignores a pre-alert of another tenant', async () => {
    const number = newNumber();
    await announce({ code: 'IEX-1001', number });
    expectReceipt(await receive({ tracking_number: number }, 'two/admin').created(), {
      courier_id: null,
      matched_by: 'none',
    });
  });
});
