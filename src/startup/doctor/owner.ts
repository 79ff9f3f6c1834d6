import pg from 'pg';
import { commandLine } from '../../config/commands.js';
import { withClient } from '../../platform/db/connections/roles.js';
import { readValues } from '../../platform/db/connections/rows.js';
import { readDatabaseIdentity } from '../../platform/db/connections/server-identity.js';
import { checkSearchPath } from '../../platform/db/login-check/settings.js';
import {
  findOwnerFaults,
  findWrongOwner,
  readTablesOwner,
  type OwnerFault,
} from '../../platform/db/owner-check/check-owner.js';
import { orOk, problem, warning, type Finding } from '../shared-checks/finding.js';
import type { Connected } from './checks/subject.js';

/** Examines whether the owner of the tables can apply the migrations of the next upgrade. */
export async function checkOwner({
  client,
  config,
}: Pick<Connected, 'client' | 'config'>): Promise<Finding[]> {
  const faults = await findMigrationFaults(client, config.databaseOwnerUrl);
  const owner = await readTablesOwner(client);
  return orOk(
    [
      ...faults.map(({ message, remedy }) => problem(message, remedy)),
      owner !== null && config.appEnv !== 'development' && (await findSuperuser(client, owner)),
    ],
    owner === null ? 'The database has no tables yet.' : `The role ${owner} can apply migrations.`,
  );
}

/** The first role of a server, which initdb makes. It stays a superuser, and keeps what it owns. */
const BOOTSTRAP_OID = 10;

/** Warns if the owner of the tables is a superuser: who has DATABASE_OWNER_URL then has the whole server, with its files and programs. */
async function findSuperuser(client: pg.Client, owner: string): Promise<Finding | undefined> {
  const [oid] = await readValues<number>(
    client,
    'select oid::int from pg_roles where rolname = $1 and rolsuper',
    [owner],
  );
  if (oid === undefined) return undefined;
  return warning(
    `The role ${owner}, which owns the tables, is a superuser, so DATABASE_OWNER_URL opens every database of the server, its files and its programs.`,
    oid === BOOTSTRAP_OID
      ? 'Create another owner with deploy/postgres/roles.sql (-v restored=true), give it the database, its schemas, tables, functions and policies with alter, and set DATABASE_OWNER_URL to it. ' +
          `${commandLine('doctor')} then names what it still lacks.`
      : `Run as another superuser: alter role ${pg.escapeIdentifier(owner)} nosuperuser; Then run ${commandLine('doctor')} again: it names the rights that the role lacks.`,
  );
}

/**
 * Returns what keeps the owner from applying migrations. A database that was restored without its owner serves, and then refuses the
 * upgrade.
 *
 * @param client any connection to the database
 * @param ownerUrl the connection of DATABASE_OWNER_URL is examined too, if there is one
 */
export async function findMigrationFaults(
  client: pg.Client,
  ownerUrl: string | undefined,
): Promise<OwnerFault[]> {
  const owner = await readTablesOwner(client);
  return [
    ...(owner === null ? [] : await findOwnerFaults(client, owner)),
    // Another check reports that the connection does not work.
    ...(ownerUrl ? await examineOwner(client, ownerUrl).catch(() => []) : []),
  ];
}

/** A URL of another database would be examined there, and its migrations would go there too. */
async function examineOwner(client: pg.Client, ownerUrl: string): Promise<OwnerFault[]> {
  const own = await readDatabaseIdentity(client);
  return withClient(ownerUrl, async (owner) =>
    (await readDatabaseIdentity(owner)) === own ? examineConnection(owner) : [OTHER_DATABASE],
  );
}

const setting = 'DATABASE_OWNER_URL';

const OTHER_DATABASE: OwnerFault = {
  message: `${setting} leads to another database than DATABASE_URL.`,
  remedy: `Set ${setting} to the URL of the owner in the database of DATABASE_URL.`,
};

async function examineConnection(client: pg.Client): Promise<OwnerFault[]> {
  const path = await checkSearchPath(client);
  const wrong = await findWrongOwner(client, setting);
  return [
    ...path.map(({ message, remedy }) => ({ message: `${setting}: ${message}`, remedy })),
    ...(wrong ? [wrong] : []),
  ];
}
