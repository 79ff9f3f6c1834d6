// The first step of the npm scripts: installs packages, generates and builds, each only if necessary. `npm start`, `npm test` and
// `npm run check` also install the git hooks. Plain JavaScript that imports only Node's modules, because it runs before the dependencies are installed.
import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildConsole } from './build-console.mjs';
import { build } from './build.mjs';
import { inputsHash } from './generated-inputs.mjs';
import { installHooks } from './hooks/install.mjs';

export const root = join(fileURLToPath(import.meta.url), '..', '..');

export function prepare({ installsHooks = false } = {}) {
  installMissing({ installsHooks });
  if (!isGenerated()) step('Generating code', process.execPath, ['scripts/generate.mjs']);
  build(root);
  buildConsole(root);
}

/**
 * Installs the packages.
 *
 * @param options.installsHooks whether to install the git hooks in a clone, also if the packages are there already
 */
export function installMissing({ installsHooks = false } = {}) {
  const needsPackages = needsInstall();
  if (needsPackages) {
    assertNoLink();
    step('Installing dependencies', 'npm', ['ci', '--include=dev', '--no-audit', '--no-fund']);
  }
  const hooks = installsHooks ? installHooks(root) : undefined;
  // Hooks of the person are mentioned only once.
  if (hooks && (hooks.isInstalled || needsPackages)) process.stderr.write(`${hooks.message}\n`);
}

/** Returns whether generated/ was made from the present contract, data model and documentation. */
function isGenerated() {
  const made = join(root, 'generated', 'inputs.sha256');
  return existsSync(made) && readFileSync(made, 'utf8').trim() === inputsHash(root);
}

/** Returns whether dependencies or the compiler are missing, or the lock file is newer than the installation. */
function needsInstall() {
  const installed = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(installed) || !existsSync(join(root, 'node_modules', 'esbuild'))) return true;
  return statSync(join(root, 'package-lock.json')).mtimeMs > statSync(installed).mtimeMs;
}

/** `npm ci` empties the folder that a symbolic link leads to, whoever else uses it. */
function assertNoLink() {
  if (!lstatSync(join(root, 'node_modules'), { throwIfNoEntry: false })?.isSymbolicLink()) return;
  process.stderr.write(
    'The packages must be installed, but node_modules is a symbolic link, and npm ci would empty the folder that it leads to: remove the link, and run this again.\n',
  );
  process.exit(1);
}

function step(title, command, args) {
  process.stderr.write(`${title} ...\n`);
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    // On Windows, npm is a .cmd file, which only a shell can run. The arguments need no quoting.
    shell: command === 'npm' && process.platform === 'win32',
  });
  if (error) throw error;
  if (status !== 0) {
    process.stderr.write(`${title} failed.\n`);
    process.exit(status ?? 1);
  }
}
