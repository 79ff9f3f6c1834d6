import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../fixtures/demo/seed.js';
import { deleteExpired } from '../../src/jobs/retention.js';
import { deleteBatch, RETENTION_RULES, START } from '../../src/jobs/retention-rules.js';
import { BACKGROUND } from '../../src/platform/audit/audit.js';
import { makeContext } from '../../src/platform/context/request-context.js';
import { startService, type Service } from '../support/service/service.js';

const TENANT = DEMO.tenants.demo;
const COURIER = DEMO.couriers.IEX;
const ROWS_PER_BATCH = 5_000;

let service: Service;

beforeAll(async () => {
  service = await startService();
});

afterAll(() => service.stop());

const deleteOld = () => deleteExpired({ db: service.db, stopping: new AbortController().signal });

async function count(rows: string): Promise<number> {
  const found = await service.owner.query<{ count: number }>(`select count(*)::int as count from ${rows}`);
  return found.rows[0]?.count ?? 0;
}

/** Inserts events that are past their retention, all of the same time, and returns their ids. */
async function insertOldEvents(number: number, days: number): Promise<string[]> {
  const { rows } = await service.owner.query<{ id: string }>(
    `insert into events (tenant_id, id, courier_id, type, data, occurred_at)
     select $1, new_id(), $2, 'webhook.test', '{}', now() - make_interval(days => $4) from generate_series(1, $3)
     returning id`,
    [TENANT, COURIER, number, days],
  );
  return rows.map(({ id }) => id);
}

test('deletes more rows than one batch, and passes over any number of rows that must stay', async () => {
  const needed = await insertOldEvents(ROWS_PER_BATCH + 1_000, 120);
  await service.owner.query(
    `insert into webhook_deliveries (tenant_id, id, event_id, courier_id, endpoint)
     select $1, new_id(), id, $2, 'add_package' from unnest($3::uuid[]) id`,
    [TENANT, COURIER, needed],
  );
  const expired = await insertOldEvents(ROWS_PER_BATCH + 10, 110);
  const young = await insertOldEvents(10, 89);
  await deleteOld();
  expect(await count(`events where id = any('{${needed.join()}}')`)).toBe(needed.length);
  expect(await count(`events where id = any('{${expired.join()}}')`)).toBe(0);
  expect(await count(`events where id = any('{${young.join()}}')`)).toBe(young.length);
});

describe('a batch of each rule', () => {
  const batchOf = (rule: (typeof RETENTION_RULES)[number], limit = ROWS_PER_BATCH) =>
    deleteBatch(
      makeContext(service.db, { kind: 'system', tenantId: TENANT }, BACKGROUND),
      rule,
      START,
      limit,
    );
  const named = RETENTION_RULES.map((rule) => ({ table: rule.table.text, rule }));

  test.each(named)('$table: locks only rows, so that nobody waits for the table', async ({ rule }) => {
    const client = await service.owner.connect();
    try {
      await client.query('begin');
      const { text, values } = batchOf(rule);
      await client.query(text, values);
      const { rows } = await client.query<{ mode: string }>(
        `select distinct mode from pg_locks where pid = pg_backend_pid() and locktype = 'relation'
           and relation::regclass::text !~ '^pg_' order by mode`,
      );
      expect(rows.map(({ mode }) => mode)).toEqual(
        expect.arrayContaining(['AccessShareLock', 'RowExclusiveLock']),
      );
      expect(
        rows
          .map(({ mode }) => mode)
          .filter((mode) => !/^(AccessShare|RowShare|RowExclusive)Lock$/.test(mode)),
      ).toEqual([]);
    } finally {
      await client.query('rollback');
      client.release();
    }
  });

  // Its rows are few per courier.
  const indexed = named.filter(({ table }) => !table.endsWith('_quotas') && table !== 'write_allowances');

  test.each(indexed)(
    '$table: finds the oldest rows in the order of an index, without reading the others',
    async ({ rule }) => {
      const client = await service.owner.connect();
      try {
        await client.query('begin');
        await client.query('set local enable_seqscan = off');
        await client.query('set local enable_bitmapscan = off');
        await client.query('set local enable_sort = off');
        const { text, values } = batchOf(rule, 10);
        const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain (costs off) ${text}`, values);
        const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
        const [, candidates = ''] = /CTE expired\n(.*?)\n\s+CTE removed/s.exec(plan) ?? [];
        expect(candidates).toMatch(/Presorted Key: /);
        expect(candidates).toMatch(/Index Cond: .*tenant_id.* AND .*(_at|COALESCE).*/);
      } finally {
        await client.query('rollback');
        client.release();
      }
    },
  );
});
