import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { OperationId } from '../../generated/operations.js';
import { DEMO } from '../../fixtures/demo/seed.js';
import { CUSTOMERS, makeParcels, newNumber } from '../support/builders/parcels.js';
import {
  leastSent,
  startCountingProxy,
  type CountingProxy,
  type Sent,
} from '../support/harness/counting-proxy.js';
import { deviceScan } from '../support/scans/device-scans.js';
import { serviceTokenOf } from '../support/service/principals.js';
import { startService, type Call, type Service } from '../support/service/service.js';

let proxy: CountingProxy;
let service: Service;
let parcels: ReturnType<typeof makeParcels>;
let tokens: { courier: string; staff: string };

beforeAll(async () => {
  proxy = await startCountingProxy();
  // One connection, so that each statement is prepared once.
  // The log of calls is written once a second, for no call in particular.
  service = await startService({ through: proxy.through, poolSize: 1, env: { API_CALL_LOG_DAYS: '0' } });
  parcels = makeParcels(service);
  tokens = {
    courier: await serviceTokenOf(service, 'iex', ['prealerts:write']),
    staff: await serviceTokenOf(service, 'admin', ['intake:write']),
  };
});

afterAll(async () => {
  await service.stop();
  await proxy.stop();
});

type Request = Omit<Call, 'as'> & { as?: string };

const staff = (body: object): Request => ({ as: 'admin', body });
const keyed = (body: object): Request => ({ key: DEMO.apiKeys.IEX, body });

const oneScan = (kind: string, scan: string, fields: object): Request => ({
  as: 'warehouse',
  body: { station: 'Scale 1', scans: [deviceScan(kind, scan, 0, fields)] },
});

async function newPackage(fields: object = {}): Promise<string> {
  return parcels.receive(newNumber(), { user_code: CUSTOMERS.IEX, ...fields });
}

async function newManifest(): Promise<string> {
  const { body } = await service.call('createManifest', staff({ awb_number: '106-12345675' }));
  return String(body['data'].manifest_id);
}

async function loadedManifest(): Promise<string> {
  const [manifest_id, id] = [await newManifest(), await newPackage()];
  await manage({ action: 'add_packages', manifest_id, package_ids: [id] });
  return manifest_id;
}

const manage = (body: object) => service.call('manageManifest', staff(body));

/** Each operation's budget of round trips, and how to make a new request of it. */
const BUDGETS: [name: string, roundTrips: number, operation: OperationId, make: () => Promise<Request>][] = [
  [
    'submits a pre-alert',
    1,
    'submitPrealert',
    async () => keyed({ UserCode: CUSTOMERS.IEX, TrackingNumber: newNumber() }),
  ],
  [
    'submits a pre-alert with a service token',
    1,
    'submitPrealert',
    async () => ({
      token: tokens.courier,
      body: { UserCode: CUSTOMERS.IEX, TrackingNumber: newNumber() },
    }),
  ],
  [
    'creates a pre-alert',
    3,
    'createPrealert',
    async () =>
      staff({
        courier_id: DEMO.couriers.IEX,
        user_code: CUSTOMERS.IEX,
        tracking_number: newNumber(),
        vendor: 'Amazon',
      }),
  ],
  [
    'replaces a pre-alert',
    5,
    'replacePrealert',
    async () =>
      staff({
        prealert_id: await parcels.announce('IEX', newNumber()),
        user_code: CUSTOMERS.IEX,
        tracking_number: newNumber(),
        vendor: 'Amazon',
      }),
  ],
  [
    'deletes a pre-alert',
    4,
    'deletePrealert',
    async () => staff({ prealert_id: await parcels.announce('IEX', newNumber()) }),
  ],
  [
    'receives a package',
    3,
    'receivePackage',
    async () => staff({ tracking_number: newNumber(), weight: 1, user_code: CUSTOMERS.IEX }),
  ],
  [
    'receives a package with a service token',
    3,
    'receivePackage',
    async () => ({
      token: tokens.staff,
      body: { tracking_number: newNumber(), weight: 1, user_code: CUSTOMERS.IEX },
    }),
  ],
  [
    // The snapshot that finds a stored response has a message of its own for its commit.
    'receives a package with an Idempotency-Key',
    8,
    'receivePackage',
    async () => ({
      ...staff({ tracking_number: newNumber(), weight: 1, user_code: CUSTOMERS.IEX }),
      headers: { 'idempotency-key': newNumber() },
    }),
  ],
  [
    'receives an announced package',
    3,
    'receivePackage',
    async () => {
      const tracking_number = newNumber();
      await parcels.announce('IEX', tracking_number);
      return staff({ tracking_number, weight: 1 });
    },
  ],
  [
    'receives a package again',
    2,
    'receivePackage',
    async () => {
      const tracking_number = newNumber();
      await parcels.receive(tracking_number);
      return staff({ tracking_number, weight: 1 });
    },
  ],
  [
    'receives a package by scan',
    6,
    'sendScans',
    async () => oneScan('receive', newNumber(), { weight: 1, user_code: CUSTOMERS.IEX }),
  ],
  [
    'puts a package away by scan',
    4,
    'sendScans',
    async () => {
      const scan = newNumber();
      await parcels.receive(scan, { user_code: CUSTOMERS.IEX });
      return oneScan('locate', scan, { location: 'A-1' });
    },
  ],
  [
    'updates a package',
    2,
    'updatePackage',
    async () => staff({ package_id: await newPackage(), description: 'Shoes' }),
  ],
  [
    'changes the number of a package',
    4,
    'updatePackage',
    async () => staff({ package_id: await newPackage(), tracking_number: newNumber() }),
  ],
  [
    'records an event',
    3,
    'recordPackageEvent',
    async () => staff({ package_id: await newPackage(), status: 'on_hold' }),
  ],
  ['creates a manifest', 3, 'createManifest', async () => staff({ awb_number: '106-12345675' })],
  [
    'adds a package to a manifest',
    3,
    'manageManifest',
    async () =>
      staff({
        action: 'add_packages',
        manifest_id: await newManifest(),
        package_ids: [await newPackage()],
      }),
  ],
  [
    'moves a manifest that no package leaves with',
    3,
    'manageManifest',
    async () => staff({ action: 'update_meta', manifest_id: await newManifest(), status: 'ready' }),
  ],
  [
    'moves a ready manifest back to draft',
    4,
    'manageManifest',
    async () => {
      const manifest_id = await newManifest();
      await manage({ action: 'update_meta', manifest_id, status: 'ready' });
      return staff({ action: 'reopen_manifest', manifest_id });
    },
  ],
  [
    'ships a manifest',
    4,
    'manageManifest',
    async () => {
      const manifest_id = await loadedManifest();
      await manage({ action: 'update_meta', manifest_id, status: 'ready' });
      return staff({ action: 'update_meta', manifest_id, status: 'shipped' });
    },
  ],
];

