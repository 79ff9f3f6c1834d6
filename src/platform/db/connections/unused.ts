import { readValue, type Queryable } from './rows.js';

/**
 * A running service would see half of the changes, and in production there is always one.
 *
 * @throws Error when other connections use the database
 */
export async function assertUnused(client: Queryable): Promise<void> {
  const sessions = await readValue<number>(
    client,
    // Of other roles' connections an owner sees only these columns. PostgreSQL's own processes have no user.
    `select count(*)::int from pg_stat_activity
     where datname = current_database() and usename is not null and pid <> pg_backend_pid()`,
  );
  if (sessions > 0)
    throw new Error(
      `${sessions} other connections use this database. Stop the service and close them first.`,
    );
}
