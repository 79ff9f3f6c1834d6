import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type pg from 'pg';
import { startService, type Service } from '../support/service/service.js';
import { matching } from '../support/assertions/matching.js';

// The service has one connection, so that its prepared statements are all here.
let service: Service;
let admin: string;

const PACKAGES = 20_000;
const CUSTOMERS = 100;

beforeAll(async () => {
  service = await startService({ poolSize: 1 });
  admin = await service.tokenOf('admin');
  await service.owner.query(
    `insert into packages (tenant_id, id, courier_id, tracking_number, tracking_key, house_number, weight_lb, warehouse_id,
       received_at)
     select w.tenant_id, gen_random_uuid(), c.id, 'PR' || n, 'PR' || n, 'PR' || n, 1, w.id, now() - n * interval '1 minute'
     from generate_series(1, ${PACKAGES}) n, warehouses w join couriers c on c.tenant_id = w.tenant_id and c.code = 'IEX'
     where w.is_primary and w.tenant_id = (select tenant_id from couriers where code = 'IEX' limit 1)`,
  );
  await service.owner.query(
    `insert into customers (tenant_id, id, courier_id, user_code, first_name, last_name)
     select tenant_id, gen_random_uuid(), id, 'PR-' || n, 'Ann', 'Lee'
     from couriers, generate_series(1, ${CUSTOMERS}) n where code = 'IEX'`,
  );
  await service.owner.query('analyze packages, customers');
});

afterAll(() => service.stop());

type Prepared = { name: string; statement: string; generic_plans: string; custom_plans: string };

async function preparedStatements(): Promise<Prepared[]> {
  const { rows } = await service.db.pool.query<Prepared>('select * from pg_prepared_statements');
  return rows;
}

const list = (body: Record<string, unknown>) => service.call('listPackages', { token: admin, body });

const pagesOf = (statements: Prepared[]) =>
  statements.filter(({ statement }) => statement.includes('with page as materialized'));

test('a first page without filters is planned once and then uses the plan for all values', async () => {
  for (let n = 0; n < 8; n += 1) expect((await list({ limit: 25 })).status).toBe(200);
  const [page, ...others] = pagesOf(await preparedStatements());
  expect(others).toEqual([]);
  expect(page).toMatchObject({ custom_plans: '0', generic_plans: '8' });
});

test('the plan for all values reads only the rows of the page', async () => {
  const [page] = pagesOf(await preparedStatements());
  const { rows: tenants } = await service.owner.query<{ id: string }>(
    `select tenant_id as id from couriers where code = 'IEX' limit 1`,
  );
  const buffers = await buffersOfGenericPlan(page?.name ?? '', tenants[0]?.id ?? '');
  // The packages alone have more than 400 pages.
  expect(buffers).toBeLessThan(120);
});

test('a user code is found with and without its courier, and no prepared statement has an optional condition', async () => {
  const user_code = `PR-${CUSTOMERS}`;
  const [iex] = (await service.owner.query<{ id: string }>(`select id from couriers where code = 'IEX'`))
    .rows;
  for (const courier of [{}, { courier_id: iex?.id }]) {
    const body = { tracking_number: `PRX${Object.keys(courier).length}`, weight: 1, user_code, ...courier };
    const { data } = (await service.call('receivePackage', { token: admin, body })).body;
    expect(data).toMatchObject({ user_code, courier_id: iex?.id });
  }
  const statements = (await preparedStatements()).map(({ statement }) => statement);
  expect(statements.filter((text) => text.includes('c.user_code = named."userCode"'))).toHaveLength(1);
  // One plan for all values cannot use an index for it: this lookup read all user codes of the tenant.
  const optional = matching(
    /\$\d+(::\w+)? is null or/,
    '($2 is null or u.x = $2)',
    '($2::text is null or u.x = $2)',
  );
  expect(statements.filter((text) => optional.test(text))).toEqual([]);
});

/** Executes a prepared statement whose parameters are all the tenant, and returns the number of pages that it read. */
async function buffersOfGenericPlan(name: string, tenantId: string): Promise<number> {
  const client: pg.PoolClient = await service.db.pool.connect();
  try {
    await client.query('begin');
    await client.query(
      `select set_config('app.tenant_id', $1, true), set_config('app.courier_id', 'all', true)`,
      [tenantId],
    );
    await client.query('set local plan_cache_mode = force_generic_plan');
    const { rows: types } = await client.query<{ count: number }>(
      'select cardinality(parameter_types) as count from pg_prepared_statements where name = $1',
      [name],
    );
    const values = Array.from({ length: types[0]?.count ?? 0 }, () => `'${tenantId}'`).join(', ');
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
      `explain (analyze, buffers, format json) execute "${name}"(${values})`,
    );
    const plan = rows[0]?.['QUERY PLAN'][0].Plan;
    return (plan?.['Shared Hit Blocks'] ?? NaN) + (plan?.['Shared Read Blocks'] ?? NaN);
  } finally {
    await client.query('rollback');
    client.release();
  }
}

test('other pages, unusual sizes and filters are not prepared, so a caller cannot fill a connection with plans', async () => {
  const before = (await preparedStatements()).map(({ statement }) => statement);
  const bodies = [
    ...Array.from({ length: 40 }, (_, n) => ({ page: n + 2, limit: 25 })),
    ...Array.from({ length: 24 }, (_, n) => ({ limit: n + 51 })),
    { limit: 25, trackingNumber: 'PR1' },
    { limit: 25, userCode: 'IEX-1001' },
    { limit: 25, entryDateFloor: '2026-01-01' },
  ];
  for (const body of bodies) expect((await list(body)).status).toBe(200);
  const statements = await preparedStatements();
  expect(pagesOf(statements)).toHaveLength(1);
  // The totals of all packages may be prepared with any page, and the two statements that change how the next are planned. The service's own
  // work meanwhile reads no packages.
  const added = statements.filter(({ statement }) => !before.includes(statement));
  const ofCallers = added.filter(({ statement }) => /package|plan_cache_mode/.test(statement));
  expect(ofCallers.length).toBeLessThanOrEqual(3);
});

test('a page of another size, and a page with a filter, have the right rows after the first page was prepared', async () => {
  const numbers = async (body: Record<string, unknown>) => {
    const { data } = (await list(body)).body as { data: { tracking_number: string }[] };
    return data.map(({ tracking_number: number }) => number);
  };
  const first = await numbers({ limit: 25 });
  expect(await numbers({ limit: 50 })).toEqual([...first, ...(await numbers({ limit: 25, page: 2 }))]);
  expect(await numbers({ limit: 25, trackingNumber: 'PR19999' })).toEqual(['PR19999']);
});
