import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../src/demo/seed.js';
import type { OperationId } from '../src/contract/types.js';
import { operationIds, operationOf } from './support/contract.js';
import {
  canariesIn,
  clone,
  freshManifestNumber,
  freshNumber,
  makeCouriers,
  nobody,
  type Belongings,
  type CourierCode,
} from './support/couriers.js';
import { fingerprint } from './support/fingerprint.js';
import { credentialsOf, PRINCIPALS, type Principal } from './support/principals.js';
import { startService, type Call, type Reply, type Service, type ServiceOptions } from './support/service.js';

/** Whose thing a call names, seen from the caller. */
const KINDS = ['own', 'sibling', 'other', 'unknown'] as const;
type Kind = (typeof KINDS)[number];

type Group = 'managers' | 'warehouse' | 'couriers' | 'disabled' | 'keys' | 'strangers';

const GROUPS: Record<Principal, Group> = {
  anonymous: 'strangers',
  'garbage token': 'strangers',
  'expired token': 'strangers',
  admin: 'managers',
  manager: 'managers',
  warehouse: 'warehouse',
  iex: 'couriers',
  hrb: 'couriers',
  disabled: 'disabled',
  'two/admin': 'managers',
  'two/two': 'couriers',
  'key IEX': 'keys',
  'key TWO': 'keys',
};

type Case = {
  operation: OperationId;
  /**
   * The statuses for own, sibling, other tenant's and unknown, or one where nothing is named; a group that is
   * left out is refused by its credential.
   */
  expected: Partial<Record<Group, string>>;
  /** The call that names something of `target`; `home` is the caller's own. */
  call(target: Belongings, home: Belongings, service: Service): Promise<Call> | Call;
};

const refusedCredential = {
  disabled: '403 403 403 403',
  keys: '401 401 401 401',
  strangers: '401 401 401 401',
};
const keyOnly = {
  ...Object.fromEntries(Object.values(GROUPS).map((group) => [group, '401 401 401 401'])),
  keys: '201 400 400 400',
};
const everybody = (statuses: string) =>
  Object.fromEntries(Object.values(GROUPS).map((group) => [group, statuses]));
const staff = (statuses: string, couriers: string) => ({ managers: statuses, warehouse: statuses, couriers });

const ALL = '200 200 200 200';
const NONE = '403 403 403 403';

