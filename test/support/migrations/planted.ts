import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MIGRATIONS } from '../../../src/platform/db/migrations/migration-files.js';
import { makeFolder } from '../service/processes.js';

/** A migration that only a test has. Without `isBare`, a script without a header is given one. */
export type Planted = { name: string; script: string; background?: string; isBare?: boolean };

/** Creates a folder with the real migrations and these. */
export async function plantMigrations(...planted: Planted[]): Promise<string> {
  const folder = await makeFolder();
  await cp(MIGRATIONS, folder, { recursive: true });
  for (const migration of planted) await plantIn(folder, migration);
  return folder;
}

/** Adds or replaces a migration in a folder. */
export async function plantIn(folder: string, { name, script, background, isBare }: Planted): Promise<void> {
  await mkdir(join(folder, name), { recursive: true });
  const header = isBare || script.startsWith('-- upgrade:') ? '' : '-- upgrade: rolling\n';
  await writeFile(join(folder, name, 'migration.sql'), header + script);
  if (background) await writeFile(join(folder, name, 'background.sql'), background);
}
