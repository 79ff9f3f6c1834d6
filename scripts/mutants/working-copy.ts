import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { projectRoot } from '../../src/config/project-root.js';
import { withoutGuard, type SourceMutant } from './mutant.js';

/** A copy of the project in which guards are removed, so that the working tree is never changed. */
export type WorkingCopy = {
  folder: string;
  /** Runs `work` while the copy lacks the guard. */
  without<Result>(mutant: SourceMutant, work: () => Promise<Result>): Promise<Result>;
  remove(): Promise<void>;
};

const EXCLUDED = new Set(['node_modules', '.git', '.data', 'coverage']);

export async function openWorkingCopy(): Promise<WorkingCopy> {
  const folder = await mkdtemp(join(tmpdir(), 'crossdock-mutants-'));
  await cp(projectRoot, folder, {
    recursive: true,
    filter: (source) => !EXCLUDED.has(relative(projectRoot, source).split(sep)[0] ?? ''),
  });
  await symlink(join(projectRoot, 'node_modules'), join(folder, 'node_modules'), 'junction');
  return {
    folder,
    async without(mutant, work) {
      const source = join(folder, mutant.file);
      const text = await readFile(source, 'utf8');
      await write(folder, mutant.file, withoutGuard(text, mutant));
      try {
        return await work();
      } finally {
        await write(folder, mutant.file, text);
      }
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Writes a source file and builds, because tests start the build in separate processes. */
async function write(folder: string, file: string, text: string): Promise<void> {
  await writeFile(join(folder, file), text);
  // By their paths, because the build has no copy of a plain JavaScript file.
  const { build } = (await import(scriptAt('build.mjs'))) as typeof import('../build.mjs');
  build(folder);
  if (!file.startsWith('console/')) return;
  // The service of a test in a browser serves the built console.
  const { buildConsole } = (await import(scriptAt('build-console.mjs'))) as {
    buildConsole: (root: string) => boolean;
  };
  buildConsole(folder);
}

const scriptAt = (name: string) => pathToFileURL(join(projectRoot, 'scripts', name)).href;
