import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { APP_ROLE } from '../../../src/platform/db/connections/roles.js';
import { withServiceScope, type Scope } from '../../support/builders/row-security.js';
import { demoDatabase, type TestDatabase } from '../../support/service/database.js';

// Functions that bypass row-level security. Whoever can run SQL with the service's login can call them, with or without a scope.

const { demo, two } = DEMO.tenants;
const { IEX, HRB, TWO } = DEMO.couriers;

/** What the service calls before it knows a tenant, or for all of them. None returns a row of a tenant. */
const WITHOUT_SCOPE: Record<string, string> = {
  // The ids of tenants, for jobs.
  'all_tenants()': 'SETOF uuid',
  // Those in which something can happen, for frequent jobs.
  'open_tenants()': 'SETOF uuid',
  // How many of them are no sandboxes, for the connections.
  'count_live_tenants()': 'integer',
  // Those of open sandboxes, for the job that plays lives in them.
  'open_sandboxes()': 'SETOF uuid',
  // A request has no scope until the tenant of its host is known. Clients know the host.
  'tenant_of_host(text)': 'uuid',
  'tenants_at_host(text)': 'TABLE(tenant_id uuid, is_exact boolean, state text)',
  // Sums over all tenants, for metrics. None is per tenant.
  'outbound_backlog()':
    'OUT pending_deliveries bigint, OUT oldest_due_delivery_seconds double precision, OUT paused_endpoints bigint, ' +
    'OUT queued_mails bigint, OUT oldest_queued_mail_seconds double precision, ' +
    'OUT open_syncs bigint, OUT oldest_open_sync_seconds double precision',
  'label_backlog()':
    'OUT waiting_labels bigint, OUT oldest_waiting_label_seconds double precision, OUT failed_labels bigint',
};

/** They write the tenant of a sandbox and its path, for the tenant of the scope: test/modules/sandboxes/sandbox-isolation.test.ts. */
const WRITING: Record<string, string> = {
  'open_sandbox(uuid,text,uuid)': 'void',
  'close_sandbox(uuid)': 'void',
};

/** A name that only one customer has. Tests add it as `Zanzibarius Quellmont`. */
const [FIRST, LAST] = ['Zanzibarius', 'Quellmont'];

type Returned = { returns: string; ids: string };

/** Statements that select the ids of all rows that a function finds: of packages, pre-alerts and customers. */
const FINDING: Record<string, Returned> = {
  'search_prealerts(text)': { returns: 'SETOF uuid', ids: "search_prealerts('%')" },
  'prealerts_containing(text,uuid)': { returns: 'SETOF uuid', ids: "prealerts_containing('%', null)" },
  'search_packages(text,text,text,text)': {
    returns: 'SETOF uuid',
    ids: "search_packages('%', null, null, null)",
  },
  'packages_containing(text,text,text,text,uuid)': {
    returns: 'SETOF uuid',
    ids: "packages_containing('%', null, null, null, null)",
  },
  'packages_of_text(text,text[],text[],text,text,text,uuid)': {
    returns: 'SETOF uuid',
    ids: "packages_of_text('%', '{}', '{}', null, null, null, null)",
  },
  'customers_matching(text)': { returns: 'SETOF uuid', ids: "customers_matching('%')" },
  'customers_containing(text,uuid)': { returns: 'SETOF uuid', ids: "customers_containing('%', null)" },
  'search_customers(text,uuid,integer)': { returns: 'SETOF uuid', ids: "search_customers('%', null, 1000)" },
  'match_customers(text,uuid,integer)': {
    returns: 'TABLE(id uuid, score double precision)',
    ids: `(select id from match_customers('${FIRST} ${LAST}', null, 1000))`,
  },
  'customers_named(text,uuid,integer)': {
    returns: 'SETOF uuid',
    ids: `customers_named('${FIRST} ${LAST}', null, 1000)`,
  },
};

/** The others say something about a row or a word. The tests below have one each. */
const TELLING: Record<string, string> = {
  'missing_customer_terms(uuid,uuid[],text[])': 'TABLE(scope_id uuid, term text)',
  'unneeded_terms(uuid[])': 'uuid[]',
  'split_names(text,uuid)': 'SETOF text',
  'package_has_courier(uuid)': 'boolean',
  'package_is_disputed(uuid,text[])': 'boolean',
};

