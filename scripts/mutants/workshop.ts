import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import ts from 'typescript';
import { projectRoot } from '../../src/config/project-root.js';
import { withoutGuard, type SourceMutant } from './mutant.js';

/** A copy of the project in which guards are removed, so that the working tree is never touched. */
export type Workshop = {
  folder: string;
  /** Runs `work` while the copy lacks the guard. */
  without<Result>(mutant: SourceMutant, work: () => Promise<Result>): Promise<Result>;
  remove(): Promise<void>;
};

const LEFT_OUT = new Set(['node_modules', '.git', '.data', 'coverage']);

export async function openWorkshop(): Promise<Workshop> {
  const folder = await mkdtemp(join(tmpdir(), 'crossdock-mutants-'));
  await cp(projectRoot, folder, {
    recursive: true,
    filter: (source) => !LEFT_OUT.has(relative(projectRoot, source).split(sep)[0] ?? ''),
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

/** Writes a source file and its build, which tests start in processes of their own. */
async function write(folder: string, file: string, text: string): Promise<void> {
  // types are not checked: a guard may be removed where the compiler would notice
  const { outputText, diagnostics = [] } = ts.transpileModule(text, {
    fileName: file,
    reportDiagnostics: true,
    compilerOptions: {
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
      isolatedModules: true,
    },
  });
  const [fault] = diagnostics;
  if (fault)
    throw new Error(`${file} cannot be parsed: ${ts.flattenDiagnosticMessageText(fault.messageText, ' ')}`);
  await writeFile(join(folder, file), text);
  await writeFile(join(folder, 'dist', file.replace(/\.ts$/, '.js')), outputText);
}
