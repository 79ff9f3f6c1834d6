import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Returns the path of a program of this machine by one of its names; undefined if it has none of them. */
export function findProgram(...names: string[]): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Returns a test's title with the reason if it is skipped because a program is missing. */
export const titleWith = (title: string, missing: (string | undefined)[]): string =>
  missing.some(Boolean) ? `${title} (skipped: no ${missing.filter(Boolean).join(', ')})` : title;
