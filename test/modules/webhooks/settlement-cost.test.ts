import { beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { settleSyncs, type AttemptResult } from '../../../src/modules/webhooks/delivery/settle-queries.js';
import { BACKGROUND } from '../../../src/platform/audit/audit.js';
import { makeContext } from '../../../src/platform/context/request-context.js';
import { sql } from '../../../src/platform/db/statements.js';
import { withService } from '../../support/fixture/with-service.js';

const SYNCS = 3_000;
const SETTLED = 20;

const { db, service } = withService();
let results: AttemptResult[];

beforeAll(async () => {
  await db.query('alter table packages disable trigger user');
  await db.query(
    `with added as (
       insert into packages (tenant_id, id, courier_id, tracking_number, tracking_key, house_number, weight_lb, warehouse_id)
       select $1, gen_random_uuid(), $2, 'SYNC-' || n, 'SYNC-' || n, 'S-' || n, 1, $3 from generate_series(1, $4::int) n
       returning tenant_id, id, courier_id
     ), synced as (
       insert into package_syncs (tenant_id, package_id, courier_id, status, job_id)
       select tenant_id, id, courier_id, 'sending', gen_random_uuid() from added returning *
     ), announced as (
       insert into events (tenant_id, id, courier_id, sequence, type, package_id, data)
       select tenant_id, job_id, courier_id, 1000000 + row_number() over (), 'package.updated', package_id, '{}' from synced
     )
     insert into webhook_deliveries (tenant_id, id, event_id, courier_id, endpoint, status, next_attempt_at, sync_job_id, settled_at)
     select tenant_id, gen_random_uuid(), job_id, courier_id, 'update_package', 'delivered', null, job_id, now() from synced`,
    [DEMO.tenants.demo, DEMO.couriers.IEX, DEMO.warehouses.primary, SYNCS],
  );
  await db.query('analyze packages, package_syncs, events, webhook_deliveries');
  const rows = await db.query<{ delivery_id: string; package_id: string }>(
    `select d.id as delivery_id, s.package_id from webhook_deliveries d join package_syncs s on s.job_id = d.sync_job_id
     limit $1`,
    [SETTLED],
  );
  results = rows.map(({ delivery_id, package_id }) => ({
    delivery_id,
    number: 1,
    started_at: new Date().toISOString(),
    duration_ms: 1,
    outcome: 'delivered',
    http_status: 200,
    response_start: null,
    error: null,
    retry_after_s: null,
    synced_package_id: package_id,
    is_test: false,
  }));
}, 60_000);

type Plan = {
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: Plan[];
};
type Explained = { 'QUERY PLAN': [{ Plan: Plan }] };

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

test(`settling ${SETTLED} of ${SYNCS} synchronisations reads the rows of those and no others`, async () => {
  const ctx = makeContext(service().db, { kind: 'system', tenantId: DEMO.tenants.demo }, BACKGROUND);
  const [[row]] = await ctx.write([
    sql<Explained>`explain (analyze, format json) ${settleSyncs(ctx, results)}`,
  ]);
  const nodes = row ? nodesOf(row['QUERY PLAN'][0].Plan) : [];
  const readOf = (table: string) =>
    nodes
      .filter((node) => node['Relation Name'] === table && !node.Plans)
      .reduce(
        (sum, node) =>
          sum + (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
        0,
      );
  expect(readOf('package_syncs')).toBeGreaterThan(0);
  // A nested loop may look each of them up once per delivery.
  expect(readOf('package_syncs')).toBeLessThanOrEqual(SETTLED * SETTLED);
  expect(readOf('webhook_deliveries')).toBeLessThanOrEqual(SETTLED * SETTLED);
  expect(await db.count('package_syncs', { status: 'sent' })).toBe(SETTLED);
});
