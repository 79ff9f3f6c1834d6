import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../../src/config/project-root.js';
import { readReleases } from '../../../src/platform/db/migrations/releases.js';
import { makeFolder } from '../service/processes.js';

function git(...args: string[]): string {
  const { status, stdout, stderr, error } = spawnSync('git', args, { cwd: projectRoot, encoding: 'utf8' });
  if (error) throw error;
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
  return stdout.trim();
}

/** Returns the commit of the last release: its tag, or else the newest commit without a migration after that release. */
export async function findLastRelease(): Promise<string> {
  const tags = git('tag', '--list', 'v*', '--sort=-version:refname', '--merged', 'HEAD');
  const [newest] = tags.split('\n');
  if (newest) return newest;
  const { versions } = await readReleases();
  const last = Object.values(versions).at(-1)?.last ?? '';
  for (const commit of git('rev-list', '--first-parent', 'HEAD').split('\n')) {
    const migrations = git('ls-tree', '--name-only', `${commit}:prisma/migrations`).split('\n');
    const names = migrations.filter((name) => /^\d{14}_/.test(name)).sort();
    if ((names.at(-1) ?? '') <= last) return commit;
  }
  throw new Error('The repository has no release.');
}

/** Checks out a commit, builds it, and returns its folder. It uses the installed dependencies if they are the same. */
export async function installRelease(commit: string): Promise<string> {
  const folder = join(await makeFolder(), 'release');
  git('clone', '--quiet', '--no-checkout', projectRoot, folder);
  runIn(folder, 'git', ['checkout', '--quiet', git('rev-parse', `${commit}^{commit}`)]);
  if (productionOf(folder) === productionOf(projectRoot))
    symlinkSync(join(projectRoot, 'node_modules'), join(folder, 'node_modules'));
  else runIn(folder, 'npm', ['ci', '--no-audit', '--no-fund']);
  runIn(folder, process.execPath, ['scripts/build.mjs']);
  return folder;
}

function runIn(cwd: string, command: string, args: string[]): void {
  const { status, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (error) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`);
}

type LockFile = { packages: Record<string, { version?: string; dev?: boolean; devOptional?: boolean }> };

/** Returns the installed packages that production uses, as text. */
function productionOf(folder: string): string {
  // npm writes this file.
  const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as LockFile;
  return Object.entries(packages)
    .filter(([path, { dev, devOptional }]) => path !== '' && !dev && !devOptional)
    .map(([path, { version }]) => `${path} ${version}`)
    .sort()
    .join('\n');
}

/** What a copy of this version does differently. */
export type Change = {
  /** Migrations to add: scripts by name. */
  migrations?: Record<string, string>;
  /** The contents of the server's program instead of its own. */
  server?: string;
};

/** Returns the folder of a copy of this version with a change, as a broken release would be. */
export async function copyOfThisVersion({ migrations = {}, server }: Change): Promise<string> {
  const folder = join(await makeFolder(), 'version');
  mkdirSync(folder);
  for (const name of ['dist', 'prisma', 'generated', 'package.json'])
    cpSync(join(projectRoot, name), join(folder, name), { recursive: true });
  for (const name of ['node_modules', 'openapi', 'docs'].filter((each) =>
    existsSync(join(projectRoot, each)),
  ))
    symlinkSync(join(projectRoot, name), join(folder, name));
  for (const [name, script] of Object.entries(migrations)) {
    mkdirSync(join(folder, 'prisma', 'migrations', name));
    writeFileSync(join(folder, 'prisma', 'migrations', name, 'migration.sql'), script);
  }
  if (server !== undefined) writeFileSync(join(folder, 'dist', 'src', 'main.js'), server);
  return folder;
}
