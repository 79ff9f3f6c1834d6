import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '../../../config/project-root.js';
import type { Migration } from './migration-files.js';

export const RELEASES = join(projectRoot, 'prisma', 'released.json');

/** Which migrations each release contains. Within one release, migrations are added only after its last one. */
export type Releases = {
  /** The oldest release that can be upgraded to this code. */
  upgradesFrom: string;
  versions: Record<string, Release>;
};

export type Release = {
  /** The names of all of them, in their order. */
  migrations: string[];
  /** The name of the last migration. */
  last: string;
  /** The hash of the names and checksums of all of them. */
  sha256: string;
};

export async function readReleases(path = RELEASES): Promise<Releases> {
  // The file belongs to this code, and test/database/migrations/rules.test.ts checks its content.
  return JSON.parse(await readFile(path, 'utf8')) as Releases;
}

/** Returns the migrations of `migrations` that a release contains. */
export const migrationsOf = (release: Release, migrations: Migration[]): Migration[] =>
  migrations.filter(({ name }) => name <= release.last);

/**
 * Compares the names of migrations with those of a release. Returns one line per difference: a release has been applied, so its
 * migrations keep their names, and new ones sort after them.
 */
export function compareNames(
  version: string,
  { migrations: released, last }: Release,
  names: string[],
): string[] {
  return [
    ...released
      .filter((name) => !names.includes(name))
      .map((name) => `${name} of version ${version} is missing or was renamed. Restore its folder.`),
    ...names
      .filter((name) => !released.includes(name) && name <= last)
      .map(
        (name) =>
          `${name} sorts before ${last}, the last migration of version ${version}. Rename its folder so that it sorts last.`,
      ),
  ];
}

/** Returns a release of these migrations. */
export function describeRelease(migrations: Migration[]): Release {
  const lines = migrations.map(({ name, checksum }) => `${checksum}  ${name}\n`);
  return {
    migrations: migrations.map(({ name }) => name),
    last: migrations.at(-1)?.name ?? '',
    sha256: createHash('sha256').update(lines.join('')).digest('hex'),
  };
}
