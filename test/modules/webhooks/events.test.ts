import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { BACKGROUND } from '../../../src/platform/audit/audit.js';
import { makeContext } from '../../../src/platform/context/request-context.js';
import { raw, sql, type Sql } from '../../../src/platform/db/statements.js';
import type { Caller } from '../../../src/platform/identity/callers.js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { newHouseNumber } from '../../../src/modules/packages/intake/house-number.js';
import {
  recordPackageEvents,
  type EventType,
  type PackageChange,
} from '../../../src/modules/webhooks/events/events.js';
import { deadlocksOf } from '../../support/failures/deadlocks.js';
import { whileInactive } from '../../support/harness/inactive-courier.js';
import { bundle } from '../../support/service/contract.js';
import { rounds } from '../../support/harness/effort.js';
import {
  eventsOf,
  setWebhookUrls,
  pendingDelivery,
  waitingDeliveryQueues,
} from '../../support/receivers/outbound.js';
import { startService, untilAdmitted, type Reply, type Service } from '../../support/service/service.js';
import { assertEventData, assertPayload, webhookTypes } from '../../support/receivers/webhook-payloads.js';

const { IEX, HRB, TWO } = DEMO.couriers;
const { demo, two } = DEMO.tenants;
const CUSTOMERS: Record<string, string> = { [IEX]: 'IEX-1001', [HRB]: 'HRB-2001' };

describe('webhooks in the contract', () => {
  // The bundle has the webhooks next to its paths.
  const { webhooks } = bundle as unknown as { webhooks: Record<string, { post: { requestBody: Body } }> };
  type Body = { content: { 'application/json': { example: Record<string, unknown> } } };
  const examples = Object.values(webhooks)
    .map(({ post }) => post.requestBody.content['application/json'].example)
    // flat-packages.test.ts checks the others.
    .filter((example) => 'type' in example);

  test('each type has a valid example', () => {
    expect(examples.map(({ type }) => type).sort()).toEqual([...webhookTypes].sort());
    for (const example of examples) {
      assertPayload(String(example['type']), example);
      assertEventData(String(example['type']), example['data']);
    }
  });

  test('the validation rejects extra fields, missing fields and the data of another type', () => {
    for (const example of examples) {
      const type = String(example['type']);
      // The data is an object in every example.
      const data = example['data'] as Record<string, unknown>;
      const [first = ''] = Object.keys(data);
      const { [first]: _left, ...less } = data;
      for (const wrong of [{ ...data, courier_id: IEX }, less, { ...data, [first]: 1 }]) {
        expect(() => assertEventData(type, wrong)).toThrow(type);
        expect(() => assertPayload(type, { ...example, data: wrong })).toThrow(type);
      }
      expect(() => assertPayload(type, { ...example, courier_id: IEX })).toThrow(type);
      const other = examples.find((each) => each['type'] !== type);
      expect(() => assertPayload(type, other)).toThrow(type);
    }
  });
});

let service: Service;
beforeAll(async () => {
  // A large pool, so that the callers contend in the database and not for a connection.
  service = await startService({ poolSize: 40 });
  await setWebhookUrls(service.owner, [IEX, HRB]);
  for (const user of ['admin', 'warehouse', 'manager']) await service.tokenOf(user);
}, 60_000);
afterAll(() => service.stop(), 60_000);

const system = (tenantId: string): Caller => ({ kind: 'system', tenantId });

/** Records events in a transaction of their own. */
async function recordEvents(
  tenantId: string,
  type: EventType,
  changes: PackageChange[],
  { db } = service,
): Promise<void> {
  const ctx = makeContext(db, system(tenantId), BACKGROUND);
  await ctx.write((tx) => recordPackageEvents(tx, type, changes));
}

const receive = (courierId: string) =>
  untilAdmitted(() =>
    service.call('receivePackage', {
      as: 'warehouse',
      body: { tracking_number: `EVENTS-${randomUUID()}`, weight: 1, user_code: CUSTOMERS[courierId] },
    }),
  );

