import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { test as jestTest } from '@jest/globals';

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

/**
 * Returns a function that declares a test, which is skipped, with the reason in its title, if none of the programs is installed.
 *
 * @param test that of the test file: files share the modules of this folder, and each has its own
 */
export const makeTestWith =
  (test: typeof jestTest) =>
  (
    names: string[],
    title: string,
    run: (program: string) => void | Promise<void>,
    limitMs?: number,
  ): void => {
    const program = findProgram(...names);
    const declare = program ? test : test.skip;
    const missing = program ? undefined : names.join(' or ');
    declare(titleWith(title, [missing]), () => run(program ?? ''), limitMs);
  };

/** Runs a program with this environment and no other, and returns its output. Throws if it fails. */
export function outputOf(
  cwd: string,
  command: string,
  args: string[],
  env: Record<string, string> = {},
): string {
  const { PATH, HOME } = process.env;
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    env: { PATH, HOME, ...env },
  });
  if (error) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stdout}${stderr}`);
  return `${stdout}${stderr}`;
}
