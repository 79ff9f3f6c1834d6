import type pg from 'pg';

/**
 * Takes the statistics of every table that has rows; without them the first large writes would be planned for empty
 * tables. An empty one is left out: once it was found empty it is planned as no longer than it is, and a foreign key to
 * it checked by reading it whole. The first 10,000 events with deliveries took 13 s that way, 0.5 s without.
 */
export async function analyzeFilled(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ statement: string }>(
    `select format('analyze %I.%I', nspname, relname) as statement
     from pg_class t join pg_namespace n on n.oid = t.relnamespace
     where nspname in ('public', 'graphile_worker') and relkind = 'r' and pg_relation_size(t.oid) > 0`,
  );
  for (const { statement } of rows) await client.query(statement);
}
