import { beforeAll, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { demoId } from '../../../fixtures/demo/values/ids.js';
import { newHouseNumber } from '../../../src/modules/packages/intake/house-number.js';
import { trackingKey } from '../../../src/modules/tracking-numbers/tracking-key.js';
import { whileInactive } from '../../support/harness/inactive-courier.js';
import {
  emptyQueue,
  eventsOf,
  setWebhookUrls,
  pendingDelivery,
  waitingDeliveryQueues,
} from '../../support/receivers/outbound.js';
import { type Reply } from '../../support/service/service.js';
import { withService } from '../../support/fixture/with-service.js';
import { unchecked } from '../../support/fixture/sent.js';

const { IEX, HRB } = DEMO.couriers;
const UNKNOWN_ID = '01930a3e-7c1d-7e11-9c5a-000000000000';
const WHITE_SPACE = [' ', '\t', '\n', '\u00a0', '\u2003', '\ufeff'];

const { api, service } = withService();
beforeAll(async () => {
  await setWebhookUrls(service().owner, [IEX, HRB]);
}, 60_000);

let scans = 0;
const newNumber = () => `1Z${String((scans += 1)).padStart(16, '0')}`;

const receive = (body: object, as = 'warehouse') =>
  api.as(as).receivePackage(unchecked({ weight: 1, ...body }));

async function rows(statement: string, values: unknown[] = []) {
  return (await service().owner.query(statement, values)).rows;
}

const packageRow = async (id: string) => (await rows('select * from packages where id = $1', [id]))[0];
const statusOf = async (id: string) =>
  (await rows('select status from prealerts where id = $1', [id]))[0].status;
const webhookEventsOf = (id: string) => eventsOf(service().owner, [id]);
const auditOf = (id: string) =>
  rows(
    'select action, actor_kind, actor_id, before, after, request_id from audit_entries where entity_id = $1',
    [id],
  );

type PrealertFields = {
  courier?: string;
  code: string;
  number: string;
  vendor?: string;
  description?: string;
  status?: string;
};

async function announce({
  courier = IEX,
  code,
  number,
  vendor,
  description,
  status = 'pending',
}: PrealertFields) {
  const id = randomUUID();
  await rows(
    `insert into prealerts (tenant_id, id, courier_id, user_code, tracking_number, tracking_key, vendor, description, status)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [DEMO.tenants.demo, id, courier, code, number, trackingKey(number), vendor, description, status],
  );
  return id;
}

async function addCustomer(courier: string, code: string, isActive = true) {
  await rows(
    `insert into customers (tenant_id, id, courier_id, user_code, first_name, last_name, is_active)
     values ($1, $2, $3, $4, 'Ada', 'Twin', $5)`,
    [DEMO.tenants.demo, randomUUID(), courier, code, isActive],
  );
}

function expectReceipt(reply: Reply, fields: object) {
  expect(reply.body).toMatchObject({
    status: 'success',
    data: { status: 'received', duplicate: false, ...fields },
  });
  expect(reply.status).toBe(201);
}

function expectError(reply: Reply, status: number, code: string, field?: string) {
  expect(reply.body).toMatchObject({ code });
  expect(reply.status).toBe(status);
  if (field) expect(reply.body.errors.map((error: { field: string }) => error.field)).toContain(field);
}

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

describe('owner named in the body', () => {
  test('a user_code sets the courier and the stored names and creates one event, one delivery and one delivery job', async () => {
    await emptyQueue(service().owner);
    const number = newNumber();
    const reply = await receive({ tracking_number: number, user_code: 'IEX-1001', weight: 4.25 }).succeeded();
    expectReceipt(reply, {
      courier_id: IEX,
      user_code: 'IEX-1001',
      prealert_id: null,
      matched_by: 'user_code',
    });
    const { package_id, house_number } = reply.data;
    const [{ first_name, last_name }] = await rows("select * from customers where user_code = 'IEX-1001'");
    const stored = await packageRow(package_id);
    expect(stored).toMatchObject({ first_name, last_name });
    expect(await webhookEventsOf(package_id)).toEqual([
      {
        id: expect.any(String),
        sequence: expect.any(Number),
        occurred_at: expect.any(Date),
        type: 'package.created',
        courier_id: IEX,
        package_id,
        data: {
          package_id,
          house_number,
          tracking_number: number,
          user_code: 'IEX-1001',
          first_name,
          last_name,
          weight: 4.25,
          length: null,
          width: null,
          height: null,
          package_type: null,
          shipper: null,
          description: null,
          status: 'received',
          manifest_number: null,
          entry_date_time: stored.received_at.toISOString().slice(0, 19).replace('T', ' '),
        },
        deliveries: pendingDelivery(IEX, 'add_package'),
      },
    ]);
    expect(await waitingDeliveryQueues(service().owner, IEX)).toEqual(['add_package']);
    expect(await waitingDeliveryQueues(service().owner, HRB)).toEqual([]);
  });

  test('the event contains every measured field as a number or string', async () => {
    const measures = { weight: 4.125, length: 14, width: 10.5, height: 6.25 };
    const texts = {
      package_type: 'Box',
      shipper: "O'Brien & Søn ✓",
      description: '<b>3</b> books\nand 😀',
    };
    const body = { tracking_number: newNumber(), user_code: 'IEX-1001', ...measures, ...texts };
    const reply = await receive(body).succeeded();
    const [event] = await webhookEventsOf(reply.data.package_id);
    expect(event?.data).toMatchObject({ ...measures, ...texts });
  });

  test('a courier without a URL gets an event but no delivery', async () => {
    await rows('update couriers set api_url_add_package = null where id = $1', [HRB]);
    await emptyQueue(service().owner);
    const reply = await receive({ tracking_number: newNumber(), user_code: 'HRB-2001' }).succeeded();
    await setWebhookUrls(service().owner, [HRB]);
    const event = await webhookEventsOf(reply.data.package_id);
    expect(event).toMatchObject([{ type: 'package.created', courier_id: HRB, deliveries: [] }]);
    expect(await waitingDeliveryQueues(service().owner, HRB)).toEqual([]);
  });

  test('a courier_id alone leaves the customer unknown, and the event masks the tracking number', async () => {
    const number = newNumber();
    const reply = await receive({ tracking_number: number, courier_id: IEX.toUpperCase() }).succeeded();
    expectReceipt(reply, { courier_id: IEX, user_code: null, matched_by: 'none' });
    expect(reply.message).toBe('Package received. Its customer is unknown.');
    const tracking_number = '*'.repeat(14) + number.slice(-4);
    expect(await webhookEventsOf(reply.data.package_id)).toMatchObject([
      { courier_id: IEX, data: { tracking_number, user_code: null, first_name: null, last_name: null } },
    ]);
  });

  test('courier_id and user_code must belong together', async () => {
    const number = newNumber();
    await receive({ tracking_number: number, courier_id: HRB, user_code: 'IEX-1001' }).refused(
      400,
      'unknown_user_code',
    );
    const right = await receive({ tracking_number: number, courier_id: IEX, user_code: 'IEX-1001' }).answer();
    expectReceipt(right, { courier_id: IEX, user_code: 'IEX-1001', matched_by: 'user_code' });
  });

  test('a user_code of two couriers requires the courier_id', async () => {
    await addCustomer(IEX, 'TWIN-1');
    await addCustomer(HRB, 'TWIN-1');
    const number = newNumber();
    await receive({ tracking_number: number, user_code: 'TWIN-1' }).refused(
      400,
      'validation_failed',
      'courier_id',
    );
    const named = await receive({ tracking_number: number, user_code: 'TWIN-1', courier_id: HRB }).answer();
    expectReceipt(named, { courier_id: HRB, user_code: 'TWIN-1' });
  });

  test('a user_code that is active for one of two couriers selects that courier', async () => {
    await addCustomer(IEX, 'TWIN-2', false);
    await addCustomer(HRB, 'TWIN-2');
    expectReceipt(await receive({ tracking_number: newNumber(), user_code: 'TWIN-2' }).created(), {
      courier_id: HRB,
    });
  });

  test.each(['IEX-1200', 'iex-1001', 'IEX 1001', 'TWO-3001', '', 'IEX-%'])(
    'rejects the user_code %j, which is no active customer of the tenant, with 400 and stores nothing',
    async (user_code) => {
      const number = newNumber();
      await receive({ tracking_number: number, user_code }).refused(400, 'unknown_user_code');
      expect(await rows('select id from packages where tracking_number = $1', [number])).toEqual([]);
    },
  );

  test.each([
    ['courier_id', 'courier_not_found', DEMO.couriers.TWO],
    ['carrier_id', 'carrier_not_found', demoId('two', 'carrier', 1)],
    ['warehouse_id', 'warehouse_not_found', DEMO.warehouses.two],
  ])(
    'responds 404 to an unknown %s and identically to one of another tenant',
    async (field, code, foreignId) => {
      const number = newNumber();
      const replies = await Promise.all(
        [UNKNOWN_ID, foreignId].map((id) => receive({ tracking_number: number, [field]: id }).answer()),
      );
      for (const reply of replies) expectError(reply, 404, code);
      expect(replies[0]?.body.message).toBe(replies[1]?.body.message);
      expect(await rows('select id from packages where tracking_number = $1', [number])).toEqual([]);
    },
  );

  test('a disabled courier still receives its packages', async () => {
    const body = { tracking_number: newNumber(), courier_id: HRB, user_code: 'HRB-2001' };
    const reply = await whileInactive(service().owner, HRB, () => receive(body).answer());
    expectReceipt(reply, { courier_id: HRB, user_code: 'HRB-2001' });
  });
});

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

describe.each([
  ["the application's filters alone", { rowSecurity: false }],
  ['row-level security alone', { applicationFilters: false }],
])('with %s', (_name, options) => {
  const other = withService(options);

  const receiveThere = (body: object, as: string) =>
    other.api.as(as).receivePackage(unchecked({ weight: 1, ...body }));

  test("another tenant's records are neither matched nor accepted", async () => {
    const [{ tracking_number }] = (
      await other
        .service()
        .owner.query('select tracking_number from prealerts where id = $1', [DEMO.prealerts.pending.IEX[0]])
    ).rows;
    const reply = await receiveThere({ tracking_number }, 'two/admin').answer();
    expectReceipt(reply, { courier_id: null, user_code: null, prealert_id: null });
    expectReceipt(await receiveThere({ tracking_number }, 'warehouse').created(), {
      courier_id: IEX,
      matched_by: 'prealert',
    });
    const number = newHouseNumber();
    const foreign = [{ courier_id: DEMO.couriers.TWO }, { warehouse_id: DEMO.warehouses.two }];
    for (const named of [...foreign, { carrier_id: demoId('two', 'carrier', 1) }]) {
      expect(await receiveThere({ tracking_number: number, ...named }, 'warehouse').status()).toBe(404);
    }
    await receiveThere({ tracking_number: number, user_code: 'TWO-3001' }, 'warehouse').refused(
      400,
      'unknown_user_code',
    );
  });

  test("the default warehouse is the tenant's own, and tracking numbers are unique per tenant only", async () => {
    const number = newHouseNumber();
    const ours = await receiveThere({ tracking_number: number }, 'warehouse').answer();
    const theirs = await receiveThere({ tracking_number: number }, 'two/admin').answer();
    expect([ours.status, theirs.status]).toEqual([201, 201]);
    const { rows: stored } = await other
      .service()
      .owner.query(
        'select warehouse_id from packages where tracking_number = $1 order by tenant_id = $2 desc',
        [number, DEMO.tenants.demo],
      );
    expect(stored.map((row) => row.warehouse_id)).toEqual([DEMO.warehouses.primary, DEMO.warehouses.two]);
  });
});
