import { beforeAll, expect, test } from '@jest/globals';
import type { QueryOf } from '../../../src/platform/contract/types.js';
import {
  branchNames,
  pageOfCustomers,
  totalOfCustomers,
} from '../../../src/modules/customers/crud/list-queries.js';
import { makeContext } from '../../../src/platform/context/request-context.js';
import { blocksOf } from '../../support/assertions/blocks.js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { dropSearchIndexes } from '../../support/builders/many-rows.js';
import { rounds } from '../../support/harness/effort.js';
import { until } from '../../support/service/processes.js';
import { withService } from '../../support/fixture/with-service.js';

const { service } = withService();
beforeAll(async () => {
  await dropSearchIndexes(service().owner);
}, 60_000);

const caller = (courierId: string | null, userId: string) => ({
  kind: 'user' as const,
  tenantId: DEMO.tenants.demo,
  userId,
  role: courierId ? ('courier' as const) : ('admin' as const),
  courierId,
  tokenVersion: 1,
  expiresAt: Math.floor(Date.now() / 1000) + 3_600,
});

const CALLERS = { staff: caller(null, DEMO.users.admin), courier: caller(DEMO.couriers.IEX, DEMO.users.iex) };

const QUERIES: Partial<QueryOf<'listCustomers'>>[] = [
  ...(
    ['user_code', 'first_name', 'last_name', 'branch', 'courier_name', 'created_at', 'updated_at'] as const
  ).flatMap((sort_by) => [{ sort_by }, { sort_by, sort_dir: 'DESC' as const }]),
  { branch: 'Branch 3' },
  { branch: 'Branch 3', sort_by: 'courier_name' },
];

/** Creates customers until each courier has `count`. */
async function fillTo(count: number): Promise<void> {
  const client = await service().owner.connect();
  await client.query(WAIT_FOR_WAL);
  await client.query(
    `insert into customers (tenant_id, id, courier_id, user_code, first_name, last_name, branch, created_at)
     select tenant_id, gen_random_uuid(), id, 'FILL-' || n, 'First ' || (hashint4(n) & 63),
       'Last ' || (hashint4(n + 7) & 255),
       'Branch ' || n % 8, now() - n * interval '1 minute'
     from couriers, generate_series(1, $1::int) n where tenant_id = $2 on conflict do nothing`,
    [count, DEMO.tenants.demo],
  );
  await client.query('analyze customers');
  await client.query('vacuum analyze customer_tallies');
  client.release(true);
  await until(isAllVisible);
}

/** Vacuum treats a commit as visible to all only after its WAL is flushed, and the test server does not wait for that. */
const WAIT_FOR_WAL = 'set synchronous_commit = on';

/** An index-only scan needs pages that a vacuum marked as all-visible. */
async function isAllVisible(): Promise<boolean> {
  await service().owner.query('vacuum customers');
  const { rows } = await service().owner.query(
    `select relallvisible >= relpages as is_all from pg_class where oid = 'customers'::regclass`,
  );
  return rows[0]?.is_all === true;
}

const contextOf = (who: keyof typeof CALLERS) => makeContext(service().db, CALLERS[who], 'a-request');

async function blocksOfAll(): Promise<Map<string, number>> {
  const blocks = new Map<string, number>();
  for (const who of ['staff', 'courier'] as const) {
    const ctx = contextOf(who);
    for (const filters of QUERIES) {
      const query = { page: 1, limit: 20, sort_by: 'first_name', sort_dir: 'ASC', ...filters } as const;
      const page = pageOfCustomers(ctx, query);
      const total = totalOfCustomers(ctx, query);
      const sum = (await blocksOf(contextOf(who), page)) + (await blocksOf(contextOf(who), total));
      blocks.set(`${who} ${JSON.stringify(filters)}`, sum);
    }
    blocks.set(`${who} branches`, await blocksOf(contextOf(who), branchNames(ctx, undefined)));
  }
  return blocks;
}

/** Customers of each of the two couriers, before and after. */
const [FEW, MANY] = [1_000, rounds(4_000, 8_000)];

test(`a page, its total and the branch list read no more blocks of ${2 * MANY} customers than of ${2 * FEW}`, async () => {
  await fillTo(FEW);
  const few = await blocksOfAll();
  await fillTo(MANY);
  const many = await blocksOfAll();
  expect(few.size).toBe(2 * (QUERIES.length + 1));
  const grown = [...many].filter(([what, blocks]) => blocks > 1.5 * (few.get(what) ?? 0));
  expect(grown.map(([what, blocks]) => `${what}: ${few.get(what)} to ${blocks}`)).toEqual([]);
}, 120_000);
