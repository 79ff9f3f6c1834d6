import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../fixtures/demo/seed.js';
import { CALLS, removeCounted } from './authorization/calls.js';
import { casesOf, isWholeMatrix, kindsOf } from './authorization/coverage.js';
import { GROUPS, KINDS, type Kind, type MatrixRow } from './authorization/matrix.js';
import { signStation } from '../../src/modules/auth/station/station-name.js';
import type { OperationId } from '../../src/platform/contract/types.js';
import { lastYear } from '../support/builders/bills.js';
import { operationOf } from '../support/service/contract.js';
import {
  canariesIn,
  makeCouriers,
  malformed,
  nobody,
  type Belongings,
  type CourierCode,
} from '../support/builders/couriers.js';
import { rounds } from '../support/harness/effort.js';
import { fingerprint } from '../support/readers/fingerprint.js';
import { credentialsOf, PRINCIPALS, type Principal } from '../support/service/principals.js';
import {
  startService,
  type Call,
  type Reply,
  type Service,
  type ServiceOptions,
} from '../support/service/service.js';

// The courier that each kind of id refers to, by the caller's own courier (for staff, a courier of its
// tenant).
const COURIERS_BY_KIND: Record<CourierCode, Record<Exclude<Kind, 'unknown' | 'malformed'>, CourierCode>> = {
  IEX: { own: 'IEX', sibling: 'HRB', other: 'TWO' },
  HRB: { own: 'HRB', sibling: 'IEX', other: 'TWO' },
  TWO: { own: 'TWO', sibling: 'TWX', other: 'IEX' },
  TWX: { own: 'TWX', sibling: 'TWO', other: 'HRB' },
};

const OWN_COURIERS: Partial<Record<Principal, CourierCode>> = {
  hrb: 'HRB',
  'two/admin': 'TWO',
  'two/two': 'TWO',
  'key TWO': 'TWO',
};
const ownCourierOf = (principal: Principal): CourierCode => OWN_COURIERS[principal] ?? 'IEX';

/** The canary texts that each principal may read. Texts of the tenant contain its slug. */
const READABLE: Partial<Record<Principal, string[]>> = {
  admin: ['IEX', 'HRB', 'demo', 'demo-nobody'],
  manager: ['IEX', 'HRB', 'demo', 'demo-nobody'],
  warehouse: ['IEX', 'HRB', 'demo', 'demo-nobody'],
  iex: ['IEX', 'demo'],
  hrb: ['HRB', 'demo'],
  'token IEX': ['IEX', 'demo'],
  'token staff': ['IEX', 'HRB', 'demo', 'demo-nobody'],
  'two/admin': ['TWO', 'TWX', 'two', 'two-nobody'],
  'two/two': ['TWO', 'two'],
};

function expectReadable(principal: Principal, reply: Reply): void {
  const readable = READABLE[principal] ?? [];
  expect({
    principal,
    leaked: canariesIn(reply.body).filter((marker) => !readable.includes(marker)),
  }).toEqual({
    principal,
    leaked: [],
  });
}

/** Returns a refusal without the values that differ per call: request id, timestamp and the requested id. */
const comparable = ({ body }: Reply) =>
  JSON.stringify({ ...body, request_id: '', timestamp: '' }).replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '<id>');

/** With a single layer, a principal of each scope reads all lists: staff, and a courier. */
const LIST_READERS: readonly Principal[] = ['admin', 'iex'];

const stationOf = ({ app }: Service) => signStation('station-of-both-tenants', app.secrets);
const stationHeaders = (service: Service) => ({
  cookie: `crossdock-station=${stationOf(service)}`,
  'x-crossdock-user': 'unknown',
  'sec-fetch-site': 'same-origin',
});

