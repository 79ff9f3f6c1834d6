import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../../src/config/project-root.js';

// The blocks of docs/restore.md, pasted into a terminal: no `set -e`, and the variables of one block are those of the next one.

const page = (): string => readFileSync(join(projectRoot, 'docs', 'restore.md'), 'utf8');

/** Returns a block of the page by its name. */
export function blockOf(name: string): string {
  const [, text] = new RegExp(`^\`\`\`sh name=${name}\\n([^]*?)^\`\`\`$`, 'm').exec(page()) ?? [];
  if (text === undefined) throw new Error(`docs/restore.md has no block ${name}.`);
  return text;
}

/** Returns the names of all blocks that have one. */
export const blockNames = (): string[] =>
  [...page().matchAll(/^```sh name=(\S+)$/gm)].map(([, name = '']) => name);

/** Returns the settings of PostgreSQL that the page gives for its archive. */
export function archiveSettings(archive: string): string {
  const [, text = ''] = /^```ini\n([^]*?)^```$/m.exec(page()) ?? [];
  return text.replaceAll('/backup/archive', archive);
}

export type Terminal = {
  /** Pastes text. Returns all that it printed. */
  paste(text: string): string;
};

/**
 * Opens a terminal with the names of the installation.
 *
 * @param names assignments and functions that replace those of the page
 */
export function openTerminal(names: string, env: Record<string, string | undefined> = {}): Terminal {
  // What a block leaves in the environment.
  let kept = '';
  const values = `${blockOf('values')}\n${names}`;
  return {
    paste(text) {
      const mark = 'kept by the terminal:';
      const script = `exec 2>&1\n${values}\n${kept}\n${text}\nprintf '\\n${mark}export LOST="%s" REMAINDER="%s"' "$LOST" "$REMAINDER"`;
      const { stdout, error } = spawnSync('/bin/sh', ['-c', script], {
        encoding: 'utf8',
        cwd: '/',
        env: { PATH: process.env['PATH'], LC_ALL: 'C', ...env },
        timeout: 180_000,
      });
      if (error) throw error;
      const [printed = '', variables = ''] = stdout.split(mark);
      kept = variables;
      return printed.trim();
    },
  };
}
