import { beforeAll, describe, expect, test } from '@jest/globals';
import { BACKGROUND } from '../../../../src/platform/audit/audit.js';
import { makeContext } from '../../../../src/platform/context/request-context.js';
import { countingEvents } from '../../../../src/platform/db/locks.js';
import { raw, sql, type Sql } from '../../../../src/platform/db/statements.js';
import type { Caller, Role } from '../../../../src/platform/identity/callers.js';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import {
  setWebhookUrls,
  pendingDelivery,
  waitingDeliveryQueues,
} from '../../../support/receivers/outbound.js';
import { withService } from '../../../support/fixture/with-service.js';
import { recordEvents, system } from './record-events.js';

const { IEX, HRB, TWO } = DEMO.couriers;
const { demo, two } = DEMO.tenants;

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

describe('isolation of webhook tables', () => {
  const TABLES = [
    'event_counters',
    'events',
    'webhook_deliveries',
    'webhook_attempts',
    'webhook_exchanges',
    'webhook_endpoints',
    'dispatches',
    'manifest_mails',
    'customer_sync_runs',
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
  const alone = withService({ applicationFilters: false });
  beforeAll(async () => {
    for (const [tenantId, courierId] of OWNERS) await insertRows(tenantId, courierId);
  }, 60_000);

  async function insertRows(tenantId: string, courierId: string | null): Promise<void> {
    await alone.db.query(
      `insert into dispatches (tenant_id, id, courier_id, requested_by, selected, queued)
       values ($1, gen_random_uuid(), $2, gen_random_uuid(), 1, 1)`,
      [tenantId, courierId],
    );
    if (courierId === null) return;
    await alone.db.query(
      `with counted as (insert into event_counters values ($1, $2, 1)),
        inserted as (insert into events (tenant_id, id, courier_id, sequence, type, data)
          values ($1, gen_random_uuid(), $2, 1, 'package.created', '{}') returning id),
        promised as (insert into webhook_deliveries (tenant_id, id, event_id, courier_id, endpoint)
          select $1, gen_random_uuid(), id, $2, 'add_package' from inserted returning id),
        tried as (insert into webhook_attempts (tenant_id, delivery_id, number, courier_id, started_at, duration_ms, outcome)
          select $1, id, 1, $2, now(), 1, 'timeout' from promised),
        kept as (insert into webhook_exchanges (tenant_id, delivery_id, number, courier_id, url, request_headers, request_body,
          request_bytes, expires_at) select $1, id, 1, $2, 'https://a.example/', '{}', '{}', 2, now() from promised),
        paused as (insert into webhook_endpoints (tenant_id, courier_id, endpoint) values ($1, $2, 'add_package')),
        mailed as (insert into manifest_mails (tenant_id, id, courier_id, manifest_id, manifest_number, manifest_status)
          values ($1, gen_random_uuid(), $2, gen_random_uuid(), 'MAN', 'ready'))
      insert into customer_sync_runs (tenant_id, id, courier_id, origin) values ($1, gen_random_uuid(), $2, 'schedule')`,
      [tenantId, courierId],
    );
  }

  async function callerOf(name: Name): Promise<Caller> {
    if (name === 'the tenant itself') return system(demo);
    if (name === 'tenant two itself') return system(two);
    if (name === 'key IEX') {
      const { api_key_hash: keyHash } = await alone.db.courier(IEX);
      return { kind: 'key', tenantId: demo, keyHash: keyHash ?? '', address: '192.0.2.1' };
    }
    const tenantId = name.startsWith('two/') ? two : demo;
    const user = await alone.db.one('users', { tenant_id: tenantId, username: name.replace('two/', '') });
    const { id: userId, role, courier_id: courierId, token_version: tokenVersion } = user;
    const expiresAt = Math.floor(Date.now() / 1000) + 3_600;
    // Accounts have one of the roles of the contract.
    return { kind: 'user', tenantId, userId, role: role as Role, courierId, tokenVersion, expiresAt };
  }

  type OwnedRow = { tenant_id: string; courier_id: string | null };
  const named = (rows: OwnedRow[]) =>
    rows.map(({ tenant_id, courier_id }) => `${tenant_id} ${courier_id ?? 'none'}`).sort();

  /** Returns the owners whose rows a caller may see. Only dispatches can have no courier. */
  const ownersSeen = (name: Name, table: string) =>
    VISIBLE[name].filter((each) => table === 'dispatches' || !each.endsWith('none')).sort();

  const ownersOf = (table: string): Sql<OwnedRow> => sql`select tenant_id, courier_id from ${raw(table)}`;

  const contextOf = (caller: Caller) => makeContext(alone.service().db, caller, BACKGROUND);

  describe.each(NAMES)('%s, with row-level security alone,', (name) => {
    test.each(TABLES)('reads only its own rows of %s', async (table) => {
      const ctx = contextOf(await callerOf(name));
      const rows = await ctx.write((tx) => tx.query(ownersOf(table)));
      expect(named(rows)).toEqual(ownersSeen(name, table));
    });

    test.each(TABLES)('deletes at most its own rows of %s and moves none to another owner', async (table) => {
      const caller = await callerOf(name);
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
        const statement = countingEvents(sql`update ${raw(table)} set ${move}`, []);
        await expect(contextOf(caller).write([statement])).rejects.toThrow(refusal);
      }
    });
  });

  async function may(privilege: 'update' | 'delete', table: string): Promise<boolean> {
    const rows = await alone.db.query<{ may: boolean }>(
      "select has_table_privilege('crossdock_app', $1, $2) as may",
      [table, privilege],
    );
    return rows[0]?.may ?? false;
  }

  test('without a transaction scope no rows are visible', async () => {
    for (const table of TABLES) {
      const { rows } = await alone.service().db.pool.query(`select from ${table}`);
      expect([table, rows.length]).toEqual([table, 0]);
    }
  });

  describe.each([
    ['both layers', {}],
    ['row-level security alone', { applicationFilters: false }],
    ['the application’s filters alone', { rowSecurity: false }],
  ])('with %s,', (_name, options) => {
    const other = withService(options);

    test('events are recorded only for packages of the own tenant', async () => {
      const { owner } = other.service();
      await setWebhookUrls(owner, [IEX, HRB, TWO]);
      const mine = String(DEMO.packages.available.IEX[0]);
      const theirs = String(DEMO.packages.two[0]);
      for (const [tenantId, own, courierId] of [
        [demo, mine, IEX],
        [two, theirs, TWO],
      ] as const) {
        const changes = [{ packageId: mine }, { packageId: theirs }];
        await recordEvents(other.service().db, tenantId, 'package.updated', changes);
        const rows = await other.db.query(
          'select tenant_id, courier_id, package_id from events where tenant_id = $1',
          [tenantId],
        );
        expect(rows).toEqual([{ tenant_id: tenantId, courier_id: courierId, package_id: own }]);
        expect(await other.db.eventsOf(own)).toMatchObject([
          { sequence: 1, deliveries: pendingDelivery(courierId, 'update_package') },
        ]);
        expect(await waitingDeliveryQueues(owner, courierId)).toEqual(['update_package']);
      }
    });
  });
});
