import { hasTable, readRows, type Queryable } from '../connections/rows.js';
import { listMigrations } from './migration-files.js';

/** A row of Prisma's table of migrations. */
export type HistoryRow = {
  name: string;
  checksum: string;
  startedAt: Date;
  /** Null if the migration began and neither completed nor was marked as rolled back. */
  finishedAt: Date | null;
  /** Whether it was recorded as one that processes of the previous release do not survive. */
  needsStop: boolean;
};

/** Returns the applied and the unfinished migrations in the order in which they began. Those rolled back are omitted. */
export async function readHistory(client: Queryable): Promise<HistoryRow[]> {
  if (!(await hasTable(client, '_prisma_migrations'))) return [];
  return readRows(
    client,
    `select migration_name as name, checksum, started_at as "startedAt", finished_at as "finishedAt",
       coalesce(logs = 'upgrade: stop', false) as "needsStop"
     from _prisma_migrations where rolled_back_at is null order by started_at, migration_name`,
  );
}

/** Returns the name that sorts last; an empty text without migrations. */
export const lastName = (migrations: { name: string }[]): string =>
  migrations.reduce((last, { name }) => (name > last ? name : last), '');

/** Returns the name of one migration, and of many their number with the first and the last. */
export const nameMigrations = (names: string[]): string =>
  names.length <= 1 ? names.join() : `${names.length} migrations, from ${names[0]} to ${names.at(-1)}`;

/** Returns the names of the migrations in `folder` that the database has not applied, oldest first. */
export async function listPending(client: Queryable, folder: string): Promise<string[]> {
  return findPending(client, await listMigrations(folder));
}

/** Returns those of `names` that the database has not applied. */
export async function findPending(client: Queryable, names: string[]): Promise<string[]> {
  const history = await readHistory(client);
  const applied = new Set(history.filter(({ finishedAt }) => finishedAt).map(({ name }) => name));
  return names.filter((name) => !applied.has(name));
}