const CASES: Record<string, Case> = {
  //                                                      own sibling other unknown
  submitPrealert: { operation: 'submitPrealert', expected: keyOnly, call: announce },
  submitPrealertWithoutSuffix: {
    operation: 'submitPrealertWithoutSuffix',
    expected: keyOnly,
    call: announce,
  },
  'listPrealerts of a courier': {
    operation: 'listPrealerts',
    expected: staff(ALL, ALL),
    call: ({ courierId }) => ({ query: { courier_id: courierId, limit: 500 } }),
  },
  createPrealert: {
    operation: 'createPrealert',
    expected: staff('201 201 404 404', '201 400 400 400'),
    call: ({ courierId, userCode }) => ({
      body: { courier_id: courierId, user_code: userCode, tracking_number: freshNumber(), vendor: 'V' },
    }),
  },
  replacePrealert: {
    operation: 'replacePrealert',
    expected: staff('200 200 404 404', '200 404 404 404'),
    call: ({ prealertId, userCode }) => ({
      body: { prealert_id: prealertId, user_code: userCode, tracking_number: freshNumber(), vendor: 'V' },
    }),
  },
  deletePrealert: {
    operation: 'deletePrealert',
    expected: staff('200 200 404 404', '200 404 404 404'),
    async call(target, _home, { owner }) {
      if (target.code === 'NOBODY') return { body: { prealert_id: target.prealertId } };
      const number = { tracking_number: freshNumber(), tracking_key: freshNumber() };
      return { body: { prealert_id: await clone(owner, 'prealerts', target.prealertId, number) } };
    },
  },
  'searchCustomers of a courier': {
    operation: 'searchCustomers',
    expected: staff(ALL, ALL),
    call: ({ courierId, userCode }) => ({ query: { q: userCode, courier_id: courierId, limit: 50 } }),
  },
  'searchCustomers of a courier, advanced': {
    operation: 'searchCustomers',
    expected: staff(ALL, ALL),
    call: ({ courierId, code }) => ({
      query: { q: `canary ${code}`, courier_id: courierId, advanced: true, limit: 50 },
    }),
  },
  login: {
    operation: 'login',
    expected: everybody('422 422 422 422'),
    call: ({ userCode }) => ({ body: { action: 'login', username: userCode } }),
  },
  'receivePackage for a courier': {
    operation: 'receivePackage',
    expected: staff('201 201 404 404', NONE),
    call: ({ courierId }) => ({ body: { tracking_number: freshNumber(), weight: 1, courier_id: courierId } }),
  },
  'receivePackage for a customer': {
    operation: 'receivePackage',
    expected: staff('201 201 400 400', NONE),
    call: ({ userCode }) => ({ body: { tracking_number: freshNumber(), weight: 1, user_code: userCode } }),
  },
  'receivePackage from a carrier': {
    operation: 'receivePackage',
    expected: staff('201 201 404 404', NONE),
    call: ({ carrierId }) => ({ body: { tracking_number: freshNumber(), weight: 1, carrier_id: carrierId } }),
  },
  'receivePackage at a warehouse': {
    operation: 'receivePackage',
    expected: staff('201 201 404 404', NONE),
    call: ({ warehouseId }) => ({
      body: { tracking_number: freshNumber(), weight: 1, warehouse_id: warehouseId },
    }),
  },
  'retrievePackages of a courier': {
    operation: 'retrievePackages',
    expected: staff(ALL, ALL),
    call: ({ courierId }) => ({ body: { courierID: courierId, limit: 10_000 } }),
  },
  'retrievePackages of a carrier': {
    operation: 'retrievePackages',
    expected: staff(ALL, ALL),
    call: ({ carrierId }) => ({ body: { carrierID: carrierId, limit: 10_000 } }),
  },
  'createManifest at a warehouse': {
    operation: 'createManifest',
    expected: staff('200 200 404 404', NONE),
    call: ({ warehouseId }) => ({ body: { warehouse_id: warehouseId } }),
  },
  'create_manifest at a warehouse': {
    operation: 'manageManifest',
    expected: staff('200 200 404 404', NONE),
    call: ({ warehouseId }) => ({ body: { action: 'create_manifest', warehouse_id: warehouseId } }),
  },
  update_meta: {
    operation: 'manageManifest',
    expected: staff('200 200 404 404', NONE),
    call: ({ manifestId }) => ({
      body: { action: 'update_meta', manifest_id: manifestId, flight_number: freshNumber() },
    }),
  },
  'add_packages to a manifest': {
    operation: 'manageManifest',
    expected: staff('200 200 404 404', NONE),
    async call(target, home, { owner }) {
      // another tenant's manifest is offered the caller's own package; a sibling's manifest stays the sibling's
      const isNear = target.warehouseId === home.warehouseId;
      const packageId = await newPackage(owner, isNear ? target : home, null);
      return { body: { action: 'add_packages', manifest_id: target.manifestId, package_ids: [packageId] } };
    },
  },
  'add_packages of a courier': {
    operation: 'manageManifest',
    expected: staff('200 200 404 404', NONE),
    call: async (target, home, { owner }) => ({
      body: {
        action: 'add_packages',
        manifest_id: await newManifest(owner, home),
        package_ids: [await newPackage(owner, target, null)],
      },
    }),
  },
  'remove_packages from a manifest': {
    operation: 'manageManifest',
    expected: staff('200 200 404 404', NONE),
    async call(target, home, { owner }) {
      const isReal = target.code !== 'NOBODY';
      const packageId = await newPackage(owner, isReal ? target : home, isReal ? target.manifestId : null);
      return {
        body: { action: 'remove_packages', manifest_id: target.manifestId, package_ids: [packageId] },
      };
    },
  },
  delete_manifest: {
    operation: 'manageManifest',
    expected: staff('200 200 404 404', NONE),
    call: async (target, _home, { owner }) => ({
      body: { action: 'delete_manifest', manifest_id: await newManifest(owner, target) },
    }),
  },
  getManifest: {
    operation: 'getManifest',
    expected: staff('200 200 404 404', '200 404 404 404'),
    call: ({ manifestId }) => ({ query: { id: manifestId } }),
  },
  generateCourierInvoice: {
    operation: 'generateCourierInvoice',
    expected: { managers: '200 200 404 404', warehouse: NONE, couriers: '200 403 403 403' },
    call: ({ courierId }) => ({
      body: { courier_id: courierId, start_date: '2020-01-01', end_date: '2100-01-01' },
    }),
  },
  getHealth: { operation: 'getHealth', expected: everybody('200'), call: () => ({}) },
  getReadiness: { operation: 'getReadiness', expected: everybody('200'), call: () => ({}) },
  getContractJson: { operation: 'getContractJson', expected: everybody('200'), call: () => ({}) },
  getContractYaml: { operation: 'getContractYaml', expected: everybody('200'), call: () => ({}) },
};

