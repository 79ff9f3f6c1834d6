import { join } from 'node:path';
import type pg from 'pg';
import type { Config } from '../../../src/config/config.js';
import { projectRoot } from '../../../src/config/project-root.js';
import { seedDemo } from '../../../fixtures/demo/seed.js';
import { startEmbeddedPostgres } from '../../../src/development/embedded-postgres/embedded-server.js';
import { openSecrets } from '../../../src/platform/access/secrets.js';
import { withClient } from '../../../src/platform/db/connections/roles.js';
import { MIGRATIONS } from '../../../src/platform/db/migrations/migration-files.js';
import { migrate } from '../../../src/platform/db/migrations/migrate.js';
import { openScratchServer, type ScratchServer } from './scratch.js';

export type Print = (line: string) => void;

/** Where the data are: in a temporary database, or in one that stays for the next run. */
export type Place = 'temporary' | { folder: string; database: string };

/**
 * Opens a database with the demo data for `work`, and closes it whatever happens. `ownerUrl` connects as its owner. `settings` are
 * those of an embedded server with kept data.
 */
export async function withDatabase<Result>(
  config: Config,
  { place, print, settings = {} }: { place: Place; print: Print; settings?: Record<string, string> },
  work: (ownerUrl: string) => Promise<Result>,
): Promise<Result> {
  const server = await (place === 'temporary'
    ? openScratchServer(config)
    : openKeptServer(config, { ...place, settings }, print));
  try {
    await migrate(server.url, MIGRATIONS);
    await withClient(server.url, (client: pg.Client) =>
      seedDemo(client, openSecrets(config.secrets), new Date()),
    );
    return await work(server.url);
  } finally {
    await server.stop();
  }
}

/** The place of a full run, whose data stay in .data/, or of a smoke run. */
export const placeOf = (scale: string, name: string): Place =>
  scale === 'smoke' ? 'temporary' : { folder: name, database: `crossdock_${name}` };

/** Opens the operator's server, or an embedded one whose data stay in .data/. */
async function openKeptServer(
  { databaseOwnerUrl }: Config,
  { folder, database, settings }: Exclude<Place, string> & { settings: Record<string, string> },
  log: Print,
): Promise<ScratchServer> {
  if (databaseOwnerUrl) return { url: databaseOwnerUrl, stop: async () => undefined };
  return startEmbeddedPostgres({
    dataDir: join(projectRoot, '.data', folder),
    database,
    log,
    settings: { shared_buffers: '512MB', max_wal_size: '4GB', ...settings },
  });
}
