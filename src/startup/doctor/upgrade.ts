import type { Config } from '../../config/config.js';
import { findMigrationFaults } from './owner.js';
import { packageVersion } from '../../config/project-root.js';
import { withClient } from '../../platform/db/connections/roles.js';
import { checkSearchPath } from '../../platform/db/login-check/settings.js';
import { readBackgroundMigrations } from '../../platform/db/migrations/background-rows.js';
import { readHistory } from '../../platform/db/migrations/history.js';
import { MIGRATIONS, readMigrations } from '../../platform/db/migrations/migration-files.js';
import { migrationsOf, readReleases, type Releases } from '../../platform/db/migrations/releases.js';
import {
  judgeUpgrade,
  type Installation,
  type UpgradeVerdict,
} from '../../platform/db/migrations/upgrade.js';

/**
 * Decides how the running installation can be upgraded to this version.
 *
 * @param from the version that runs, to decide without its database; it then counts as having finished no background migration
 * @throws when there is no database to inspect
 */
export async function examineUpgrade(config: Config, from: string | undefined): Promise<UpgradeVerdict> {
  if (from === packageVersion()) return SAME_VERSION;
  const shipped = await readMigrations(MIGRATIONS);
  const releases = await readReleases();
  if (from === undefined) return judgeUpgrade(await readInstallation(config), shipped, releases);
  const release = releases.versions[from];
  if (!release) return describeUnknown(from, releases);
  const history = migrationsOf(release, shipped).map(({ name }) => ({ name, finishedAt: new Date(0) }));
  return judgeUpgrade({ history, background: [] }, shipped, releases);
}

const SAME_VERSION: UpgradeVerdict = {
  verdict: 'rolling',
  reasons: ['This is that version.'],
  next: 'There is nothing to upgrade.',
};

const describeUnknown = (from: string, { versions }: Releases): UpgradeVerdict => ({
  verdict: 'unsupported',
  reasons: [`Version ${from} is later than this one, or was never released.`],
  next: `Name one of ${Object.keys(versions).join(', ')}, or omit --from.`,
});

function readInstallation({ databaseUrl, databaseOwnerUrl }: Config): Promise<Installation> {
  const url = databaseUrl ?? databaseOwnerUrl;
  if (!url) throw new Error('Set DATABASE_URL to the database of the running installation.');
  return withClient(url, async (client) => ({
    history: await readHistory(client),
    background: await readBackgroundMigrations(client),
    faults: [
      ...(await checkSearchPath(client)),
      ...(await findMigrationFaults(client, databaseOwnerUrl)),
    ].map(({ message, remedy }) => `${message} ${remedy}`),
  }));
}