/** Lets both tenants remember a worker in the same browser. */
async function shareStation(service: Service): Promise<void> {
  await service.owner.query(
    `with worker as (
       insert into users (tenant_id, id, username, full_name, role, password_hash, pin_hash)
       select id, new_id(), 'shares-a-station', 'canary:' || slug, 'warehouse', 'none', 'hash' from tenants
       returning tenant_id, id, token_version)
     insert into station_workers (tenant_id, id, device_hash, user_id, token_version, expires_at)
     select tenant_id, new_id(), $1, id, token_version, now() + interval '1 hour' from worker`,
    [service.app.secrets.lookupHash(stationOf(service), 'station')],
  );
}

/** Puts a package of each tenant to a place. */
const putPackages = ({ owner }: Service) =>
  owner.query(
    `insert into parcel_positions (tenant_id, parcel_key, scan, location)
     select distinct on (p.tenant_id) p.tenant_id, p.tracking_key, p.tracking_key, 'canary:' || t.slug
     from packages p join tenants t on t.id = p.tenant_id where p.status = 'received' and p.manifest_id is null
     on conflict (tenant_id, parcel_key) do update set location = excluded.location`,
  );

/** Each tenant has a station with a print bridge. */
const connectPrinters = ({ owner }: Service) =>
  owner.query(
    `insert into label_bridges (tenant_id, station, seen_at) select id, 'canary:' || slug, now() from tenants`,
  );

const EXTENT = isWholeMatrix
  ? ['15 principals, for 5 kinds of id', 'each principal that reaches rows, for 4 kinds of id']
  : ['up to 15 principals, for up to 5 kinds of id', 'a principal of each scope, for up to 2 kinds of id'];

const LAYERS: [string, ServiceOptions][] = [
  ['both layers', {}],
  ['row-level security alone', { applicationFilters: false }],
  ["the application's filters alone", { rowSecurity: false }],
];

