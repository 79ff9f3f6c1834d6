import { beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { demoId } from '../../../../fixtures/demo/values/ids.js';
import { newHouseNumber } from '../../../../src/modules/packages/intake/house-number.js';
import { whileInactive } from '../../../support/harness/inactive-courier.js';
import {
  emptyQueue,
  setWebhookUrls,
  pendingDelivery,
  waitingDeliveryQueues,
} from '../../../support/receivers/outbound.js';
import { withService } from '../../../support/fixture/with-service.js';
import { unchecked } from '../../../support/fixture/sent.js';
import { makeIntake, newNumber, expectReceipt, UNKNOWN_ID, expectError } from './intake-calls.js';

const { IEX, HRB } = DEMO.couriers;

const fixture = withService();
const { service } = fixture;
const { receive, rows, packageRow, webhookEventsOf, addCustomer } = makeIntake(fixture);
beforeAll(async () => {
  await setWebhookUrls(service().owner, [IEX, HRB]);
}, 60_000);

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
          entry_date_time_utc: `${stored.received_at.toISOString().slice(0, 19)}Z`,
          prealert_id: null,
          reference: null,
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