const update = (packageId: string, fields: object) =>
  untilAdmitted(() =>
    service.call('updatePackage', { as: 'admin', body: { package_id: packageId, ...fields } }),
  );

const dispatch = (body: object) =>
  untilAdmitted(() =>
    service.call('listPackages', { as: 'manager', body: { action: 'queue_dispatch', ...body } }),
  );

const manage = (body: object) =>
  untilAdmitted(() => service.call('manageManifest', { as: 'warehouse', body }));
const ship = (manifestId: string) =>
  manage({ action: 'update_meta', manifest_id: manifestId, status: 'shipped' });

/** Inserts packages directly, so that they have no events yet. */
async function addPackages(many: number, courierId: string | null, tenantId = demo): Promise<string[]> {
  const fresh = Array.from({ length: many }, () => [`EVENTS-${randomUUID()}`, newHouseNumber()] as const);
  const { rows } = await service.owner.query<{ id: string }>(
    `insert into packages (tenant_id, id, courier_id, tracking_number, tracking_key, house_number, weight_lb, warehouse_id)
     select $1, gen_random_uuid(), $2, number, number, house, 1, w.id
     from unnest($3::text[], $4::text[]) as fresh (number, house), warehouses w
     where w.tenant_id = $1 and w.is_primary returning id`,
    [tenantId, courierId, fresh.map(([number]) => number), fresh.map(([, house]) => house)],
  );
  return rows.map(({ id }) => id);
}