const carrier = async (name: string): Promise<string> => {
  const { body } = await service.call('manageCarriers', staff({ action: 'create', name }));
  return String(body['data'].carrier_id);
};

const customer = () => ({ user_code: newNumber(), first_name: 'Ann', last_name: 'Lee' });

let cents = 100;

/** The budgets of operations that use Prisma's models, whose statements are not prepared. */
const MODEL_BUDGETS: typeof BUDGETS = [
  ['creates a carrier', 2, 'manageCarriers', async () => staff({ action: 'create', name: newNumber() })],
  [
    'renames a carrier',
    3,
    'manageCarriers',
    async () => staff({ action: 'rename', carrier_id: await carrier(newNumber()), name: newNumber() }),
  ],
  [
    'deletes a carrier',
    4,
    'manageCarriers',
    async () => staff({ action: 'delete', carrier_id: await carrier(newNumber()) }),
  ],
  [
    'creates a warehouse',
    4,
    'manageWarehouses',
    async () => staff({ action: 'create', name: newNumber(), city: 'Miami' }),
  ],
  [
    'creates a customer',
    4,
    'createCustomer',
    async () => staff({ courier_id: DEMO.couriers.IEX, ...customer() }),
  ],
  [
    'updates a customer',
    5,
    'updateCustomer',
    async () => {
      const fields = customer();
      const { body } = await service.call(
        'createCustomer',
        staff({ courier_id: DEMO.couriers.IEX, ...fields }),
      );
      return staff({ courier_customer_id: body['data'].id, ...fields, first_name: 'Anna' });
    },
  ],
  [
    'sets the price of air freight',
    3,
    'manageCourierRates',
    async () =>
      staff({
        action: 'update_air_freight',
        courier_id: DEMO.couriers.HRB,
        air_freight_rate: (cents += 1) / 100,
      }),
  ],
];

/** The statements that are not prepared. */
const PARSED: Record<string, number> = {
  // It changes two columns, the number and its key. Such updates have many texts.
  'changes the number of a package': 1,
  // The statement that begins a snapshot.
  'receives a package with an Idempotency-Key': 1,
};

const cheapest = (operation: OperationId, make: () => Promise<Request>): Promise<Sent> =>
  leastSent(proxy, make, async (request) => {
    const { status } = await service.call(operation, request);
    expect([200, 201]).toContain(status);
  });

describe('the round trips of an operation to PostgreSQL', () => {
  test.each(BUDGETS)('%s in %i', async (name, roundTrips, operation, make) => {
    const sent = await cheapest(operation, make);
    const parsed = PARSED[name] ?? 0;
    expect({ roundTrips: sent.roundTrips, parsed: sent.parsed }).toEqual({ roundTrips, parsed });
  });

  test.each(MODEL_BUDGETS)('%s in %i', async (_name, roundTrips, operation, make) => {
    expect((await cheapest(operation, make)).roundTrips).toBe(roundTrips);
  });
});
