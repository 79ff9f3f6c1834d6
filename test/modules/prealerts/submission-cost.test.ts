import { beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { insertPrealertsWithKey } from '../../../src/modules/prealerts/queries.js';
import { openSecrets } from '../../../src/platform/access/secrets.js';
import { makeContext } from '../../../src/platform/context/request-context.js';
import { sql } from '../../../src/platform/db/statements.js';
import { lockTogether } from '../../../src/platform/db/locks.js';
import { newId } from '../../../src/platform/values/ids.js';
import { developmentConfig } from '../../support/staging/development.js';
import { dropSearchIndexes } from '../../support/builders/many-rows.js';
import { withService } from '../../support/fixture/with-service.js';

/** Customers of each courier of the small tenant, and of each of the large one's couriers. */
const SMALL = 50;
const LARGE = 900;
const COURIERS = 60;

const { service } = withService();
beforeAll(async () => {
  await dropSearchIndexes(service().owner);
  await service().owner.query('alter table customers disable trigger user');
  await service().owner.query(
    `insert into couriers (tenant_id, id, code, name, house_color)
     select $1, gen_random_uuid(), 'L' || n, 'Large ' || n, '#336699' from generate_series(1, $2::int) n`,
    [DEMO.tenants.two, COURIERS],
  );
  for (const [tenant, count] of [
    [DEMO.tenants.demo, SMALL],
    [DEMO.tenants.two, LARGE],
  ] as const)
    await service().owner.query(
      `insert into customers (tenant_id, id, courier_id, user_code, first_name, last_name)
       select tenant_id, gen_random_uuid(), id, 'FILL-' || n, 'First', 'Last' from couriers, generate_series(1, $2::int) n
       where tenant_id = $1`,
      [tenant, count],
    );
  await service().owner.query('analyze customers');
}, 60_000);

type Plan = {
  'Relation Name'?: string;
  'Index Name'?: string;
  'Rows Removed by Filter'?: number;
  Plans?: Plan[];
};
type Explained = { 'QUERY PLAN': [{ Plan: Plan }] };
const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

test.each([1, 2])(
  `submitting %i pre-alerts finds a customer by its code, also in a small tenant beside a large one`,
  async (count) => {
    const ctx = makeContext(
      service().db,
      {
        kind: 'key' as const,
        tenantId: DEMO.tenants.demo,
        keyHash: openSecrets(developmentConfig().secrets).lookupHash(DEMO.apiKeys.IEX, 'api_key'),
        address: '192.0.2.1',
      },
      'a-request',
    );
    const submissions = Array.from({ length: count }, (_, n) => ({
      id: newId(),
      userCode: 'IEX-1001',
      sentNumber: `COST-${count}-${n}`,
      trackingNumber: `COST-${count}-${n}`,
      trackingKey: `COST-${count}-${n}`,
      keys: [`COST-${count}-${n}`],
      vendor: null,
      description: null,
      reference: null,
      requestId: 'a-request',
    }));
    const [, [row]] = await ctx.write([
      lockTogether(ctx.tenantId, submissions, true),
      sql<Explained>`explain (analyze, format json) ${insertPrealertsWithKey(ctx, submissions)}`,
    ]);
    const reads = (row ? nodesOf(row['QUERY PLAN'][0].Plan) : []).filter(
      (node) => node['Relation Name'] === 'customers',
    );
    expect(reads).toHaveLength(1);
    expect(reads[0]?.['Index Name']).toBe('customers_tenant_id_courier_id_user_code_key');
    expect(reads[0]?.['Rows Removed by Filter'] ?? 0).toBe(0);
  },
);