let database: TestDatabase;
let owner: pg.Pool;

beforeAll(async () => {
  database = await demoDatabase();
  owner = new pg.Pool({ connectionString: database.ownerUrl, max: 2 });
  for (const [tenant, courier] of [
    [two, TWO],
    [demo, HRB],
  ])
    await owner.query(
      `insert into customers (tenant_id, id, courier_id, user_code, first_name, last_name)
       values ($1, gen_random_uuid(), $2, 'RARE-1', $3, $4)`,
      [tenant, courier, FIRST, LAST],
    );
}, 60_000);
afterAll(async () => {
  await owner.end();
  await database.drop();
});

const NOWHERE: Scope = { tenantId: '', courierId: '' };
const HALVES: Scope[] = [NOWHERE, { tenantId: '', courierId: 'all' }, { tenantId: demo, courierId: '' }];
const OF_DEMO: Scope = { tenantId: demo, courierId: 'all' };
const OF_TWO: Scope = { tenantId: two, courierId: 'all' };
const OF_IEX: Scope = { tenantId: demo, courierId: IEX };
const OF_HRB: Scope = { tenantId: demo, courierId: HRB };

/** Returns the first column of an expression that returns rows, in a scope of the service's role. */
const valuesIn = (scope: Scope, expression: string, values: unknown[] = []): Promise<unknown[]> =>
  withServiceScope(owner, scope, async (client) => {
    const { rows } = await client.query<Record<string, unknown>>(`select ${expression} as value`, values);
    return rows.map(({ value }) => value);
  });

const idsIn = (scope: Scope, ids: string) =>
  withServiceScope(owner, scope, async (client) => {
    const from = ids.startsWith('(') ? `${ids} as found` : `${ids} as found (id)`;
    const { rows } = await client.query<{ id: string }>(`select id from ${from}`);
    return rows.map(({ id }) => id);
  });

/** Returns the tenants, or the couriers, of rows. */
async function ownersOf(ids: string[], column: 'tenant_id' | 'courier_id'): Promise<(string | null)[]> {
  const from = (table: string) => `select ${column} as owner from ${table} where id = any($1)`;
  const { rows } = await owner.query<{ owner: string | null }>(
    `${from('packages')} union ${from('prealerts')} union ${from('customers')}`,
    [ids],
  );
  return rows.map((row) => row.owner);
}

async function valueOf(statement: string, values: unknown[]): Promise<unknown> {
  const { rows } = await owner.query<Record<string, unknown>>(statement, values);
  return Object.values(rows[0] ?? {})[0];
}

test('the service may execute only these functions with the rights of another role: review each new one', async () => {
  const { rows } = await owner.query<{ signature: string; returns: string }>(
    `select p.oid::regprocedure::text as signature,
       case when p.prorettype = 'record'::regtype and not p.proretset then pg_get_function_arguments(p.oid)
         else pg_get_function_result(p.oid) end as returns
     from pg_proc p
     where p.prosecdef and has_function_privilege($1, p.oid, 'execute') order by 1`,
    [APP_ROLE],
  );
  const reviewed = { ...WITHOUT_SCOPE, ...TELLING, ...WRITING };
  for (const [signature, { returns }] of Object.entries(FINDING)) reviewed[signature] = returns;
  expect(Object.fromEntries(rows.map(({ signature, returns }) => [signature, returns]))).toEqual(reviewed);
});

test('none of them returns a password hash, a secret or a key', async () => {
  const { rows } = await owner.query<{ column: string }>(
    `select c.table_name || '.' || c.column_name as column from information_schema.columns c
     where c.table_schema = 'public' and c.column_name ~ '(hash|secret|cipher)'
       and has_column_privilege('crossdock_lookup', format('%I', c.table_name)::regclass, c.column_name, 'select')`,
  );
  expect(rows.map(({ column }) => column)).toEqual([]);
});

