import { existsSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '../../src/config/project-root.js';

/** Copies the program of a language into the project that uses the packed SDK. */
export const copyProgram = (language: string, name: string, project: string): Promise<void> =>
  copyFile(join(projectRoot, 'test', 'sdk', 'packed', language, name), join(project, name));

/** What every package has besides its code. */
export const PACKAGE_FILES = ['LICENSE', 'CHANGELOG.md', 'REFERENCE.md', 'README.md'];

/** @throws Error if the packed file has installed less than it should */
export function requireFiles(folder: string, names: string[]): void {
  requireNames(
    folder,
    names.filter((name) => !existsSync(join(folder, name))),
  );
}

/** @throws Error if the list of an archive lacks one of the names */
export function requireEntries(archive: string, list: string, names: string[]): void {
  const entries = list.split('\n').map((line) => line.trim());
  requireNames(
    archive,
    names.filter((name) => !entries.some((entry) => entry === name || entry.endsWith(`/${name}`))),
  );
}

function requireNames(place: string, missing: string[]): void {
  if (missing.length > 0) throw new Error(`${place} has no ${missing.join(', ')}.`);
}
