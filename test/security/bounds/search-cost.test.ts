import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { pageOfCustomers, totalOfCustomers } from '../../../src/modules/customers/crud/list-queries.js';
import { substringMatches } from '../../../src/modules/customers/search/queries.js';
import { listPackages, totalPackages } from '../../../src/modules/packages/list/queries.js';
import { pageOfPrealerts, statsOfPrealerts } from '../../../src/modules/prealerts/list-queries.js';
import { makeContext, type UserContext } from '../../../src/platform/context/request-context.js';
import { sql, type Sql } from '../../../src/platform/db/statements.js';
import { insertWithoutTriggers } from '../../support/builders/many-rows.js';
import { rounds } from '../../support/harness/effort.js';
import { startService, type Service } from '../../support/service/service.js';

const { IEX, HRB } = DEMO.couriers;
/** Rows of the courier that searches, in each table. */
const OWN = 50;
const FILL_MS = 300_000;

let service: Service;

beforeAll(async () => {
  service = await startService();
  const { rows: settings } = await service.owner.query<{ version: number }>(
    "select current_setting('server_version_num')::int as version",
  );
  // Before PostgreSQL 17, an index is descended once for each key of an array: 4 blocks a row of the courier. So the tables
  // must be larger for a search of the courier's rows to differ from one of all rows.
  const others = rounds((settings[0]?.version ?? 0) < 170_000 ? 120_000 : 40_000, 400_000);
  // Building an index takes a fraction of the time of filling it row by row.
  const { rows: indexes } = await service.owner.query<{ name: string; definition: string }>(
    `select indexname as name, indexdef as definition from pg_indexes
     where tablename in ('customers', 'prealerts', 'packages') and indexdef like '%USING gin%'`,
  );
  for (const { name } of indexes) await service.owner.query(`drop index ${name}`);
  for (const [courierId, count] of [
    [HRB, others],
    [IEX, OWN],
  ]) {
    const values = [DEMO.tenants.demo, courierId];
    await insertWithoutTriggers(
      service.owner,
      `insert into customers (tenant_id, id, courier_id, user_code, first_name, last_name)
       select $1, new_id(), $2, 'SEEK-' || n, 'First ' || n, 'Last ' || n from generate_series(1, ${count}) n`,
      values,
    );
    await insertWithoutTriggers(
      service.owner,
      `insert into prealerts (tenant_id, id, courier_id, user_code, tracking_number, tracking_key, vendor)
       select $1, new_id(), $2, 'SEEK-' || n, $3 || n, $3 || n, 'Vendor ' || n from generate_series(1, ${count}) n`,
      [...values, courierId === HRB ? 'SEEK-H' : 'SEEK-I'],
    );
    await insertWithoutTriggers(
      service.owner,
      `insert into packages (tenant_id, id, courier_id, tracking_number, tracking_key, house_number, weight_lb, shipper, warehouse_id)
       select $1, new_id(), $2, $3 || n, $3 || n, $3 || n, 1, 'Shipper ' || n, $4 from generate_series(1, ${count}) n`,
      [...values, courierId === HRB ? 'SEEK-H' : 'SEEK-I', DEMO.warehouses.primary],
    );
  }
  for (const { definition } of indexes) await service.owner.query(definition);
  await service.owner.query('vacuum analyze customers, prealerts, packages');
}, FILL_MS);

afterAll(async () => {
  await service.stop();
});

const contextOf = (courierId: string | null): UserContext =>
  makeContext(
    service.db,
    {
      kind: 'user',
      tenantId: DEMO.tenants.demo,
      userId: courierId ? DEMO.users.iex : DEMO.users.admin,
      role: courierId ? 'courier' : 'admin',
      courierId,
      tokenVersion: 1,
      expiresAt: Math.floor(Date.now() / 1000) + 3_600,
    },
    'a-request',
  );

type Explained = { 'QUERY PLAN': [{ Plan: Record<string, number> }] };

/** Returns the number of blocks that a statement reads, those of its functions included. The first call of a session also reads the catalogue. */
const blocksOf = async (ctx: UserContext, statement: Sql): Promise<number> =>
  Math.min(await blocksOnce(ctx, statement), await blocksOnce(ctx, statement));

async function blocksOnce(ctx: UserContext, statement: Sql): Promise<number> {
  const [[row]] = await ctx.read([sql<Explained>`explain (analyze, buffers, format json) ${statement}`]);
  if (!row) throw new Error('EXPLAIN returned no row.');
  const plan = row['QUERY PLAN'][0].Plan;
  return (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
}

const page = { page: 1, limit: 20 };
const order = { sort_by: 'first_name', sort_dir: 'ASC' } as const;
const newest = { sort_by: 'created_at', sort_dir: 'DESC' } as const;

/** Every search of the service that a courier can use, for a text. */
const SEARCHES: [string, (ctx: UserContext, text: string, courier_id?: string) => Sql[]][] = [
  [
    'listCustomers',
    (ctx, search, courier_id) => {
      const query = { ...page, ...order, search, courier_id };
      return [pageOfCustomers(ctx, query), totalOfCustomers(ctx, query)];
    },
  ],
  [
    'searchCustomers',
    (ctx, q, courier_id) => [substringMatches(ctx, { q, courier_id, limit: 20, advanced: false })],
  ],
  [
    'listPrealerts',
    (ctx, search, courier_id) => {
      const query = { ...page, ...newest, search, courier_id };
      return [pageOfPrealerts(ctx, query), statsOfPrealerts(ctx, query)];
    },
  ],
  ...(['trackingNumber', 'shipper', 'firstName', 'lastName'] as const).map(
    (field): [string, (ctx: UserContext, text: string, courier_id?: string) => Sql[]] => [
      `listPackages by ${field}`,
      (ctx, text, courierID) => {
        const filters = { [field]: text, courierID };
        return [listPackages(ctx, filters, page), totalPackages(ctx, filters)];
      },
    ],
  ),
];

/** Texts without a trigram in some locale, and ordinary ones. */
const TEXTS = [
  '²²²',
  '①②③',
  'ﷺﷺﷺ',
  '漢字仮',
  'Peña',
  'Ñañ',
  'ééé',
  '___',
  '%%%',
  'a',
  'zq',
  '\\\\\\',
  '🙂🙂🙂',
  'zzq',
];

test.each(SEARCHES)(
  '%s of a courier, or of one courier by staff, reads about as many blocks as the courier has',
  async (_name, of) => {
    const sum = async (ctx: UserContext, text: string, courierId?: string) => {
      let blocks = 0;
      for (const statement of of(ctx, text, courierId)) blocks += await blocksOf(ctx, statement);
      return blocks;
    };
    const whole = Number(
      (
        await service.owner.query(
          `select min(pg_relation_size(t) / 8192)::int as n from unnest(array['customers', 'prealerts', 'packages']::regclass[]) t`,
        )
      ).rows[0]?.n,
    );
    const slow: [string, ...number[]][] = [];
    for (const text of TEXTS) {
      const blocks = [await sum(contextOf(IEX), text), await sum(contextOf(null), text, IEX)];
      if (Math.max(...blocks) > whole) slow.push([text, ...blocks]);
    }
    expect(slow).toEqual([]);
  },
  FILL_MS,
);
