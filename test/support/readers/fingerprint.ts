import type pg from 'pg';

// Failed sign-ins are meant to leave a trace.
const UNWATCHED = ['_prisma_migrations', 'login_throttles'];

// What waits for a worker is written as well.
const QUEUE = ['_private_jobs', '_private_job_queues'];

// Servers write when a session was last used in the background.
const COLUMNS: Record<string, string> = {
  sessions: 'tenant_id, id, user_id, started_by, expires_at, ended_at, end_reason',
};

/** No test adds a table while it compares fingerprints. */
const statements = new WeakMap<pg.Pool, Promise<string>>();

/** One text for every row of every table: two that are equal mean that nothing was written in between. */
export async function fingerprint(owner: pg.Pool): Promise<Record<string, string>> {
  const statement = statements.get(owner) ?? statementOf(owner);
  statements.set(owner, statement);
  // prepared once for each connection: planning takes as long as reading the rows
  const { rows } = await owner.query<Record<string, string>>({ name: 'fingerprint', text: await statement });
  return rows[0] ?? {};
}

async function statementOf(owner: pg.Pool): Promise<string> {
  const tables = await owner.query<{ schema: string; name: string; has_json: boolean }>(
    `select relnamespace::regnamespace::text as schema, relname as name, exists (
       select from pg_attribute where attrelid = t.oid and atttypid = 'json'::regtype) as has_json
     from pg_class t where relkind = 'r'
     and (relnamespace = 'public'::regnamespace and relname <> all($1)
       or relnamespace = 'graphile_worker'::regnamespace and relname = any($2)) order by relname`,
    [UNWATCHED, QUEUE],
  );
  // sums of two hashes of 64 bits: sorting the texts of all rows took four times as long; json alone has no hash
  const parts = tables.rows.map(({ schema, name, has_json: hasJson }) => {
    const sum = (seed: number) =>
      hasJson ? `sum(hashtextextended(row::text, ${seed}))` : `sum(hash_record_extended(row, ${seed}))`;
    return `(select concat_ws(' ', count(*), ${sum(0)}, ${sum(1)}) from (select ${COLUMNS[name] ?? '*'} from "${schema}"."${name}") row) as "${name}"`;
  });
  return `select ${parts.join(', ')}`;
}
