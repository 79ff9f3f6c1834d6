import type pg from 'pg';

// Failed sign-ins are meant to leave a trace.
const UNWATCHED = ['_prisma_migrations', 'login_throttles'];

/** One text for every row of every table: two that are equal mean that nothing was written in between. */
export async function fingerprint(owner: pg.Pool): Promise<Record<string, string>> {
  const tables = await owner.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
     and relname <> all($1) order by relname`,
    [UNWATCHED],
  );
  const parts = tables.rows.map(
    ({ name }) =>
      `(select md5(coalesce(string_agg(row::text, chr(10) order by row::text), '')) from "${name}" row) as "${name}"`,
  );
  const { rows } = await owner.query<Record<string, string>>(`select ${parts.join(', ')}`);
  return rows[0] ?? {};
}