/** Creates a manifest with these packages that is ready to ship. */
async function loadManifest(packageIds: string[]): Promise<string> {
  const created = await untilAdmitted(() => service.call('createManifest', { as: 'warehouse' }));
  const manifestId = String(created.body['data'].manifest_id);
  await manage({ action: 'add_packages', manifest_id: manifestId, package_ids: packageIds });
  await manage({ action: 'update_meta', manifest_id: manifestId, status: 'ready' });
  return manifestId;
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** Records events and then fails, while the counters are locked. */
async function recordAndFail(packageIds: string[]): Promise<void> {
  const changes = packageIds.map((packageId) => ({ packageId }));
  const ctx = makeContext(service.db, system(demo), BACKGROUND);
  const outcome = await ctx
    .write(async (tx) => {
      await recordPackageEvents(tx, 'package.created', changes);
      throw new Error('in vain');
    })
    .catch((error: unknown) => messageOf(error));
  // The transaction got no connection within 2 seconds and did nothing, like a 503. Try again.
  if (/Unable to start a transaction|temporarily unavailable/.test(outcome)) return recordAndFail(packageIds);
  expect(outcome).toBe('in vain');
}

/** Returns for each courier the number of events and the highest sequence that a reader can see now. */
async function readFeeds(): Promise<
  { courier_id: string; events: number; last: number; counted: number | null }[]
> {
  const { rows } = await service.owner.query(
    `select e.courier_id, count(*)::int as events, max(sequence)::int as last,
       (select last_sequence::int from event_counters c where c.courier_id = e.courier_id) as counted
     from events e where sequence is not null group by e.courier_id order by e.courier_id`,
  );
  return rows;
}

/** Sequences are unique. If there are as many as the highest, they are 1, 2, 3 and so on. */
async function expectNoGap(): Promise<void> {
  for (const { events, last, counted } of await readFeeds())
    expect({ events, counted }).toEqual({ events: last, counted: last });
}

const statusesOf = (replies: Reply[]) => [...new Set(replies.map(({ status }) => status))].sort();

describe('event sequences', () => {
  const INTAKES = rounds(30, 200);

  test(`have no gap at any moment during ${INTAKES} intakes of 2 couriers, a shipped manifest and 40 failing transactions`, async () => {
    const ours = await addPackages(10, IEX);
    const theirs = await addPackages(10, HRB);
    const manifestId = await loadManifest([...ours, ...theirs]);
    const before = await readFeeds();
    const watch = { isOver: false, moments: 0 };
    // A reader at number n has seen all events before it: later commits have higher numbers.
    const watching = (async () => {
      for (; !watch.isOver; watch.moments += 1) await expectNoGap();
    })();
    const [replies, shipping] = await Promise.all([
      Promise.all(Array.from({ length: INTAKES }, (_, index) => receive(index % 2 ? IEX : HRB))),
      ship(manifestId),
      ...Array.from({ length: 40 }, (_, index) =>
        recordAndFail(index % 2 ? [...ours, ...theirs] : [...theirs, ...ours].slice(0, 1 + (index % 15))),
      ),
    ]).finally(() => (watch.isOver = true));
    await watching;
    expect([statusesOf(replies), shipping.status]).toEqual([[201], 200]);
    expect(watch.moments).toBeGreaterThan(10);
    await expectNoGap();
    const grown = (await readFeeds()).map(({ courier_id, events }) => [
      courier_id,
      events - (before.find((each) => each.courier_id === courier_id)?.events ?? 0),
    ]);
    expect(new Map(grown as [string, number][])).toEqual(
      new Map([IEX, HRB].map((id) => [id, INTAKES / 2 + 10])),
    );
    const received = replies.map(({ body }) => String(body['data'].package_id));
    for (const { courier_id, type, deliveries } of await eventsOf(service.owner, received))
      expect([type, deliveries]).toEqual(['package.created', pendingDelivery(courier_id, 'add_package')]);
    expect(await eventsOf(service.owner, received)).toHaveLength(INTAKES);
    expect(await eventsOf(service.owner, [...ours, ...theirs], 'package.created')).toEqual([]);
    for (const courierId of [IEX, HRB])
      expect((await waitingDeliveryQueues(service.owner, courierId)).sort()).toEqual([
        'add_package',
        'update_package',
      ]);
  }, 60_000);

  test('number the events of one package in the order in which they happened', async () => {
    const { body } = await receive(IEX);
    const packageId = String(body['data'].package_id);
    const manifestId = await loadManifest([packageId]);
    await ship(manifestId);
    await manage({ action: 'update_meta', manifest_id: manifestId, status: 'completed' });
    const webhookEvents = await eventsOf(service.owner, [packageId]);
    expect(webhookEvents.map(({ type, data }) => [type, data['previous_status'], data['status']])).toEqual([
      ['package.created', undefined, 'received'],
      ['package.status_changed', 'received', 'shipped'],
      ['package.status_changed', 'shipped', 'delivered'],
    ]);
  });

  test('keep the order given within one transaction', async () => {
    const ids = (await addPackages(12, IEX)).reverse();
    const changes = ids.map((packageId) => ({ packageId }));
    await recordEvents(demo, 'package.updated', changes);
    expect((await eventsOf(service.owner, ids)).map(({ package_id }) => package_id)).toEqual(ids);
  });

  test('a failed transaction leaves no event, delivery or number and wakes no delivery queue', async () => {
    const ids = await addPackages(3, HRB);
    await service.owner.query('delete from graphile_worker._private_jobs');
    const before = await readFeeds();
    await recordAndFail(ids);
    expect(await readFeeds()).toEqual(before);
    expect(await waitingDeliveryQueues(service.owner, HRB)).toEqual([]);
    expect((await service.owner.query('select from events where package_id = any($1)', [ids])).rows).toEqual(
      [],
    );
  });

  test('a package without a courier creates no event', async () => {
    const ids = await addPackages(2, null);
    const changes = ids.map((packageId) => ({ packageId }));
    const before = await readFeeds();
    await recordEvents(demo, 'package.created', changes);
    expect(await readFeeds()).toEqual(before);
  });

  test('a disabled courier and a paused URL get the event but no delivery', async () => {
    const [first = '', second = ''] = await addPackages(2, HRB);
    const { owner } = service;
    const record = (packageId: string) => recordEvents(demo, 'package.created', [{ packageId }]);
    await owner.query(
      `insert into webhook_endpoints (tenant_id, courier_id, endpoint, paused_at) values ($1, $2, 'add_package', now())`,
      [demo, HRB],
    );
    await record(first);
    await owner.query('delete from webhook_endpoints');
    await whileInactive(owner, HRB, () => record(second));
    expect((await eventsOf(owner, [first, second])).map(({ deliveries }) => deliveries)).toEqual([[], []]);
  });
});

test('waiting jobs contain only ids and task names, and no tenant data', async () => {
  const [packageId = ''] = await addPackages(1, IEX);
  await receive(HRB);
  await ship(await loadManifest([packageId]));
  await dispatch({ package_ids: [packageId] });
  const { rows } = await service.owner.query<{
    task: string;
    payload: object;
    key: string | null;
    queue: string | null;
  }>(
    `select identifier as task, payload, key, queue_name as queue from graphile_worker._private_jobs j
     join graphile_worker._private_tasks t on t.id = j.task_id
     left join graphile_worker._private_job_queues q on q.id = j.job_queue_id`,
  );
  expect(new Set(rows.map(({ task }) => task))).toEqual(new Set(['deliver', 'sendManifestMail']));
  for (const { payload, key, queue } of rows) {
    const words = [
      ...Object.values(payload).map(String),
      ...[key, queue].flatMap((name) => name?.split(':') ?? []),
    ];
    for (const word of words) expect(word).toMatch(/^([0-9a-f-]{36}|deliver|add_package|update_package)$/);
  }
});

describe('deadlocks', () => {
  const countDeadlocks = () => deadlocksOf(service.owner);

  test('the counter detects a deadlock', async () => {
    const before = await countDeadlocks();
    const [a, b] = [await service.owner.connect(), await service.owner.connect()];
    for (const client of [a, b]) await client.query('begin');
    await a.query('select pg_advisory_xact_lock(1)');
    await b.query('select pg_advisory_xact_lock(2)');
    const crossed = await Promise.allSettled([
      a.query('select pg_advisory_xact_lock(2)'),
      b.query('select pg_advisory_xact_lock(1)'),
    ]);
    expect(crossed.filter(({ status }) => status === 'rejected')).toHaveLength(1);
    for (const client of [a, b]) {
      await client.query('rollback');
      client.release();
    }
    expect(await countDeadlocks()).toBe(before + 1);
  });

  /** Starts `second` while `first` waits for the courier's delivery queue, then releases both. */
  async function contendForDeliveryQueue(
    courierId: string,
    first: () => Promise<Reply>,
    second: () => Promise<Reply>,
  ) {
    // Both couriers need an existing delivery job to wait for.
    const [known = ''] = await addPackages(1, courierId);
    await dispatch({ package_ids: [known] });
    const blocker = await service.owner.connect();
    try {
      await blocker.query('begin');
      const locked = await blocker.query(
        'select from graphile_worker._private_jobs where key = $1 for update',
        [`deliver:${courierId}:update_package`],
      );
      expect(locked.rowCount).toBe(1);
      const one = first();
      await untilBlocked(1);
      const two = second();
      await untilBlocked(2);
      await blocker.query('commit');
      return await Promise.all([one, two]);
    } finally {
      blocker.release();
    }
  }

  async function untilBlocked(sessions: number): Promise<void> {
    const { rows } = await service.owner.query<{ n: number }>(
      `select count(*)::int as n from pg_stat_activity
       where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`,
    );
    if ((rows[0]?.n ?? 0) < sessions) return untilBlocked(sessions);
  }

  const CONTENDERS: [string, (packageId: string, manifestId: string) => Promise<Reply>][] = [
    ['a manifest that ships', (_packageId, manifestId) => ship(manifestId)],
    ['an update', (packageId) => update(packageId, { weight: 7 })],
    ['a new number', (packageId) => update(packageId, { tracking_number: `EVENTS-${randomUUID()}` })],
  ];

  test.each(CONTENDERS)(
    '%s and a dispatch of a package that was never dispatched cause no deadlock in either order',
    async (_name, other) => {
      const before = await countDeadlocks();
      for (const isFirst of [true, false]) {
        const [packageId = ''] = await addPackages(1, IEX);
        const manifestId = await loadManifest([packageId]);
        const calls = [
          () => dispatch({ package_ids: [packageId] }),
          () => other(packageId, manifestId),
        ] as const;
        const replies = await contendForDeliveryQueue(IEX, calls[isFirst ? 0 : 1], calls[isFirst ? 1 : 0]);
        expect(statusesOf(replies)).toEqual([200]);
      }
      expect((await countDeadlocks()) - before).toBe(0);
    },
  );

  const DISPATCH_ROUNDS = rounds(1, 5);
  test(`40 concurrent dispatches of different packages of the same two couriers cause no deadlock, in ${DISPATCH_ROUNDS} rounds`, async () => {
    const before = await countDeadlocks();
    for (let round = 0; round < DISPATCH_ROUNDS; round += 1) {
      const ours = await addPackages(40, IEX);
      const theirs = await addPackages(40, HRB);
      const replies = await Promise.all(
        ours.map((id, index) => dispatch({ package_ids: [id, String(theirs[index])] })),
      );
      expect(replies.map(({ body }) => body['data'].total_queued)).toEqual(Array(40).fill(2));
    }
    expect((await countDeadlocks()) - before).toBe(0);
  }, 60_000);

  const MIXED_ROUNDS = rounds(3, 20);
  test(`concurrent ships, intakes, updates and dispatches cause no deadlock and no gap, in ${MIXED_ROUNDS} rounds`, async () => {
    const before = await countDeadlocks();
    for (let round = 0; round < MIXED_ROUNDS; round += 1) {
      const ours = await addPackages(6, IEX);
      const theirs = await addPackages(6, HRB);
      const all = [...ours, ...theirs];
      // Each manifest has packages of both couriers, which are also dispatched and updated.
      const manifests = [
        await loadManifest([...ours.slice(0, 3), ...theirs.slice(0, 3)]),
        await loadManifest([...theirs.slice(3), ...ours.slice(3)]),
      ];
      const calls = [
        ...manifests.map((id) => () => ship(id)),
        ...[IEX, HRB, IEX, HRB, IEX, HRB].map((id) => () => receive(id)),
        ...all.map((id, index) => () => update(id, { weight: 2 + index })),
        ...[all, [...all].reverse(), theirs, ours].map((ids) => () => dispatch({ package_ids: ids })),
        ...[IEX, HRB].map((id) => () => dispatch({ courierID: id })),
      ];
      // Every round starts with a different call.
      const start = (round * 7) % calls.length;
      const replies = await Promise.all(
        [...calls.slice(start), ...calls.slice(0, start)].map((call) => call()),
      );
      expect(statusesOf(replies).filter((status) => status >= 300)).toEqual([]);
      expect(await eventsOf(service.owner, all, 'package.status_changed')).toHaveLength(12);
    }
    await expectNoGap();
    expect((await countDeadlocks()) - before).toBe(0);
  }, 120_000);
});

describe('isolation of webhook tables', () => {
  const TABLES = [
    ...[
      'event_counters',
      'events',
      'webhook_deliveries',
      'webhook_attempts',
      'webhook_endpoints',
      'dispatches',
    ],
    ...['manifest_mails', 'customer_sync_runs'],
  ];
  const OWNERS: [tenantId: string, courierId: string | null][] = [
    [demo, IEX],
    [demo, HRB],
    [demo, null],
    [two, TWO],
  ];
  const VISIBLE = {
    iex: [`${demo} ${IEX}`],
    hrb: [`${demo} ${HRB}`],
    warehouse: [`${demo} ${IEX}`, `${demo} ${HRB}`, `${demo} none`],
    'two/two': [`${two} ${TWO}`],
    'two/admin': [`${two} ${TWO}`],
    'key IEX': [`${demo} ${IEX}`],
    'the tenant itself': [`${demo} ${IEX}`, `${demo} ${HRB}`, `${demo} none`],
    'tenant two itself': [`${two} ${TWO}`],
  };
  type Name = keyof typeof VISIBLE;
  const NAMES = Object.keys(VISIBLE) as Name[];

  /** A service with row-level security alone: the application does not filter these statements. */
  let alone: Service;
  beforeAll(async () => {
    alone = await startService({ applicationFilters: false });
    for (const [tenantId, courierId] of OWNERS) await insertRows(alone, tenantId, courierId);
  }, 60_000);
  afterAll(() => alone.stop(), 60_000);

  async function insertRows({ owner }: Service, tenantId: string, courierId: string | null): Promise<void> {
    await owner.query(
      `insert into dispatches (tenant_id, id, courier_id, requested_by, selected, queued)
       values ($1, gen_random_uuid(), $2, gen_random_uuid(), 1, 1)`,
      [tenantId, courierId],
    );
    if (courierId === null) return;
    await owner.query(
      `with counted as (insert into event_counters values ($1, $2, 1)),
        inserted as (insert into events (tenant_id, id, courier_id, sequence, type, data)
          values ($1, gen_random_uuid(), $2, 1, 'package.created', '{}') returning id),
        promised as (insert into webhook_deliveries (tenant_id, id, event_id, courier_id, endpoint)
          select $1, gen_random_uuid(), id, $2, 'add_package' from inserted returning id),
        tried as (insert into webhook_attempts (tenant_id, delivery_id, number, courier_id, started_at, duration_ms, outcome)
          select $1, id, 1, $2, now(), 1, 'timeout' from promised),
        paused as (insert into webhook_endpoints (tenant_id, courier_id, endpoint) values ($1, $2, 'add_package')),
        mailed as (insert into manifest_mails (tenant_id, id, courier_id, manifest_id, manifest_number, manifest_status)
          values ($1, gen_random_uuid(), $2, gen_random_uuid(), 'MAN', 'ready'))
      insert into customer_sync_runs (tenant_id, id, courier_id, origin) values ($1, gen_random_uuid(), $2, 'schedule')`,
      [tenantId, courierId],
    );
  }

  async function callerOf({ owner }: Service, name: Name): Promise<Caller> {
    if (name === 'the tenant itself') return system(demo);
    if (name === 'tenant two itself') return system(two);
    if (name === 'key IEX') {
      const { rows } = await owner.query('select api_key_hash from couriers where id = $1', [IEX]);
      return { kind: 'key', tenantId: demo, keyHash: rows[0].api_key_hash };
    }
    const { rows } = await owner.query(
      'select tenant_id, id, role, courier_id, token_version from users where tenant_id = $1 and username = $2',
      [name.startsWith('two/') ? two : demo, name.replace('two/', '')],
    );
    const [{ tenant_id: tenantId, id: userId, role, courier_id: courierId, token_version: tokenVersion }] =
      rows;
    const expiresAt = Math.floor(Date.now() / 1000) + 3_600;
    return { kind: 'user', tenantId, userId, role, courierId, tokenVersion, expiresAt };
  }

  type OwnedRow = { tenant_id: string; courier_id: string | null };
  const named = (rows: OwnedRow[]) =>
    rows.map(({ tenant_id, courier_id }) => `${tenant_id} ${courier_id ?? 'none'}`).sort();

  /** Returns the owners whose rows a caller may see. Only dispatches can have no courier. */
  const ownersSeen = (name: Name, table: string) =>
    VISIBLE[name].filter((each) => table === 'dispatches' || !each.endsWith('none')).sort();

  const ownersOf = (table: string): Sql<OwnedRow> => sql`select tenant_id, courier_id from ${raw(table)}`;

  const contextOf = (caller: Caller) => makeContext(alone.db, caller, BACKGROUND);

  describe.each(NAMES)('%s, with row-level security alone,', (name) => {
    test.each(TABLES)('reads only its own rows of %s', async (table) => {
      const ctx = contextOf(await callerOf(alone, name));
      const rows = await ctx.write((tx) => tx.query(ownersOf(table)));
      expect(named(rows)).toEqual(ownersSeen(name, table));
    });

    test.each(TABLES)('deletes at most its own rows of %s and moves none to another owner', async (table) => {
      const caller = await callerOf(alone, name);
      const mayDelete = await may('delete', table);
      const removed: OwnedRow[] = [];
      const outcome = await contextOf(caller)
        .write(async (tx) => {
          const statement = sql<OwnedRow>`delete from ${raw(table)} returning tenant_id, courier_id`;
          removed.push(...(await tx.query(statement)));
          throw new Error('undone');
        })
        .catch((error: unknown) => messageOf(error));
      expect(outcome).toContain(mayDelete ? 'undone' : 'permission denied');
      expect(named(removed)).toEqual(mayDelete ? ownersSeen(name, table) : []);

      const refusal = (await may('update', table)) ? 'row-level security' : 'permission denied';
      const [tenantId, courierId] = caller.tenantId === two ? [demo, IEX] : [two, TWO];
      const moves = [sql`tenant_id = ${tenantId}::uuid, courier_id = ${courierId}::uuid`];
      if (name === 'iex' || name === 'key IEX') moves.push(sql`courier_id = ${HRB}::uuid`);
      for (const move of moves) {
        const statement = sql`update ${raw(table)} set ${move}`;
        await expect(contextOf(caller).write([statement])).rejects.toThrow(refusal);
      }
    });
  });

  async function may(privilege: 'update' | 'delete', table: string): Promise<boolean> {
    const { rows } = await alone.owner.query<{ may: boolean }>(
      "select has_table_privilege('crossdock_app', $1, $2) as may",
      [table, privilege],
    );
    return rows[0]?.may ?? false;
  }

  test('without a transaction scope no rows are visible', async () => {
    for (const table of TABLES) {
      const { rows } = await alone.db.pool.query(`select from ${table}`);
      expect([table, rows.length]).toEqual([table, 0]);
    }
  });

  test.each([
    ['both layers', {}],
    ['row-level security alone', { applicationFilters: false }],
    ['the application’s filters alone', { rowSecurity: false }],
  ])('with %s, events are recorded only for packages of the own tenant', async (_name, options) => {
    const other = await startService(options);
    try {
      await setWebhookUrls(other.owner, [IEX, HRB, TWO]);
      const { owner } = other;
      const mine = String(DEMO.packages.available.IEX[0]);
      const theirs = String(DEMO.packages.two[0]);
      for (const [tenantId, own, courierId] of [
        [demo, mine, IEX],
        [two, theirs, TWO],
      ] as const) {
        const changes = [{ packageId: mine }, { packageId: theirs }];
        await recordEvents(tenantId, 'package.updated', changes, other);
        const { rows } = await owner.query(
          'select tenant_id, courier_id, package_id from events where tenant_id = $1',
          [tenantId],
        );
        expect(rows).toEqual([{ tenant_id: tenantId, courier_id: courierId, package_id: own }]);
        expect(await eventsOf(owner, [own])).toMatchObject([
          { sequence: 1, deliveries: pendingDelivery(courierId, 'update_package') },
        ]);
        expect(await waitingDeliveryQueues(owner, courierId)).toEqual(['update_package']);
      }
    } finally {
      await other.stop();
    }
  });
});
