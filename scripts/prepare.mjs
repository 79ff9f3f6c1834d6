// What `npm start` and `npm test` do first on a fresh clone: install, generate, build; each only when needed.
// Plain JavaScript that imports nothing but Node: it runs before there are any dependencies.
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from './build.mjs';

export const root = join(fileURLToPath(import.meta.url), '..', '..');

export function prepare() {
  if (needsInstall())
    step('Installing dependencies', 'npm', ['ci', '--include=dev', '--no-audit', '--no-fund']);
  if (!existsSync(join(root, 'generated', 'prisma', 'client.ts'))) {
    step('Generating code', process.execPath, ['scripts/generate.mjs']);
  }
  build(root);
}

/** No install yet, one without the compiler, or the lock file is newer than the last one. */
function needsInstall() {
  const installed = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(installed) || !existsSync(join(root, 'node_modules', 'typescript'))) return true;
  return statSync(join(root, 'package-lock.json')).mtimeMs > statSync(installed).mtimeMs;
}

function step(title, command, args) {
  process.stderr.write(`${title} ...\n`);
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    // npm is a .cmd on Windows, which only a shell runs; no argument of ours needs quoting
    shell: command === 'npm' && process.platform === 'win32',
  });
  if (error) throw error;
  if (status !== 0) {
    process.stderr.write(`${title} failed.\n`);
    process.exit(status ?? 1);
  }
}
