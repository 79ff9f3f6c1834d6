import type pg from 'pg';
import { APP_ROLE } from '../../../src/platform/db/connections/roles.js';

/** What `app.tenant_id` and `app.courier_id` hold in a transaction; the courier is `all` for staff. */
export type Scope = { tenantId: string; courierId: string };

type Column = 'tenant_id' | 'courier_id';

/** Runs `work` in the service's role and a scope, and rolls it back. */
export async function inScopeOf<Result>(
  owner: pg.Pool,
  { tenantId, courierId }: Scope,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await owner.connect();
  try {
    await client.query('begin');
    await client.query(
      "select set_config('app.tenant_id', $1, true), set_config('app.courier_id', $2, true)",
      [tenantId, courierId],
    );
    await client.query(`set local role ${APP_ROLE}`);
    return await work(client);
  } finally {
    await client.query('rollback');
    client.release();
  }
}

/** The tables that the service may read and in which the owner finds a row with this value. */
export async function tablesHolding(owner: pg.Pool, column: Column, value: string): Promise<string[]> {
  const { rows } = await owner.query<{ name: string }>(
    `select t.relname as name from pg_class t join pg_attribute a on a.attrelid = t.oid
     where t.relnamespace = 'public'::regnamespace and t.relkind in ('r', 'p') and a.attname = $1
       and has_table_privilege($2, t.oid, 'select') order by name`,
    [column, APP_ROLE],
  );
  const names = rows.map(({ name }) => name);
  const values = await Promise.all(names.map((name) => valuesOf(owner, name, column)));
  return names.filter((_, index) => values[index]?.includes(value));
}

/** The distinct values of a column, read without a filter. */
export async function valuesOf(client: pg.Pool | pg.PoolClient, table: string, column: Column) {
  const { rows } = await client.query<{ value: string | null }>(
    `select distinct ${column} as value from ${table} order by 1`,
  );
  return rows.map(({ value }) => value);
}

/** Copies the first row with this value in the service's role and a scope. Returns the refusal. */
export async function refusalOfCopy(
  owner: pg.Pool,
  scope: Scope,
  { table, column, value }: { table: string; column: Column; value: string },
): Promise<string> {
  const { rows } = await owner.query<{ row: object; columns: string }>(
    `select to_jsonb(t) as row, (select string_agg(quote_ident(attname), ', ') from pg_attribute
       where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = '') as columns
     from ${table} t where ${column} = $2 limit 1`,
    [table, value],
  );
  const [source] = rows;
  if (!source) throw new Error(`${table} has no row with ${column} ${value}.`);
  const insert = `insert into ${table} (${source.columns}) overriding system value
    select ${source.columns} from jsonb_populate_record(null::${table}, $1)`;
  return inScopeOf(owner, scope, (client) =>
    client.query(insert, [source.row]).then(
      () => 'no refusal',
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    ),
  );
}
