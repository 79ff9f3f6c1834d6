import pg from 'pg';

/**
 * Returns how many deadlocks PostgreSQL detected in this database. Sessions report when they end, so all others are
 * terminated.
 */
export async function deadlocksOf(owner: pg.Pool): Promise<number> {
  const client = new pg.Client({ connectionString: owner.options.connectionString });
  await client.connect();
  try {
    const others = 'from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()';
    const left = async () =>
      (await client.query(`select pg_terminate_backend(pid) ${others} and backend_type = 'client backend'`))
        .rowCount;
    while ((await left()) !== 0) await new Promise((resolve) => setTimeout(resolve, 10));
    const { rows } = await client.query<{ deadlocks: number }>(
      'select deadlocks::int from pg_stat_database where datname = current_database()',
    );
    return rows[0]?.deadlocks ?? -1;
  } finally {
    await client.end();
  }
}
