import { beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { demoId } from '../../../../fixtures/demo/values/ids.js';
import { setWebhookUrls } from '../../../support/receivers/outbound.js';
import { withService } from '../../../support/fixture/with-service.js';
import { makeIntake, newNumber, expectReceipt, UNKNOWN_ID } from './intake-calls.js';

const { IEX, HRB } = DEMO.couriers;
const WHITE_SPACE = [' ', '\t', '\n', '\u00a0', '\u2003', '\ufeff'];

const fixture = withService();
const { api, service } = fixture;
const { receive, packageRow, rows, auditOf, webhookEventsOf, announce, statusOf } = makeIntake(fixture);
beforeAll(async () => {
  await setWebhookUrls(service().owner, [IEX, HRB]);
}, 60_000);

describe('stored package', () => {
  test('stores all fields, a house number, a first event and an audit entry, and sends no webhook without an owner', async () => {
    const number = newNumber();
    const carrierId = demoId('demo', 'carrier', 1);
    const text = { package_type: 'Box', shipper: "O'Brien & Søn ✓", description: '<b>3</b> books\nand 😀' };
    const measures = { weight: 4.125, length: 14, width: 10.5, height: 6.25 };
    const body = {
      ...text,
      ...measures,
      tracking_number: number,
      carrier_id: carrierId,
      warehouse_id: DEMO.warehouses.second,
    };
    const reply = await receive(body).succeeded();
    const none = { courier_id: null, user_code: null, prealert_id: null, matched_by: 'none' };
    expectReceipt(reply, none);
    const id = reply.data.package_id;
    const { house_number } = reply.data;
    expect(reply.message).toBe('Package received. Its owner is unknown.');
    expect(await packageRow(id)).toMatchObject({
      ...text,
      weight_lb: '4.125',
      length_in: '14.00',
      width_in: '10.50',
      height_in: '6.25',
      tracking_number: number,
      tracking_key: number,
      house_number,
      status: 'received',
      manifest_id: null,
      carrier_id: carrierId,
      warehouse_id: DEMO.warehouses.second,
      courier_id: null,
      user_code: null,
    });
    expect(await rows('select * from package_events where package_id = $1', [id])).toMatchObject([
      { previous_status: null, status: 'received', actor_user_id: DEMO.users.warehouse, courier_id: null },
    ]);
    expect(await auditOf(id)).toMatchObject([
      {
        action: 'package.received',
        actor_kind: 'user',
        actor_id: DEMO.users.warehouse,
        before: null,
        after: { tracking_number: number, weight_lb: '4.125', house_number, status: 'received' },
        request_id: reply.headers.get('x-request-id'),
      },
    ]);
    expect(await webhookEventsOf(id)).toEqual([]);
  });

  test('requires only number and weight: the default is the primary warehouse, other fields are null', async () => {
    const { data } = await receive({ tracking_number: newNumber() }).succeeded();
    expect(await packageRow(data.package_id)).toMatchObject({
      warehouse_id: DEMO.warehouses.primary,
      carrier_id: null,
      shipper: null,
      description: null,
      length_in: null,
      width_in: null,
      height_in: null,
      package_type: null,
    });
  });

  test('trims the tracking number and otherwise stores it byte for byte', async () => {
    const number = `  ${newNumber().toLowerCase()} Ä${WHITE_SPACE.join('')}`;
    const { data } = await receive({ tracking_number: WHITE_SPACE.join('') + number }).succeeded();
    expect((await packageRow(data.package_id)).tracking_number).toBe(number.trim());
  });

  test('a number in lower case is a later scan of the parcel, and the first spelling stays', async () => {
    const number = newNumber();
    expectReceipt(await receive({ tracking_number: number.toLowerCase() }).created(), {});
    const again = await receive({ tracking_number: number }).answer();
    expect([again.status, again.data.duplicate]).toEqual([200, true]);
    expect((await packageRow(again.data.package_id)).tracking_number).toBe(number.toLowerCase());
  });

  test('stores the same number separately in another tenant', async () => {
    const number = newNumber();
    expectReceipt(await receive({ tracking_number: number }).created(), {});
    expectReceipt(await receive({ tracking_number: number }, 'two/admin').created(), {});
  });

  test('ignores privileged keys in the body', async () => {
    const forged = {
      tenant_id: DEMO.tenants.two,
      id: UNKNOWN_ID,
      status: 'delivered',
      manifest_id: DEMO.manifests.draft,
      house_number: 'MINE',
      received_at: '2020-01-01',
      prealert_id: UNKNOWN_ID,
      first_name: 'Eve',
      tracking_key: 'x',
    };
    const number = newNumber();
    const { data } = await receive({ tracking_number: number, ...forged }).succeeded();
    const stored = await packageRow(data.package_id);
    expect(stored).toMatchObject({
      tenant_id: DEMO.tenants.demo,
      status: 'received',
      manifest_id: null,
      first_name: null,
    });
    expect(stored.house_number).not.toBe('MINE');
    expect([stored.tracking_key, stored.prealert_id]).toEqual([number, null]);
    expect(Date.now() - stored.received_at.getTime()).toBeLessThan(60_000);
  });

  test.each([0.001, 0.1 + 0.2, 4.35, 1.005, 8192.127, 99999.999])(
    'stores a weight of %d exactly',
    async (weight) => {
      const { data } = await receive({ tracking_number: newNumber(), weight }).succeeded();
      expect((await packageRow(data.package_id)).weight_lb).toBe(weight.toFixed(3));
    },
  );

  test('generates another house number if the first one is taken', async () => {
    const taken = (await receive({ tracking_number: newNumber() }).succeeded()).data.house_number;
    // The first two numbers collide. A sequence counts the attempts, because it is not rolled back.
    await rows(`create sequence drawings`);
    await rows(`grant usage on sequence drawings to crossdock_app`);
    await rows(`create function collide() returns trigger language plpgsql as $$
      begin if nextval('drawings') <= 2 then new.house_number := '${taken}'; end if; return new; end $$`);
    await rows('create trigger collide before insert on packages for each row execute function collide()');
    const reply = await receive({ tracking_number: newNumber() }).succeeded();
    await rows('drop trigger collide on packages');
    expectReceipt(reply, {});
    expect(reply.data.house_number).not.toBe(taken);
    expect(await rows('select last_value::int from drawings')).toEqual([{ last_value: 3 }]);
  });
});

describe('second scan of a number', () => {
  test('responds 200 with the first package and changes nothing', async () => {
    const number = newNumber();
    const prealertId = await announce({ code: 'IEX-1001', number });
    const first = await receive({ tracking_number: number, weight: 2 }).succeeded();
    expectReceipt(first, { prealert_id: prealertId, matched_by: 'prealert' });
    const before = await packageRow(first.data.package_id);
    const again = await receive({
      tracking_number: `${number} `,
      weight: 3,
      shipper: 'Else',
      courier_id: HRB,
    }).ok();
    expect(again.data).toEqual({ ...first.data, duplicate: true });
    expect(await packageRow(before.id)).toEqual(before);
    expect(await statusOf(prealertId)).toBe('received');
    expect(await webhookEventsOf(before.id)).toHaveLength(1);
    expect(await auditOf(before.id)).toHaveLength(1);
  });

  test('finds the package by another spelling of its barcode', async () => {
    const short = '9400111899223100001234';
    const first = await receive({ tracking_number: `42033126${short}` }).succeeded();
    expectReceipt(first, {});
    const again = await receive({ tracking_number: short }).answer();
    expect([again.status, again.data.package_id]).toEqual([200, first.data.package_id]);
    expect((await packageRow(first.data.package_id)).tracking_number).toBe(`42033126${short}`);
  });

  test('succeeds even if the body names records that no longer exist', async () => {
    const number = newNumber();
    expectReceipt(await receive({ tracking_number: number, user_code: 'IEX-1002' }).created(), {
      matched_by: 'user_code',
    });
    const again = await receive({
      tracking_number: number,
      user_code: 'GONE',
      courier_id: UNKNOWN_ID,
    }).succeeded();
    expect(again.data).toMatchObject({
      matched_by: 'user_code',
      user_code: 'IEX-1002',
      duplicate: true,
    });
  });

  test('leaves a pre-alert that was created after the first scan unchanged', async () => {
    const number = newNumber();
    expectReceipt(await receive({ tracking_number: number }).created(), {});
    const prealertId = await announce({ code: 'IEX-1001', number });
    expect((await receive({ tracking_number: number }).succeeded()).data).toMatchObject({
      matched_by: 'none',
      duplicate: true,
    });
    expect(await statusOf(prealertId)).toBe('pending');
  });
});

describe('intake errors and access', () => {
  test.each(['admin', 'manager', 'warehouse'])('%s may receive packages', async (as) => {
    expectReceipt(await receive({ tracking_number: newNumber() }, as).created(), {});
  });

  test.each(['iex', 'hrb'])(
    'courier %s may not receive packages and learns nothing about existing numbers',
    async (as) => {
      await receive({ tracking_number: newNumber() }, as).refused(403, 'permission_denied');
    },
  );

  test('denies anonymous callers and disabled accounts', async () => {
    await api.anonymous.receivePackage({ tracking_number: 'x', weight: 1 }).refused(401, 'token_missing');
    await receive({ tracking_number: newNumber() }, 'disabled').refused(403, 'account_disabled');
  });

  test.each([
    ...[undefined, null, '', '   ', WHITE_SPACE.join(''), 12, ['1Z'], 'x'.repeat(256)].map((value) => [
      'tracking_number',
      value,
    ]),
    ...[undefined, null, 0, -1, '1', 100000, 1.0001, 1e-10, true].map((value) => ['weight', value]),
    ...[0, -1, 10000, 1.001, 1e-9, '3'].map((value) => ['length', value]),
    ...['nope', 12, ''].map((value) => ['courier_id', value]),
    ...['nope', ''].map((value) => ['warehouse_id', value]),
    ...[7, 'x'.repeat(101)].map((value) => ['user_code', value]),
    ['description', 'x'.repeat(2001)],
  ] as [string, unknown][])('rejects %s %j with 400 and names the field', async (field, value) => {
    const number = newNumber();
    await receive({ tracking_number: number, [field]: value }).refused(400, 'validation_failed', field);
    expect(await rows('select id from packages where tracking_number = $1', [number])).toEqual([]);
  });

  test('rejects a request without a body', async () => {
    const reply = await api.as('warehouse').receivePackage().answer();
    expect([400, 415]).toContain(reply.status);
  });
});
