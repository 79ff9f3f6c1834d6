import type pg from 'pg';
import { hasTable, readRows, type Queryable } from '../connections/rows.js';
import type { Migration } from './migration-files.js';

type BackgroundStatus = 'running' | 'paused' | 'finished';

/** The progress of a background migration. */
export type BackgroundRow = {
  name: string;
  status: BackgroundStatus;
  rowsDone: number;
  rowsTotal: number;
  /** Every tenant before this one is done. Null at the beginning. */
  tenantId: string | null;
  lastError: string | null;
  /** The rows that the migration has reported, for example packages that are stored twice. */
  findings: number;
};

/** Adds the row from which workers start. */
export async function addBackgroundMigration(
  client: pg.ClientBase,
  { name, background }: Migration,
  isNew: boolean,
): Promise<void> {
  await client.query(
    `insert into installation.background_migrations (name, status, rows_total, finished_at)
     select $1, case when $3 then 'finished' else 'running' end, greatest(reltuples, 0), case when $3 then now() end
     from pg_class where oid = $2::regclass`,
    [name, background?.table, isNew],
  );
}

/** Returns the background migrations of the database, oldest first; none if its schema is older than they are. */
export async function readBackgroundMigrations(client: Queryable): Promise<BackgroundRow[]> {
  if (!(await hasTable(client, 'installation.background_migrations'))) return [];
  return readRows(
    client,
    `select name, status, rows_done::float as "rowsDone", rows_total::float as "rowsTotal", tenant_id as "tenantId",
       last_error as "lastError", coalesce((to_jsonb(m) ->> 'findings')::float, 0) as findings
     from installation.background_migrations m order by name`,
  );
}

/** Marks a background migration as finished, unless it was paused meanwhile. */
export async function finishBackgroundMigration(pool: pg.Pool, name: string): Promise<void> {
  await pool.query(
    `update installation.background_migrations set status = 'finished', finished_at = now(), updated_at = now()
     where name = $1 and status = 'running'`,
    [name],
  );
}

/** Records why the last batch failed. The next batch that succeeds removes it. */
export async function recordBackgroundError(pool: pg.Pool, name: string, message: string): Promise<void> {
  await pool.query(
    'update installation.background_migrations set last_error = $2, updated_at = now() where name = $1',
    [name, message],
  );
}

/**
 * Pauses or resumes a background migration. A batch that is running is completed first.
 *
 * @throws when there is no such migration, or it has finished
 */
export async function setBackgroundStatus(
  client: pg.ClientBase,
  name: string,
  status: 'running' | 'paused',
): Promise<void> {
  const { rowCount } = await client.query(
    `update installation.background_migrations set status = $2, updated_at = now()
     where name = $1 and status <> 'finished'`,
    [name, status],
  );
  if (rowCount === 0) throw new Error(`No unfinished background migration is named ${name}.`);
}
