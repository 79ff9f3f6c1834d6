// Our own, because lint-staged needs Node 22, and .npmrc forbids the install scripts that such packages use.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

const HOOKS = 'scripts/hooks';

/**
 * Lets git run the hooks of this folder in the clone `root`. Does nothing in continuous integration, without git, or if the clone has hooks
 * already.
 *
 * @returns whether the hooks were installed, and what to say about it; undefined if there is nothing to say
 */
export function installHooks(root, { CI } = process.env) {
  if (CI || !existsSync(join(root, '.git'))) return undefined;
  const common = git(root, 'rev-parse', '--git-common-dir');
  if (common === undefined || git(root, 'config', 'core.hooksPath') !== undefined) return undefined;
  const folder = join(resolve(root, common), 'hooks');
  if (hasHooks(folder)) {
    const message = `Your git hooks in ${folder} stay. CONTRIBUTING.md says how to use those of the project.`;
    return { isInstalled: false, message };
  }
  if (git(root, 'config', 'core.hooksPath', HOOKS) === undefined) return undefined;
  return { isInstalled: true, message: `git commit now checks the staged files and the message (${HOOKS}).` };
}

const hasHooks = (folder) =>
  existsSync(folder) && readdirSync(folder).some((name) => !name.endsWith('.sample'));

/** Returns the output of git; undefined if it fails or is missing. */
function git(root, ...args) {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}