function announce({ userCode }: Belongings): Call {
  return { body: { UserCode: userCode, TrackingNumber: freshNumber() } };
}

type Owner = Service['owner'];

async function newPackage(
  owner: Owner,
  { code, packageId }: Belongings,
  manifestId: string | null,
): Promise<string> {
  if (code === 'NOBODY') return packageId;
  const number = freshNumber();
  const parcel = {
    tracking_number: number,
    tracking_key: number,
    house_number: number,
    manifest_id: manifestId,
  };
  return clone(owner, 'packages', packageId, parcel);
}

async function newManifest(owner: Owner, { code, manifestId }: Belongings): Promise<string> {
  if (code === 'NOBODY') return manifestId;
  return clone(owner, 'manifests', manifestId, { manifest_number: freshManifestNumber() });
}

// The courier that each kind means, by the courier that the caller belongs or is nearest to.
const NEIGHBOURS: Record<CourierCode, Record<Exclude<Kind, 'unknown'>, CourierCode>> = {
  IEX: { own: 'IEX', sibling: 'HRB', other: 'TWO' },
  HRB: { own: 'HRB', sibling: 'IEX', other: 'TWO' },
  TWO: { own: 'TWO', sibling: 'TWX', other: 'IEX' },
  TWX: { own: 'TWX', sibling: 'TWO', other: 'HRB' },
};

const HOMES: Partial<Record<Principal, CourierCode>> = {
  hrb: 'HRB',
  'two/admin': 'TWO',
  'two/two': 'TWO',
  'key TWO': 'TWO',
};
const homeOf = (principal: Principal): CourierCode => HOMES[principal] ?? 'IEX';

/** Whose text each principal may read; the tenant's own texts carry its slug. */
const READABLE: Partial<Record<Principal, string[]>> = {
  admin: ['IEX', 'HRB', 'demo', 'demo-nobody'],
  manager: ['IEX', 'HRB', 'demo', 'demo-nobody'],
  warehouse: ['IEX', 'HRB', 'demo', 'demo-nobody'],
  iex: ['IEX', 'demo'],
  hrb: ['HRB', 'demo'],
  'two/admin': ['TWO', 'TWX', 'two', 'two-nobody'],
  'two/two': ['TWO', 'two'],
};

function expectReadable(principal: Principal, reply: Reply): void {
  const readable = READABLE[principal] ?? [];
  expect({
    principal,
    leaked: canariesIn(reply.body).filter((reader) => !readable.includes(reader)),
  }).toEqual({
    principal,
    leaked: [],
  });
}

/** A refusal without what differs from call to call: its own id, its time, and the id that was asked for. */
const bytesOf = ({ body }: Reply) =>
  JSON.stringify({ ...body, request_id: '', timestamp: '' }).replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '<id>');

test('every operation is in the table', () => {
  expect(new Set(Object.values(CASES).map(({ operation }) => operation))).toEqual(new Set(operationIds));
});

const LAYERS: [string, ServiceOptions][] = [
  ['both layers', {}],
  ['row-level security alone', { applicationFilters: false }],
  ['the application’s filters alone', { rowSecurity: false }],
];

