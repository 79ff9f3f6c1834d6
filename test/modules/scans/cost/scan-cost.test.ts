import { beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import * as queries from '../../../../src/modules/scans/queries.js';
import { makeContext } from '../../../../src/platform/context/request-context.js';
import { sql, type Sql } from '../../../../src/platform/db/statements.js';
import { rounds } from '../../../support/harness/effort.js';
import { withService } from '../../../support/fixture/with-service.js';

const PACKAGES = rounds(10_000, 100_000);
/** More than a scan reads by index, and less than each of the two tables has. */
const MAX_BLOCKS = 150;

const { api, db, service } = withService();

beforeAll(async () => {
  const { demo } = DEMO.tenants;
  await db.query('alter table packages disable trigger user; alter table prealerts disable trigger user');
  await db.query(
    `insert into packages (tenant_id, id, courier_id, user_code, tracking_number, tracking_key, house_number, weight_lb,
       warehouse_id)
     select $1, gen_random_uuid(), $2, 'IEX-1001', 'SCAN-' || n, 'SCAN-' || n, 'HOUSE-' || n, 1, $3
     from generate_series(1, ${PACKAGES}) n`,
    [demo, DEMO.couriers.IEX, DEMO.warehouses.primary],
  );
  await db.query(
    `insert into prealerts (tenant_id, id, courier_id, user_code, tracking_number, tracking_key)
     select $1, gen_random_uuid(), $2, 'IEX-1001', 'SCAN-' || n, 'SCAN-' || n from generate_series(1, ${PACKAGES}) n`,
    [demo, DEMO.couriers.IEX],
  );
  await db.query('analyze packages, prealerts, customers, manifests, couriers');
}, 120_000);

const caller = (courierId: string | null, userId: string) => ({
  kind: 'user' as const,
  tenantId: DEMO.tenants.demo,
  userId,
  role: courierId ? ('courier' as const) : ('warehouse' as const),
  courierId,
  tokenVersion: 1,
  expiresAt: Math.floor(Date.now() / 1000) + 3_600,
});

const CALLERS = {
  staff: caller(null, DEMO.users.warehouse),
  owner: caller(DEMO.couriers.IEX, DEMO.users.iex),
  sibling: caller(DEMO.couriers.HRB, DEMO.users.hrb),
};

type Who = keyof typeof CALLERS;
type Plan = {
  'Node Type': string;
  'Relation Name'?: string;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: Plan[];
};
type Explained = { 'QUERY PLAN': [{ Plan: Plan }] };

const contextOf = (who: Who) => makeContext(service().db, CALLERS[who], 'a-request');

async function plansOf(who: Who, scan: string): Promise<Plan[]> {
  const ctx = contextOf(who);
  const texts = [scan, `${scan}-OTHER`];
  const statements: Sql[] = [
    queries.packagesByKey(ctx, [scan]),
    queries.packagesByKey(ctx, texts),
    queries.packagesByHouseNumber(ctx, texts),
    queries.prealertsByKey(ctx, [scan]),
    queries.prealertsByKey(ctx, texts),
    queries.manifestsByNumber(ctx, texts),
    queries.customersByCode(ctx, texts),
  ];
  const plans: Plan[] = [];
  for (const statement of statements) {
    const [[row]] = await ctx.read([sql<Explained>`explain (analyze, buffers, format json) ${statement}`]);
    if (row) plans.push(row['QUERY PLAN'][0].Plan);
  }
  return plans;
}

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
const blocksOf = (plans: Plan[]) =>
  plans.reduce((sum, plan) => sum + plan['Shared Hit Blocks'] + plan['Shared Read Blocks'], 0);

describe(`with ${PACKAGES} packages and as many pre-alerts`, () => {
  test('each of the two tables has more blocks than a scan may read', async () => {
    const tables = await db.query<{ blocks: number }>(
      "select relpages as blocks from pg_class where oid in ('packages'::regclass, 'prealerts'::regclass)",
    );
    expect(Math.min(...tables.map(({ blocks }) => blocks))).toBeGreaterThan(MAX_BLOCKS);
  });

  test.each(['staff', 'owner', 'sibling'] as const)(
    '%s reads packages and pre-alerts by index only',
    async (who) => {
      const plans = await plansOf(who, `SCAN-${PACKAGES / 2}`);
      expect(plans).toHaveLength(7);
      const scanned = plans
        .flatMap(nodesOf)
        .filter((node) => node['Node Type'] === 'Seq Scan')
        .map((node) => node['Relation Name']);
      expect(scanned.filter((name) => name === 'packages' || name === 'prealerts')).toEqual([]);
      expect(blocksOf(plans)).toBeLessThan(MAX_BLOCKS);
    },
  );

  test('another courier reads about as many blocks for a foreign number as for an unknown one', async () => {
    const foreign = blocksOf(await plansOf('sibling', `SCAN-${PACKAGES / 2}`));
    const unknown = blocksOf(await plansOf('sibling', `SCAN-0${PACKAGES / 2}`));
    expect(Math.abs(foreign - unknown)).toBeLessThanOrEqual(12);
  });

  test('a scan costs the service and the client less than 10 ms of CPU at the median', async () => {
    const times: number[] = [];
    for (let n = 1; n <= 40; n += 1) {
      const before = process.cpuUsage();
      const { data } = await api
        .as('warehouse')
        .resolveScan({ scan: `]C1SCAN-${n * 7}\r` })
        .answer();
      const { user, system } = process.cpuUsage(before);
      times.push((user + system) / 1_000);
      expect(data).toMatchObject({ next: 'already_received' });
    }
    expect(times.sort((a, b) => a - b)[20]).toBeLessThan(10);
  });
});
