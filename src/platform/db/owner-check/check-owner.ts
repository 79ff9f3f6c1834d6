import type pg from 'pg';
import { readRow } from '../connections/rows.js';
import { checkSearchPath } from '../login-check/settings.js';
import { EXAMINE_OWNER, READ_TABLES_OWNER } from './statement.js';

/** A right that the owner lacks. The remedy is a sentence with a statement. */
export type OwnerFault = { message: string; remedy: string };

type TablesOwner = { role: string; database: string; owner: string | null; isOwner: boolean };

type Row = { kind: string; object: string; owner: string | null; statement: string };

/** Returns the role that owns most tables. Null in a new database. */
export async function readTablesOwner(client: pg.ClientBase): Promise<string | null> {
  return (await readOwner(client)).owner;
}

/**
 * Refuses a connection whose role does not own the tables, for example that of the service's login.
 *
 * @param setting the setting with the URL of the connection
 */
export async function assertOwner(client: pg.ClientBase, setting = 'DATABASE_OWNER_URL'): Promise<void> {
  // With a wrong search_path, a statement on the tables finds others or none.
  const [path] = await checkSearchPath(client);
  if (path) throw new Error(`${setting}: ${path.message} ${path.remedy}`);
  const wrong = describeRole(await readOwner(client), setting);
  if (wrong) throw new Error(`${wrong.message} ${wrong.remedy}`);
}

/** Refuses to migrate with a role that would fail in the middle, or own the new tables alone. @throws Error with one line per fault */
export async function assertMayMigrate(client: pg.ClientBase): Promise<void> {
  const found = await readOwner(client);
  const other = describeCreator(found, 'DATABASE_OWNER_URL');
  const faults = [...(other ? [other] : []), ...(await findOwnerFaults(client, found.role))];
  if (faults.length === 0) return;
  throw new Error(
    [...faults.map(({ message, remedy }) => `${message} ${remedy}`), 'Nothing is applied.'].join('\n'),
  );
}

/** Returns why the role of a connection must not migrate: it is not the owner. Undefined if it is, or if the database is new. */
export async function findWrongOwner(
  client: pg.ClientBase,
  setting: string,
): Promise<OwnerFault | undefined> {
  const found = await readOwner(client);
  return describeRole(found, setting) ?? describeCreator(found, setting);
}

/** Returns what a role lacks to apply migrations. */
export async function findOwnerFaults(client: pg.ClientBase, role: string): Promise<OwnerFault[]> {
  const { rows } = await client.query<Row>(EXAMINE_OWNER, [role]);
  return rows.map((row) => ({
    message: describe(row, role),
    remedy: `Run as a superuser: ${row.statement}`,
  }));
}

const readOwner = (client: pg.ClientBase): Promise<TablesOwner> => readRow(client, READ_TABLES_OWNER);

function describeRole(
  { role, database, owner, isOwner }: TablesOwner,
  setting: string,
): OwnerFault | undefined {
  if (isOwner) return undefined;
  const named = setting === 'DATABASE_URL' ? 'DATABASE_URL, because DATABASE_OWNER_URL is not set,' : setting;
  return {
    message: `The role ${role} of ${named} does not own the tables of the database ${database}, which belong to ${owner}.`,
    remedy: `Set ${setting === 'DATABASE_URL' ? 'DATABASE_OWNER_URL' : setting} to a connection of the role ${owner}.`,
  };
}

/** A superuser has the rights of the owner, but new tables would belong to it, and no process starts on a schema with two owners. */
function describeCreator({ role, database, owner }: TablesOwner, setting: string): OwnerFault | undefined {
  if (owner === null || owner === role) return undefined;
  return {
    message: `New tables would belong to the role ${role} of ${setting}. The tables of the database ${database} belong to ${owner}.`,
    remedy: `Set ${setting} to a connection of the role ${owner}.`,
  };
}

function describe({ kind, object, owner }: Row, role: string): string {
  switch (kind) {
    case 'database':
      return `The role ${role} may not create schemas in the database ${object}, which belongs to ${owner}.`;
    case 'schema':
      return `The role ${role} may not create tables in the schema ${object}, which belongs to ${owner}.`;
    case 'table':
      return `The role ${role} does not own the table ${object}, which belongs to ${owner}.`;
    default:
      return `The role ${role} is not a member of ${object}, so it cannot replace the functions of that role.`;
  }
}
