import type pg from 'pg';

// Failed logins are expected to change login_throttles. Servers settle earlier requests in write_allowances in the background:
// test/resilience/processes/write-allowance.test.ts shows that a refused request settles nothing.
// They also write the log of calls in the background: test/modules/api-calls shows what it has.
const EXCLUDED = [
  '_prisma_migrations',
  'login_throttles',
  'write_allowances',
  'api_calls',
  'api_call_parcels',
];

// Jobs for the workers count as writes.
const QUEUE = ['_private_jobs', '_private_job_queues'];

// Servers update the last use of a session or a service token in the background.
const COLUMNS: Record<string, string> = {
  service_tokens:
    'tenant_id, id, name, scopes, addresses, token_hash, previous_hash, previous_ends_at, expires_at, revoked_at',
  sessions: 'tenant_id, id, user_id, started_by, expires_at, ended_at, end_reason',
};

/** The counts of the log of calls are not among the quotas of a request. */
const ROWS: Record<string, string> = { courier_quotas: " where kind not like 'api\\_call%'" };

/** Cached, because no test adds a table while it compares fingerprints. */
const statements = new WeakMap<pg.Pool, Promise<string>>();

/**
 * Returns a text per table that changes with every committed write to it, even one that stores the same values. Equal
 * fingerprints mean that nothing was written in between.
 */
export async function fingerprint(owner: pg.Pool): Promise<Record<string, string>> {
  const statement = statements.get(owner) ?? statementOf(owner);
  statements.set(owner, statement);
  // Prepared once per connection, because planning takes as long as reading the rows.
  const { rows } = await owner.query<Record<string, string>>({ name: 'fingerprint', text: await statement });
  return rows[0] ?? {};
}

async function statementOf(owner: pg.Pool): Promise<string> {
  const { rows } = await owner.query<{ schema: string; name: string }>(
    `select relnamespace::regnamespace::text as schema, relname as name from pg_class where relkind = 'r'
     and (relnamespace = 'public'::regnamespace and relname <> all($1)
       or relnamespace = 'graphile_worker'::regnamespace and relname = any($2)) order by relname`,
    [EXCLUDED, QUEUE],
  );
  // An insert or an update creates a version with a new transaction id, and a delete removes one. Hashing all rows takes
  // five times as long.
  const parts = rows.map(({ schema, name }) => {
    const columns = COLUMNS[name];
    return columns
      ? `(select concat_ws(' ', count(*), sum(hash_record_extended(row, 0)), sum(hash_record_extended(row, 1))) from (select ${columns} from "${schema}"."${name}") row) as "${name}"`
      : `(select concat_ws(' ', count(*), sum(xmin::text::bigint)) from "${schema}"."${name}"${ROWS[name] ?? ''}) as "${name}"`;
  });
  return `select ${parts.join(', ')}`;
}