describe.each(LAYERS)('with %s', (name, options) => {
  const isSingleLayer = name !== 'both layers';
  let service: Service;
  let couriers: Record<CourierCode, Belongings>;
  let credentials: Map<Principal, Call>;

  beforeAll(async () => {
    service = await startService(options);
    couriers = await makeCouriers(service.owner);
    await putPackages(service);
    await connectPrinters(service);
    await shareStation(service);
    credentials = new Map();
    for (const principal of PRINCIPALS) credentials.set(principal, await credentialsOf(service, principal));
  });

  afterAll(async () => {
    await service.stop();
  });

  /** `make` stores what the call needs, and returns the call. */
  type Cell = { principal: Principal; kind: Kind; make: () => Promise<Call>; status: number };

  function cellsOf(row: MatrixRow): Cell[] {
    const { title, expected } = row;
    const cells: Cell[] = [];
    for (const principal of PRINCIPALS) {
      const ownCourier = couriers[ownCourierOf(principal)];
      for (const kind of kindsOf(row, principal, isSingleLayer)) {
        const status = expected[GROUPS[principal]][KINDS.indexOf(kind)];
        if (status === undefined) throw new Error(`${title} has no status for ${kind} ids.`);
        const make = async () => ({
          ...(await CALLS[title](targetOf(principal, kind), ownCourier, service)),
          ...credentials.get(principal),
        });
        cells.push({ principal, kind, make, status });
      }
    }
    return cells;
  }

  function targetOf(principal: Principal, kind: Kind): Belongings {
    if (kind === 'unknown') return nobody();
    if (kind === 'malformed') return malformed();
    return couriers[COURIERS_BY_KIND[ownCourierOf(principal)][kind]];
  }

  test.each(casesOf(isSingleLayer).map((row) => [row.title, row] as const))(
    `%s returns the expected status to ${EXTENT[isSingleLayer ? 1 : 0]}`,
    async (_title, row) => {
      const cells = cellsOf(row);
      const isWrite = operationOf(row.operation).method !== 'GET';
      const refused = cells.filter(({ status }) => status >= 400);
      const allowed = cells.filter(({ status }) => status < 400);
      const isWatched = isWrite && refused.length > 0;
      const replies = new Map<Cell, Reply>();
      // One by one: parallel calls would plan each statement on every connection and start several drawing threads.
      const calls: [Cell, Call][] = [];
      for (const cell of refused) calls.push([cell, await cell.make()]);
      const before = isWatched && (await fingerprint(service.owner));
      for (const [cell, call] of calls) replies.set(cell, await service.call(row.operation, call));
      if (isWatched) expect(await fingerprint(service.owner)).toEqual(before);
      for (const cell of allowed) {
        await removeCounted(service.owner);
        replies.set(cell, await service.call(row.operation, await cell.make()));
      }
      const statusLines = (status: (cell: Cell) => number | undefined) =>
        cells.map((cell) => `${cell.principal}, ${cell.kind}: ${status(cell)}`);
      expect(statusLines((cell) => replies.get(cell)?.status)).toEqual(statusLines((cell) => cell.status));
      for (const [{ principal }, reply] of replies) expectReadable(principal, reply);
      expectLikeUnknown(cells, replies);
      for (const [{ kind, status }, { body }] of replies) {
        if (kind === 'malformed' && status === 400) expect(body['code']).toBe('validation_failed');
      }
    },
  );

  /** Asserts that another's record and a missing record get identical responses. */
  function expectLikeUnknown(cells: Cell[], replies: Map<Cell, Reply>): void {
    for (const principal of PRINCIPALS) {
      const own = cells.filter((cell) => cell.principal === principal);
      const unknown = own.find(({ kind }) => kind === 'unknown');
      const reference = unknown && replies.get(unknown);
      const alike = own.filter(({ kind, status }) => kind !== 'malformed' && status === unknown?.status);
      for (const cell of alike.filter(({ status }) => status >= 400)) {
        const reply = replies.get(cell);
        expect([principal, cell.kind, reply && comparable(reply)]).toEqual([
          principal,
          cell.kind,
          reference && comparable(reference),
        ]);
      }
    }
  }

  const READING_PRINCIPALS = ['admin', 'warehouse', 'iex', 'hrb', 'two/admin', 'two/two'] as const;

  // With a single layer, a principal of each scope reads all lists. With both layers, the others do.
  const readers = READING_PRINCIPALS.filter(
    (principal) => isWholeMatrix || LIST_READERS.includes(principal) === isSingleLayer,
  );

  // What each layer hides alone, both hide: with both, each list is read once. All these are in `npm run test:long`.
  const some = <Value>(values: Value[], gate = values.length): Value[] =>
    values.slice(0, rounds(isSingleLayer ? gate : 1, values.length));

  /** Couriers whose ids a reader names. The matrix names those of each kind, with each layer. */
  const named = () => (isWholeMatrix ? Object.values(couriers) : []);

  test.each(readers)('%s finds only permitted records in every list', async (principal) => {
    const list = (query: Record<string, string>) =>
      service.call('listPrealerts', { as: principal, query: { limit: 500, ...query } });
    const retrieve = (filters: Record<string, string | boolean>) =>
      service.call('listPackages', { as: principal, body: { limit: 10_000, ...filters } });
    const bills = (query: Record<string, string>) =>
      service.call('listCourierBills', { as: principal, query });
    const customers = (query: Record<string, string | number>) =>
      service.call('listCustomers', { as: principal, query: { limit: 100, ...query } });
    const replies = [await list({}), await retrieve({}), await customers({ action: 'branches' })];
    replies.push(await retrieve({ export: true }));
    const file = { as: principal, query: { limit: 10_000 } };
    replies.push(
      await service.call('exportCustomersCsv', file),
      await service.call('exportCustomersXlsx', file),
    );
    for (const page of some([1, 2, 3, 4])) replies.push(await customers({ page }));
    const sorts = ['user_code', 'courier_name', 'last_name', 'branch', 'created_at', 'updated_at'];
    for (const sort of some(sorts, 2))
      replies.push(await customers({ sort_by: sort }), await customers({ sort_by: sort, sort_dir: 'DESC' }));
    for (const code of some(['HRB', 'TWO', 'IEX']))
      replies.push(await customers({ branch: `Kingston canary:${code}` }));
    const search = (q: string, advanced: boolean) =>
      service.call('searchCustomers', { as: principal, query: { q, advanced, limit: 50 } });
    const found = [
      'canary:',
      'canary:HRB',
      'canary:TW',
      'Marcia Campbel',
      'canary:IEX',
      'mail.example',
      '-OWN',
    ];
    for (const text of some(found, 4)) replies.push(await search(text, false), await search(text, true));
    for (const sort of some(['vendor', 'status', 'user_code', 'tracking_number']))
      replies.push(await list({ sort_by: sort }));
    for (const status of some(['pending', 'received', 'flagged'])) replies.push(await list({ status }));
    const searches = ['canary:', 'canary:HRB', 'canary:T', '-nobody', '%', 'canary:IEX', '1'];
    for (const text of some(searches, 3)) {
      replies.push(await list({ search: text }), await retrieve({ shipper: text }));
      replies.push(await customers({ search: text }));
      replies.push(await customers({ search: text, sort_by: 'courier_name' }));
    }
    const own = couriers[ownCourierOf(principal)];
    const history = await service.call('listPackageEvents', {
      as: principal,
      query: { package_id: own.packageId },
    });
    expect(canariesIn(history.body)).toContain(own.code);
    replies.push(history);
    const syncs = (query: Record<string, string | number>) =>
      service.call('listCustomerSyncs', { as: principal, query: { limit: 100, ...query } });
    replies.push(await syncs({}), await syncs({ limit: 1 }), await syncs({ status: 'failed' }));
    for (const { courierId } of named()) replies.push(await syncs({ courier_id: courierId }));
    if (principal !== 'warehouse') replies.push(await bills({}), await bills({ status: 'draft' }));
    if (principal !== 'warehouse') replies.push(await readBill(principal));
    if (principal !== 'warehouse') replies.push(await readAccount(principal));
    for (const { code, billId } of named()) {
      const query = { bill_id: billId, format: 'csv' };
      const file = await service.call('downloadCourierBill', { as: principal, query });
      if (file.status === 200) replies.push(file);
      expect([code, file.status === 200]).toEqual([
        code,
        READABLE[principal]?.includes(code) && principal !== 'warehouse',
      ]);
    }
    if (/admin/.test(principal)) replies.push(await service.call('getCourierRates', { as: principal }));
    replies.push(...(await readAdministration(principal)));
    if (/admin/.test(principal)) {
      const query = { ...lastYear(), limit: 1000 };
      replies.push(await service.call('getBillingReconciliation', { as: principal, query }));
    }
    const users = (query: Record<string, string | number>) =>
      service.call('listUsers', { as: principal, query: { limit: 500, ...query } });
    if (/admin/.test(principal))
      replies.push(await users({}), await users({ search: 'canary:' }), await users({ role: 'courier' }));
    const team = (query: Record<string, string | number>) =>
      service.call('listTeam', { as: principal, query: { limit: 500, ...query } });
    if (principal !== 'warehouse')
      replies.push(await team({}), await team({ search: 'canary:' }), await team({ role: 'courier' }));
    replies.push(await service.call('getTwoFactor', { as: principal }));
    replies.push(await service.call('getPreferences', { as: principal }));
    replies.push(await service.call('getDeviceSession', { as: principal }));
    const workers = await service.call('listStationWorkers', {
      as: principal,
      headers: stationHeaders(service),
    });
    expect(canariesIn(workers.body)).toEqual([principal.startsWith('two') ? 'two' : 'demo']);
    replies.push(workers);
    const sessions = await service.call('listSessions', { as: principal });
    expect(canariesIn(sessions.body)).toEqual([principal.startsWith('two') ? 'two' : 'demo']);
    replies.push(sessions);
    replies.push(await service.call('getTenantSettings', { as: principal }));
    if (/admin/.test(principal)) replies.push(await service.call('getSecuritySettings', { as: principal }));
    replies.push(await retrieve({ firstName: 'canary:' }), await retrieve({ trackingNumber: '1' }));
    const settingsOf = (id: string) => service.call('getCourierSettings', { as: principal, query: { id } });
    const setUpOf = (id: string) => service.call('getCourierSetUp', { as: principal, query: { id } });
    if (principal !== 'warehouse') {
      const { courierId } = couriers[ownCourierOf(principal)];
      replies.push(await settingsOf(courierId), await setUpOf(courierId));
    }
    replies.push(...(await readOutbound(principal)));
    if (/admin/.test(principal)) replies.push(...(await readAuditLog(principal)));
    for (const reply of replies) {
      expect(reply.status).toBe(200);
      expectReadable(principal, reply);
    }
    // Every permitted courier's text was found.
    const markers = new Set(replies.flatMap(({ body }) => canariesIn(body)));
    for (const marker of (READABLE[principal] ?? []).filter((each) => /^[A-Z]+$/.test(each)))
      expect(markers).toContain(marker);
  });

  /**
   * Reads couriers, warehouses and carriers as far as the principal may, and asserts that there are records.
   */
  async function readAdministration(principal: (typeof READING_PRINCIPALS)[number]): Promise<Reply[]> {
    const get = (id: OperationId, query: Call['query'] = {}) =>
      service.call(id, { as: principal, query: { limit: 500, ...query } });
    const [tenant] = principal.startsWith('two') ? ['two'] : ['demo'];
    const shared = [await get('listCarriers')];
    if (/admin|warehouse/.test(principal))
      shared.push(await get('listWarehouses'), await get('listLocations'));
    for (const { body } of shared) expect(canariesIn(body)).toEqual([tenant]);
    if (/admin|warehouse/.test(principal)) {
      // Scans of parcels without an owner name a station too.
      const stations = await get('listStations');
      expect(canariesIn(stations.body)).toContain(tenant);
      shared.push(stations);
    }
    if (!principal.endsWith('admin')) return shared;
    shared.push(await service.call('getPaymentTerms', { as: principal }));
    shared.push(await get('listCourierStatements'));
    shared.push(await service.call('listBillingRun', { as: principal, query: { month: '2024-05' } }));
    const { billId } = couriers[ownCourierOf(principal)];
    const mails = await get('listBillMails', { bill_id: billId });
    // The long run sends further ones.
    const stored = await service.owner.query('select from bill_mails where bill_id = $1', [billId]);
    expect(mails.body['data']).toHaveLength(stored.rowCount ?? 0);
    expect(stored.rowCount).toBeGreaterThan(0);
    shared.push(mails);
    const searches = ['canary:', 'canary:IEX', 'canary:TW', 'e', '%'].map((search) => ({ search }));
    const filters: Call['query'][] = [{ is_active: true }, { is_active: false }, { sort_by: 'courier_code' }];
    const queries = [{}, ...some(filters), ...some(searches, 3)];
    const found: Reply[] = [];
    for (const query of queries) found.push(await get('listCouriers', query));
    const { rows } = await service.owner.query<{ couriers: number; users: number; customers: number }>(
      `select count(*)::int as couriers, (select count(*)::int from users where tenant_id = t.id and courier_id is not null) as users,
         (select count(*)::int from customers where tenant_id = t.id) as customers
       from tenants t join couriers c on c.tenant_id = t.id where t.slug = $1 group by t.id`,
      [tenant],
    );
    const records = (found[0]?.body['data'] ?? []) as { user_count: number; customer_count: number }[];
    const sum = (numbers: number[]) => numbers.reduce((total, each) => total + each, 0);
    expect({
      couriers: records.length,
      users: sum(records.map((each) => each.user_count)),
      customers: sum(records.map((each) => each.customer_count)),
    }).toEqual(rows[0]);
    return [...shared, ...found];
  }

  /**
   * Reads the bill of the principal's own courier. Its canaries belong to that courier and to the billing
   * tenant.
   */
  async function readBill(principal: (typeof READING_PRINCIPALS)[number]): Promise<Reply> {
    const { code, billId } = couriers[ownCourierOf(principal)];
    const reply = await service.call('getCourierBill', { as: principal, query: { bill_id: billId } });
    expect(canariesIn(reply.body)).toContain(code);
    return reply;
  }

  /** Reads the account of the principal's own courier, and asserts that it has movements. */
  async function readAccount(principal: (typeof READING_PRINCIPALS)[number]): Promise<Reply> {
    const { code, courierId } = couriers[ownCourierOf(principal)];
    const query = { courier_id: courierId, from: '2020-01-01', to: '2100-01-01' };
    const reply = await service.call('getCourierStatement', { as: principal, query });
    const { movements } = reply.body['data'];
    expect(new Set(movements.map(({ kind }: { kind: string }) => kind)).size).toBe(3);
    expect(canariesIn(movements)).toEqual([code]);
    return reply;
  }

  /** Reads the delivery log, each courier's events and the dispatches, and asserts that there are records. */
  async function readOutbound(principal: (typeof READING_PRINCIPALS)[number]): Promise<Reply[]> {
    const get = (id: OperationId, query: Record<string, string | number>) =>
      service.call(id, { as: principal, query });
    const replies = [await get('listDispatches', { limit: 100 })];
    for (const { dispatchId } of named())
      replies.push(await get('listDispatches', { dispatch_id: dispatchId }));
    if (principal === 'warehouse') return replies;
    const log = (query: Record<string, string>) => get('listWebhookDeliveries', { limit: 500, ...query });
    replies.push(await log({}), await log({ status: 'failed' }), await log({ endpoint: 'update_package' }));
    replies.push(await log({ type: 'package.updated', from: '2020-01-01', to: '2100-01-01' }));
    const health = (query: Record<string, string> = {}) => get('listWebhookHealth', { limit: 500, ...query });
    replies.push(await health(), await health({ sort_by: 'waiting' }));
    const checks = (query: Record<string, string> = {}) =>
      get('listIntegrationChecks', { limit: 50, ...query });
    replies.push(await checks(), await checks({ endpoint: 'add_package' }));
    const calls = (query: Record<string, string> = {}) => get('listApiCalls', { limit: 500, ...query });
    replies.push(await calls(), await calls({ parcel: 'PLANTED1' }), await calls({ status_class: '4xx' }));
    for (const { eventId, packageId, courierId } of named()) {
      replies.push(await log({ event_id: eventId }), await log({ package_id: packageId }));
      replies.push(await log({ courier_id: courierId }));
      replies.push(await health({ courier_id: courierId }), await checks({ courier_id: courierId }));
      replies.push(await calls({ courier_id: courierId }), await calls({ parcel: packageId }));
    }
    const { code, courierId } = couriers[ownCourierOf(principal)];
    const feed = await get('listEvents', { courier_id: courierId, limit: 1000 });
    expect(canariesIn(feed.body)).toEqual([code]);
    expect(canariesIn((await log({})).body)).toContain(code);
    expect(canariesIn((await health()).body)).toContain(code);
    expect(canariesIn((await checks()).body)).toContain(code);
    expect(canariesIn((await calls()).body)).toContain(code);
    return [...replies, feed];
  }

  /** Reads the audit log by the ids of other couriers, and verifies its chain. */
  async function readAuditLog(principal: string): Promise<Reply[]> {
    const log = (query: Record<string, string | number>) =>
      service.call('listAuditEntries', { as: principal, query: { limit: 500, ...query } });
    const replies = [await log({}), await log({ actor_kind: 'api_key' }), await log({ entity: 'package' })];
    for (const { courierId, packageId, auditId } of named())
      replies.push(
        await log({ actor_id: courierId }),
        await log({ entity_id: packageId }),
        await log({ before: auditId }),
      );
    const verified = await service.call('verifyAuditLog', { as: principal, body: { action: 'verify' } });
    expect(verified.body['data']).toMatchObject({ intact: true, next_after: null });
    return [...replies, verified];
  }

  test('totals count only the records that the caller may see', async () => {
    for (const principal of ['iex', 'hrb', 'two/two'] as const) {
      const { courierId } = couriers[ownCourierOf(principal)];
      const prealerts = await service.call('listPrealerts', { as: principal });
      const packages = await service.call('listPackages', { as: principal, body: {} });
      const customers = await service.call('listCustomers', { as: principal });
      const { rows } = await service.owner.query<Record<string, number>>(
        `select (select count(*)::int from prealerts where courier_id = $1) as prealerts, count(*)::int as packages,
           sum(weight_lb)::float as weight, (select count(*)::int from customers where courier_id = $1) as customers
         from packages where courier_id = $1`,
        [courierId],
      );
      expect({
        prealerts: prealerts.body['meta'].stats.total,
        packages: packages.body['meta'].total_count,
        weight: packages.body['meta'].total_weight,
        customers: customers.body['total'],
      }).toEqual(rows[0]);
    }
  });

  test('a courier sees only its own packages and totals on a shared manifest', async () => {
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

  test('an invoice preview reads only the packages of its courier', async () => {
    for (const principal of ['admin', 'iex', 'hrb', 'two/admin'] as const) {
      const { courierId, code } = couriers[ownCourierOf(principal)];
      const body = { courier_id: courierId, start_date: '2020-01-01', end_date: '2100-01-01' };
      const reply = await service.call('previewCourierInvoice', { as: principal, body });
      expect(reply.status).toBe(200);
      expect(canariesIn(reply.body).filter((marker) => marker === marker.toUpperCase())).toEqual([code]);
      const { rows } = await service.owner.query<{ id: string }>(
        'select id from packages where courier_id = $1',
        [courierId],
      );
      const ids = (reply.body['data'].packages as { package_id: string }[]).map((each) => each.package_id);
      expect(ids.sort()).toEqual(rows.map(({ id }) => id).sort());
    }
  });

  test('an upload writes customers of its own courier only', async () => {
    const uploaders = { admin: 'IEX', iex: 'IEX', hrb: 'HRB', 'two/admin': 'TWO', 'two/two': 'TWO' } as const;
    for (const [principal, own] of Object.entries(uploaders)) {
      const before = await customersOfOthers(couriers[own].courierId);
      const codes = Object.values(couriers).map(({ userCode }) => userCode);
      const file = ['h,h,h,h', ...codes.map((code) => `${code},By ${principal},Upload,Here`)].join('\n');
      // A courier sends its sibling's id, which is ignored.
      const target = principal === 'iex' ? couriers.HRB.courierId : couriers[own].courierId;
      const form = { file: { file }, target_courier_id: target };
      const reply = await service.call('uploadCustomers', { as: principal, form });
      expect([principal, reply.status]).toEqual([principal, 200]);
      expect(await customersOfOthers(couriers[own].courierId)).toEqual(before);
    }
  });

  async function customersOfOthers(courierId: string): Promise<unknown[]> {
    const { rows } = await service.owner.query('select * from customers where courier_id <> $1 order by id', [
      courierId,
    ]);
    return rows;
  }

  test('a login with a username of another tenant fails like one with an unknown username', async () => {
    const tries = [
      { host: 'localhost', username: 'two' },
      { host: DEMO.hosts.two, username: 'iex' },
      { host: 'localhost', username: 'nobody-at-all' },
    ];
    const responses = [];
    for (const { host, username } of tries) {
      const reply = await service.call('login', {
        host,
        body: { action: 'login', username, password: DEMO.password },
      });
      expect(reply.status).toBe(401);
      responses.push(comparable(reply));
    }
    expect(new Set(responses).size).toBe(1);
  });
});
