import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

// Production needs no embedded PostgreSQL, which is the only optional dependency.
const INSTALL = [
  'ci',
  '--omit=dev',
  '--omit=optional',
  '--ignore-scripts',
  '--prefer-offline',
  '--no-audit',
  '--no-fund',
];

/** What no program reads: source maps, types, TypeScript sources, and Prisma's compilers for other databases. */
const UNUSED = [
  /\.(map|[cm]?ts)$/,
  /(^|\/)node_modules\/@types\//,
  /(^|\/)@prisma\/client\/runtime\/.*\.(cockroachdb|mysql|sqlite|sqlserver)\./,
  // The list of npm's own contains the registry's address.
  /(^|\/)node_modules\/\.(bin\/|package-lock\.json$)/,
];

/** Installs the production dependencies of package-lock.json into `target`. */
export function installDependencies(root, target) {
  mkdirSync(target, { recursive: true });
  for (const name of ['package.json', 'package-lock.json', '.npmrc'])
    copyFileSync(join(root, name), join(target, name));
  npm(target, INSTALL);
}

/** Removes the files that no program reads from the installation in `target`. */
export function pruneDependencies(target) {
  for (const name of ['package-lock.json', '.npmrc']) rmSync(join(target, name));
  removeUnused(target, 'node_modules');
}

/** Runs npm and returns its output. */
export function npm(folder, args) {
  const { status, stdout, stderr, error } = spawnSync('npm', args, {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 64 << 20,
    // On Windows, npm is a .cmd file, which only a shell can run. The arguments need no quoting.
    shell: process.platform === 'win32',
  });
  if (error) throw error;
  if (status !== 0) throw new Error(`npm ${args.join(' ')} failed:\n${stderr || stdout}`);
  return stdout;
}

/** Also removes the folders that become empty. */
function removeUnused(root, folder) {
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) removeUnused(root, path);
    else if (UNUSED.some((pattern) => pattern.test(path))) rmSync(join(root, path));
  }
  if (readdirSync(join(root, folder)).length === 0) rmSync(join(root, folder), { recursive: true });
}
