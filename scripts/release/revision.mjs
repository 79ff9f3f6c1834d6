import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Returns the name and version of the project, the commit and its time in seconds. SOURCE_DATE_EPOCH replaces the time. Sources that differ from their
 * commit are marked.
 */
export function readRevision(root) {
  const { name, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const [commit, time] = git(root, 'log', '-1', '--format=%H %ct').split(' ');
  const isModified = git(root, 'status', '--porcelain', '--untracked-files=no') !== '';
  const epoch = Number(process.env.SOURCE_DATE_EPOCH ?? time);
  if (!Number.isInteger(epoch)) throw new Error('SOURCE_DATE_EPOCH must be whole seconds since 1970.');
  return { name, version, commit: isModified ? `${commit}-modified` : commit, epoch };
}

/** Runs git in a clone and returns its output. */
export function git(root, ...args) {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error('npm run release needs a git clone, because it names the commit.');
  return stdout.trim();
}