describe.each(Object.entries(FINDING))('%s', (_signature, { ids }) => {
  test('finds nothing without the scope of a tenant', async () => {
    for (const scope of HALVES) expect([scope, await idsIn(scope, ids)]).toEqual([scope, []]);
  });

  test('finds only rows of the tenant of the scope', async () => {
    expect(await ownersOf(await idsIn(OF_TWO, ids), 'tenant_id')).toEqual([two]);
    expect(await ownersOf(await idsIn(OF_DEMO, ids), 'tenant_id')).toEqual([demo]);
  });

  test('finds only rows of the courier of the scope', async () => {
    expect(await ownersOf(await idsIn(OF_HRB, ids), 'courier_id')).toEqual([HRB]);
    const ofAnother = await ownersOf(await idsIn(OF_IEX, ids), 'courier_id');
    expect(ofAnother.filter((courier) => courier !== IEX)).toEqual([]);
  });
});

test('words of customers are known only in the scope of their tenant', async () => {
  const joined = `array(select split_names('${FIRST}${LAST}', null))`;
  for (const scope of [NOWHERE, OF_IEX]) expect(await valuesIn(scope, joined)).toEqual([[]]);
  for (const scope of [OF_TWO, OF_DEMO, OF_HRB]) expect(await valuesIn(scope, joined)).not.toEqual([[]]);
});

test('a word of another tenant is missing, like one that nobody has', async () => {
  const term = await valueOf('select term from customer_terms where tenant_id = $1 and term ilike $2', [
    two,
    FIRST,
  ]);
  const missing = 'array(select m.term from missing_customer_terms($1, array[$1::uuid], array[$2]) m)';
  expect(await valuesIn(OF_TWO, missing, [two, term])).toEqual([[]]);
  for (const scope of [NOWHERE, OF_DEMO, OF_IEX])
    expect(await valuesIn(scope, missing, [two, term])).toEqual([[term]]);
});

test('terms of another tenant are never unneeded', async () => {
  // A second entry of the same word is not needed.
  const id = 'ffffffff-ffff-7fff-bfff-ffffffffffff';
  await owner.query(
    `insert into customer_terms (tenant_id, id, scope_id, term)
     select tenant_id, $2, scope_id, term from customer_terms where tenant_id = $1 and term ilike $3 limit 1`,
    [two, id, FIRST],
  );
  const unneeded = 'unneeded_terms(array[$1::uuid])';
  expect(await valuesIn(OF_TWO, unneeded, [id])).toEqual([[id]]);
  for (const scope of [NOWHERE, OF_DEMO, { ...OF_TWO, courierId: TWO }])
    expect(await valuesIn(scope, unneeded, [id])).toEqual([[]]);
});

test('whether a package has a courier is told only in the scope of its tenant', async () => {
  const id = await valueOf('select id from packages where tenant_id = $1 and courier_id is not null', [two]);
  expect(await valuesIn(OF_TWO, 'package_has_courier($1)', [id])).toEqual([true]);
  for (const scope of [NOWHERE, OF_DEMO, OF_IEX])
    expect(await valuesIn(scope, 'package_has_courier($1)', [id])).toEqual([false]);
});

test('whether another courier claims a package is told only to the courier that has it', async () => {
  const ofHrb = 'where p.courier_id = $1 and p.tracking_key is not null order by p.id limit 1';
  const key = await valueOf(`select p.tracking_key from packages p ${ofHrb}`, [HRB]);
  const id = await valueOf(`select p.id from packages p ${ofHrb}`, [HRB]);
  await owner.query(
    `insert into prealerts (tenant_id, id, courier_id, user_code, tracking_number, tracking_key, announced_key, status)
     values ($1, gen_random_uuid(), $2, 'IEX-1001', $3, $3, $3, 'flagged')`,
    [demo, IEX, key],
  );
  const disputed = 'package_is_disputed($1, array[$2])';
  expect(await valuesIn(OF_HRB, disputed, [id, key])).toEqual([true]);
  for (const scope of [NOWHERE, OF_TWO, OF_DEMO, OF_IEX, { ...OF_TWO, courierId: HRB }])
    expect([scope, await valuesIn(scope, disputed, [id, key])]).toEqual([scope, [false]]);
});
