import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../src/development/demo/seed.js';
import { CALLS } from './authorization/calls.js';
import {
  GROUPS,
  KINDS,
  MATRIX,
  rows,
  type Kind,
  type Matrix,
  type MatrixRow,
} from './authorization/matrix.js';
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
import { fingerprint } from '../support/readers/fingerprint.js';
import { credentialsOf, PRINCIPALS, type Principal } from '../support/service/principals.js';
import {
  startService,
  type Call,
  type Reply,
  type Service,
  type ServiceOptions,
} from '../support/service/service.js';

// The courier that each kind means, by the courier that the caller belongs or is nearest to.
const NEIGHBOURS: Record<CourierCode, Record<Exclude<Kind, 'unknown' | 'malformed'>, CourierCode>> = {
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

/** Fewer than the service has connections. */
const SEVERAL = 8;

test('a matrix that lacks an operation does not compile', () => {
  const { getManifest: _, ...rest } = MATRIX;
  // @ts-expect-error -- getManifest is missing
  const matrixOfLess: Matrix = rest;
  expect(matrixOfLess).toBeDefined();
});

const LAYERS: [string, ServiceOptions][] = [
  ['both layers', {}],
  ['row-level security alone', { applicationFilters: false }],
  ['the application’s filters alone', { rowSecurity: false }],
];

describe.each(LAYERS)('%s', (name, options) => {
  // what is refused by credential, permission or form reaches no row, whichever layer holds: the first run proves it
  const isAlone = name !== 'both layers';
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

  async function cellsOf({ title, expected }: MatrixRow): Promise<Cell[]> {
    const cells: Cell[] = [];
    for (const principal of PRINCIPALS) {
      const home = couriers[homeOf(principal)];
      const statuses = expected[GROUPS[principal]];
      if (isAlone && statuses.every((status) => status === 401 || status === 403)) continue;
      for (const [index, status] of statuses.entries()) {
        const kind = KINDS[index] ?? 'own';
        if (isAlone && kind === 'malformed') continue;
        const made = await CALLS[title](targetOf(principal, kind), home, service);
        cells.push({ principal, kind, call: { ...made, ...credentials.get(principal) }, status });
      }
    }
    return cells;
  }

  function targetOf(principal: Principal, kind: Kind): Belongings {
    if (kind === 'unknown') return nobody();
    if (kind === 'malformed') return malformed();
    return couriers[NEIGHBOURS[homeOf(principal)][kind]];
  }

  test.each(rows.map((row) => [row.title, row] as const))(
    isAlone ? '%s: whoever reaches rows, and 4 kinds of id' : '%s: 13 principals and 5 kinds of id',
    async (_title, row) => {
      const cells = await cellsOf(row);
      const isWrite = operationOf(row.operation).method !== 'GET';
      const refused = cells.filter(({ status }) => status >= 400);
      const allowed = cells.filter(({ status }) => status < 400);
      const isWatched = isWrite && refused.length > 0;
      const before = isWatched && (await fingerprint(service.owner));
      const replies = new Map<Cell, Reply>();
      // what changes nothing is sent several at once, the rest one after the other
      await answer(row.operation, refused, SEVERAL, replies);
      if (isWatched) expect(await fingerprint(service.owner)).toEqual(before);
      await answer(row.operation, allowed, isWrite ? 1 : SEVERAL, replies);
      const shown = (status: (cell: Cell) => number | undefined) =>
        cells.map((cell) => `${cell.principal}, ${cell.kind}: ${status(cell)}`);
      expect(shown((cell) => replies.get(cell)?.status)).toEqual(shown((cell) => cell.status));
      for (const [{ principal }, reply] of replies) expectReadable(principal, reply);
      expectLikeUnknown(cells, replies);
      for (const [{ kind, status }, { body }] of replies) {
        if (kind === 'malformed' && status === 400) expect(body['code']).toBe('validation_failed');
      }
    },
  );

  async function answer(
    operation: OperationId,
    cells: Cell[],
    atOnce: number,
    replies: Map<Cell, Reply>,
  ): Promise<void> {
    const waiting = cells.values();
    const callInTurn = async () => {
      for (const cell of waiting) replies.set(cell, await service.call(operation, cell.call));
    };
    await Promise.all(Array.from({ length: atOnce }, callInTurn));
  }

  /** What is another's is refused in the very words of what does not exist. */
  function expectLikeUnknown(cells: Cell[], replies: Map<Cell, Reply>): void {
    for (const principal of PRINCIPALS) {
      const own = cells.filter((cell) => cell.principal === principal);
      const unknown = own.find(({ kind }) => kind === 'unknown');
      const reference = unknown && replies.get(unknown);
      const alike = own.filter(({ kind, status }) => kind !== 'malformed' && status === unknown?.status);
      for (const cell of alike.filter(({ status }) => status >= 400)) {
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
    const retrieve = (filters: Record<string, string | boolean>) =>
      service.call('retrievePackages', { as: principal, body: { limit: 10_000, ...filters } });
    const bills = (query: Record<string, string>) =>
      service.call('loadCourierBills', { as: principal, query });
    const customers = (query: Record<string, string | number>) =>
      service.call('listCustomers', { as: principal, query: { limit: 100, ...query } });
    const replies = [await list({}), await retrieve({}), await customers({ action: 'branches' })];
    replies.push(await retrieve({ export: true }));
    for (const page of [1, 2, 3, 4]) replies.push(await customers({ page }));
    for (const sort of ['user_code', 'last_name', 'branch', 'courier_name', 'created_at', 'updated_at'])
      replies.push(await customers({ sort_by: sort }), await customers({ sort_by: sort, sort_dir: 'DESC' }));
    for (const code of ['IEX', 'HRB', 'TWO'])
      replies.push(await customers({ branch: `Kingston canary:${code}` }));
    const search = (q: string, advanced: boolean) =>
      service.call('searchCustomers', { as: principal, query: { q, advanced, limit: 50 } });
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
      replies.push(await customers({ search: text }));
      replies.push(await customers({ search: text, sort_by: 'courier_name' }));
    }
    const own = couriers[homeOf(principal)];
    const history = await service.call('packageEvents', {
      as: principal,
      query: { package_id: own.packageId },
    });
    expect(canariesIn(history.body)).toContain(own.code);
    replies.push(history);
    const syncs = (query: Record<string, string | number>) =>
      service.call('listCustomerSyncs', { as: principal, query: { limit: 100, ...query } });
    replies.push(await syncs({}), await syncs({ limit: 1 }), await syncs({ status: 'failed' }));
    for (const code of ['IEX', 'HRB', 'TWO'] as const)
      replies.push(await syncs({ courier_id: couriers[code].courierId }));
    if (principal !== 'warehouse') replies.push(await bills({}), await bills({ status: 'draft' }));
    if (principal !== 'warehouse') replies.push(await readBill(principal));
    if (principal !== 'warehouse') replies.push(await readAccount(principal));
    for (const { code, billId } of Object.values(couriers)) {
      const query = { bill_id: billId, format: 'csv' };
      const file = await service.call('downloadCourierBill', { as: principal, query });
      if (file.status === 200) replies.push(file);
      expect([code, file.status === 200]).toEqual([
        code,
        READABLE[principal]?.includes(code) && principal !== 'warehouse',
      ]);
    }
    if (/admin/.test(principal)) replies.push(await service.call('getCourierRates', { as: principal }));
    replies.push(...(await readRegisters(principal)));
    if (/admin/.test(principal)) {
      const query = { ...lastYear(), limit: 1000 };
      replies.push(await service.call('billingReconciliation', { as: principal, query }));
    }
    const users = (query: Record<string, string | number>) =>
      service.call('listUsers', { as: principal, query: { limit: 500, ...query } });
    if (/admin/.test(principal))
      replies.push(await users({}), await users({ search: 'canary:' }), await users({ role: 'courier' }));
    replies.push(await service.call('getTwoFactor', { as: principal }));
    const sessions = await service.call('listSessions', { as: principal });
    expect(canariesIn(sessions.body)).toEqual([principal.startsWith('two') ? 'two' : 'demo']);
    replies.push(sessions);
    if (/admin/.test(principal)) replies.push(await service.call('getSecuritySettings', { as: principal }));
    replies.push(await retrieve({ firstName: 'canary:' }), await retrieve({ trackingNumber: '1' }));
    const settingsOf = (id: string) => service.call('getCourierSettings', { as: principal, query: { id } });
    if (principal !== 'warehouse') replies.push(await settingsOf(couriers[homeOf(principal)].courierId));
    replies.push(...(await readOutbound(principal)));
    if (/admin/.test(principal)) replies.push(...(await readAuditLog(principal)));
    for (const reply of replies) {
      expect(reply.status).toBe(200);
      expectReadable(principal, reply);
    }
    // and what it may read is there
    const found = new Set(replies.flatMap(({ body }) => canariesIn(body)));
    for (const reader of (READABLE[principal] ?? []).filter((each) => /^[A-Z]+$/.test(each)))
      expect(found).toContain(reader);
  });

  /** The couriers, the warehouses and the carriers, as far as each may read them; and that there is something to see. */
  async function readRegisters(principal: (typeof READERS)[number]): Promise<Reply[]> {
    const get = (id: OperationId, query: Call['query'] = {}) =>
      service.call(id, { as: principal, query: { limit: 500, ...query } });
    const [tenant] = principal.startsWith('two') ? ['two'] : ['demo'];
    const shared = [await get('listCarriers')];
    if (/admin|warehouse/.test(principal)) shared.push(await get('listWarehouses'));
    for (const { body } of shared) expect(canariesIn(body)).toEqual([tenant]);
    if (!principal.endsWith('admin')) return shared;
    const searches = ['canary:', 'canary:IEX', 'canary:TW', 'e', '%'].map((search) => ({ search }));
    const filters: Call['query'][] = [{ is_active: true }, { is_active: false }, { sort_by: 'courier_code' }];
    const queries = [{}, ...filters, ...searches];
    const found = await Promise.all(queries.map((query) => get('listCouriers', query)));
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

  /** The bill of its own courier; the canaries are that courier's, and those of who bills. */
  async function readBill(principal: (typeof READERS)[number]): Promise<Reply> {
    const { code, billId } = couriers[homeOf(principal)];
    const reply = await service.call('getCourierBill', { as: principal, query: { bill_id: billId } });
    expect(canariesIn(reply.body)).toContain(code);
    return reply;
  }

  /** The courier's account; and that there is something to see. */
  async function readAccount(principal: (typeof READERS)[number]): Promise<Reply> {
    const { code, courierId } = couriers[homeOf(principal)];
    const query = { courier_id: courierId, from: '2020-01-01', to: '2100-01-01' };
    const reply = await service.call('courierStatement', { as: principal, query });
    const { movements } = reply.body['data'];
    expect(new Set(movements.map(({ kind }: { kind: string }) => kind)).size).toBe(3);
    expect(canariesIn(movements)).toEqual([code]);
    return reply;
  }

  /** What couriers were sent: the log, each courier's events, the dispatches; and that there is something to see. */
  async function readOutbound(principal: (typeof READERS)[number]): Promise<Reply[]> {
    const get = (id: OperationId, query: Record<string, string | number>) =>
      service.call(id, { as: principal, query });
    const replies = [await get('listDispatches', { limit: 100 })];
    for (const { dispatchId } of Object.values(couriers))
      replies.push(await get('listDispatches', { dispatch_id: dispatchId }));
    if (principal === 'warehouse') return replies;
    const log = (query: Record<string, string>) => get('listWebhookDeliveries', { limit: 500, ...query });
    replies.push(await log({}), await log({ status: 'failed' }), await log({ endpoint: 'update_package' }));
    replies.push(await log({ type: 'package.updated', from: '2020-01-01', to: '2100-01-01' }));
    for (const { eventId, packageId, courierId } of Object.values(couriers)) {
      replies.push(await log({ event_id: eventId }), await log({ package_id: packageId }));
      replies.push(await log({ courier_id: courierId }));
    }
    const { code, courierId } = couriers[homeOf(principal)];
    const feed = await get('readEvents', { courier_id: courierId, limit: 1000 });
    expect(canariesIn(feed.body)).toEqual([code]);
    expect(canariesIn((await log({})).body)).toContain(code);
    return [...replies, feed];
  }

  /** Who changed what, by what others name, and the proof of it. */
  async function readAuditLog(principal: string): Promise<Reply[]> {
    const log = (query: Record<string, string | number>) =>
      service.call('listAuditLog', { as: principal, query: { limit: 500, ...query } });
    const replies = [await log({}), await log({ actor_kind: 'api_key' }), await log({ entity: 'package' })];
    for (const { courierId, packageId, auditId } of Object.values(couriers))
      replies.push(
        await log({ actor_id: courierId }),
        await log({ entity_id: packageId }),
        await log({ before: auditId }),
      );
    const verified = await service.call('verifyAuditLog', { as: principal, body: { action: 'verify' } });
    expect(verified.body['data']).toMatchObject({ intact: true, next_after: null });
    return [...replies, verified];
  }

  test('the figures count what the caller may see, and no more', async () => {
    for (const principal of ['iex', 'hrb', 'two/two'] as const) {
      const { courierId } = couriers[homeOf(principal)];
      const prealerts = await service.call('listPrealerts', { as: principal });
      const packages = await service.call('retrievePackages', { as: principal, body: {} });
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

  test('an upload writes customers of the courier that it is for, and of no other', async () => {
    const uploaders = { admin: 'IEX', iex: 'IEX', hrb: 'HRB', 'two/admin': 'TWO', 'two/two': 'TWO' } as const;
    for (const [principal, own] of Object.entries(uploaders)) {
      const before = await customersOfOthers(couriers[own].courierId);
      const codes = Object.values(couriers).map(({ userCode }) => userCode);
      const file = ['h', ...codes.map((code) => `${code},By ${principal},Upload,Here`)].join('\n');
      // a courier names its sibling, and is not heard
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