describe.each(LAYERS)('%s', (_name, options) => {
  let service: Service;
  let couriers: Record<CourierCode, Belongings>;
  let credentials: Map<Principal, Call>;

  beforeAll(async () => {
    service = await startService(options);
    couriers = await makeCouriers(service.owner);
    credentials = new Map();
    for (const principal of PRINCIPALS) credentials.set(principal, await credentialsOf(service, principal));
  });

  afterAll(async () => {
    await service.stop();
  });

  type Cell = { principal: Principal; kind: Kind; call: Call; status: number };

  async function cellsOf({ expected, call }: Case): Promise<Cell[]> {
    const cells: Cell[] = [];
    for (const principal of PRINCIPALS) {
      const row = { ...refusedCredential, ...expected }[GROUPS[principal]] ?? '';
      const statuses = row.split(' ').map(Number);
      const home = couriers[homeOf(principal)];
      for (const [index, kind] of KINDS.slice(0, statuses.length).entries()) {
        const target = kind === 'unknown' ? nobody() : couriers[NEIGHBOURS[homeOf(principal)][kind]];
        const made = await call(target, home, service);
        cells.push({
          principal,
          kind,
          call: { ...made, ...credentials.get(principal) },
          status: statuses[index] ?? 0,
        });
      }
    }
    return cells;
  }

  test.each(Object.entries(CASES))('%s: 13 principals and 4 kinds of id', async (_title, each) => {
    const cells = await cellsOf(each);
    const isWrite = operationOf(each.operation).method !== 'GET';
    const replies = new Map<Cell, Reply>();
    const before = await fingerprint(service.owner);
    for (const cell of cells.filter(({ status }) => status >= 400)) {
      replies.set(cell, await service.call(each.operation, cell.call));
    }
    if (isWrite) expect(await fingerprint(service.owner)).toEqual(before);
    for (const cell of cells.filter(({ status }) => status < 400)) {
      replies.set(cell, await service.call(each.operation, cell.call));
    }
    const shown = (status: (cell: Cell) => number | undefined) =>
      cells.map((cell) => `${cell.principal}, ${cell.kind}: ${status(cell)}`);
    expect(shown((cell) => replies.get(cell)?.status)).toEqual(shown((cell) => cell.status));
    for (const [{ principal }, reply] of replies) expectReadable(principal, reply);
    expectLikeUnknown(cells, replies);
  });

  /** What is another's is refused in the very words of what does not exist. */
  function expectLikeUnknown(cells: Cell[], replies: Map<Cell, Reply>): void {
    for (const principal of PRINCIPALS) {
      const own = cells.filter((cell) => cell.principal === principal);
      const unknown = own.find(({ kind }) => kind === 'unknown');
      const reference = unknown && replies.get(unknown);
      for (const cell of own.filter(({ status }) => status >= 400 && status === unknown?.status)) {
        const reply = replies.get(cell);
        expect([principal, cell.kind, reply && bytesOf(reply)]).toEqual([
          principal,
          cell.kind,
          reference && bytesOf(reference),
        ]);
      }
    }
  }

  const READERS = ['admin', 'warehouse', 'iex', 'hrb', 'two/admin', 'two/two'] as const;

  test.each(READERS)('%s reads and searches everything, and finds only what it may', async (principal) => {
    const list = (query: Record<string, string>) =>
      service.call('listPrealerts', { as: principal, query: { limit: 500, ...query } });
    const retrieve = (filters: Record<string, string>) =>
      service.call('retrievePackages', { as: principal, body: { limit: 10_000, ...filters } });
    const search = (q: string, advanced: boolean) =>
      service.call('searchCustomers', { as: principal, query: { q, advanced, limit: 50 } });
    const replies = [await list({}), await retrieve({})];
    for (const text of [
      'canary:',
      'canary:IEX',
      'canary:HRB',
      'canary:TW',
      'mail.example',
      '-OWN',
      'Marcia Campbel',
    ])
      replies.push(await search(text, false), await search(text, true));
    for (const sort of ['vendor', 'status', 'user_code', 'tracking_number'])
      replies.push(await list({ sort_by: sort }));
    for (const status of ['pending', 'received', 'flagged']) replies.push(await list({ status }));
    for (const text of ['canary:', 'canary:IEX', 'canary:HRB', 'canary:T', '-nobody', '%', '1']) {
      replies.push(await list({ search: text }), await retrieve({ shipper: text }));
    }
    replies.push(await retrieve({ firstName: 'canary:' }), await retrieve({ trackingNumber: '1' }));
    for (const reply of replies) {
      expect(reply.status).toBe(200);
      expectReadable(principal, reply);
    }
    // and what it may read is there
    const found = new Set(replies.flatMap(({ body }) => canariesIn(body)));
    for (const reader of (READABLE[principal] ?? []).filter((each) => /^[A-Z]+$/.test(each)))
      expect(found).toContain(reader);
  });

  test('the figures count what the caller may see, and no more', async () => {
    for (const principal of ['iex', 'hrb', 'two/two'] as const) {
      const { courierId } = couriers[homeOf(principal)];
      const prealerts = await service.call('listPrealerts', { as: principal });
      const packages = await service.call('retrievePackages', { as: principal, body: {} });
      const { rows } = await service.owner.query<{ prealerts: number; packages: number; weight: number }>(
        `select (select count(*)::int from prealerts where courier_id = $1) as prealerts, count(*)::int as packages,
           sum(weight_lb)::float as weight from packages where courier_id = $1`,
        [courierId],
      );
      expect({
        prealerts: prealerts.body['meta'].stats.total,
        packages: packages.body['meta'].total_count,
        weight: packages.body['meta'].total_weight,
      }).toEqual(rows[0]);
    }
  });

  test('on a manifest that two couriers share, each sees its own packages and figures', async () => {
    for (const [principal, code] of [
      ['iex', 'IEX'],
      ['hrb', 'HRB'],
    ] as const) {
      for (const manifestId of Object.values(DEMO.manifests)) {
        const reply = await service.call('getManifest', { as: principal, query: { id: manifestId } });
        expect(reply.status).toBe(200);
        expectReadable(principal, reply);
        expect(Object.keys(reply.body['data'].stats.by_courier)).toEqual([code]);
        const { rows } = await service.owner.query<{ id: string }>(
          'select id from packages where manifest_id = $1 and courier_id = $2',
          [manifestId, couriers[code].courierId],
        );
        const ids = (reply.body['data'].packages as { package_id: string }[]).map((each) => each.package_id);
        expect(ids.sort()).toEqual(rows.map(({ id }) => id).sort());
      }
    }
  });

  test('a preview reads nothing but the courier that it is for', async () => {
    for (const principal of ['admin', 'iex', 'hrb', 'two/admin'] as const) {
      const { courierId, code } = couriers[homeOf(principal)];
      const body = { courier_id: courierId, start_date: '2020-01-01', end_date: '2100-01-01' };
      const reply = await service.call('generateCourierInvoice', { as: principal, body });
      expect(reply.status).toBe(200);
      expect(canariesIn(reply.body).filter((reader) => reader === reader.toUpperCase())).toEqual([code]);
      const { rows } = await service.owner.query<{ id: string }>(
        'select id from packages where courier_id = $1',
        [courierId],
      );
      const ids = (reply.body['data'].packages as { package_id: string }[]).map((each) => each.package_id);
      expect(ids.sort()).toEqual(rows.map(({ id }) => id).sort());
    }
  });

  test('a user of another tenant does not exist here', async () => {
    const tries = [
      { host: 'localhost', username: 'two' },
      { host: DEMO.hosts.two, username: 'iex' },
      { host: 'localhost', username: 'nobody-at-all' },
    ];
    const bytes = [];
    for (const { host, username } of tries) {
      const reply = await service.call('login', {
        host,
        body: { action: 'login', username, password: DEMO.password },
      });
      expect(reply.status).toBe(401);
      bytes.push(bytesOf(reply));
    }
    expect(new Set(bytes).size).toBe(1);
  });
});
