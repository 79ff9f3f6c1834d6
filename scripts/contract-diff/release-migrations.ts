import { writeFile } from 'node:fs/promises';
import { MIGRATIONS, readMigrations } from '../../src/platform/db/migrations/migration-files.js';
import { describeRelease, readReleases, RELEASES } from '../../src/platform/db/migrations/releases.js';

/** Adds a release with the present migrations to prisma/released.json. */
export async function releaseMigrations(version: string, path = RELEASES): Promise<void> {
  const { upgradesFrom, versions } = await readReleases(path);
  const released = { ...versions, [version]: describeRelease(await readMigrations(MIGRATIONS)) };
  await writeFile(path, `${JSON.stringify({ upgradesFrom, versions: released }, undefined, 2)}\n`);
}
