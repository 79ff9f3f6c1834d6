import type pg from 'pg';
import { withClient } from '../../platform/db/connections/roles.js';
import { readDatabaseIdentity } from '../../platform/db/connections/server-identity.js';
import { checkSearchPath } from '../../platform/db/login-check/settings.js';
import {
  findOwnerFaults,
  findWrongOwner,
  readTablesOwner,
  type OwnerFault,
} from '../../platform/db/owner-check/check-owner.js';
import { orOk, problem, type Finding } from '../shared-checks/finding.js';
import type { Connected } from './checks/subject.js';

/** Examines whether the owner of the tables can apply the migrations of the next upgrade. */
export async function checkOwner({
  client,
  config,
}: Pick<Connected, 'client' | 'config'>): Promise<Finding[]> {
  const faults = await findMigrationFaults(client, config.databaseOwnerUrl);
  const owner = await readTablesOwner(client);
  return orOk(
    faults.map(({ message, remedy }) => problem(message, remedy)),
    owner === null ? 'The database has no tables yet.' : `The role ${owner} can apply migrations.`,
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
