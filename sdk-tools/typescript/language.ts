import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '../../src/config/project-root.js';
import type { Language } from '../language.js';
import { copyProgram, PACKAGE_FILES, requireFiles } from '../packed/programs.js';
import { runTool } from '../tool.js';

const folder = join(projectRoot, 'sdk', 'typescript');

const STRICT = [
  ...['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'],
  ...['--skipLibCheck', 'false', '--skipDefaultLibCheck'],
  ...['--module', 'NodeNext', '--target', 'ES2022', '--lib', 'ES2022', '--types', 'node'],
];

export const typescript: Language = {
  name: 'typescript',
  aliases: ['ts'],
  title: 'TypeScript',
  // The compiler and the generator are dependencies of this project.
  toolchain: () => Promise.resolve({ found: `node ${process.version}` }),
  async build() {
    // The generator is only loaded to build.
    const { buildTypescript } = await import('./build.js');
    await buildTypescript();
  },
  scenario: {
    program: process.execPath,
    args: ['scenario.mjs'],
    folder,
  },
  async install(project) {
    const npm = (args: string[], place: string) => runTool({ program: 'npm', args, folder: place });
    const packed = await npm(['pack', '--json', '--pack-destination', project], folder);
    // The format of npm's answer.
    const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
    await writeFile(join(project, 'package.json'), '{"name":"packed","private":true,"type":"module"}');
    await npm(['install', '--offline', '--no-audit', '--no-fund', join(project, filename)], project);
    requireFiles(join(project, 'node_modules', '@crossdock', 'sdk'), PACKAGE_FILES);
    await copyProgram('typescript', 'program.ts', project);
    const modules = join(projectRoot, 'node_modules');
    await mkdir(join(project, 'node_modules', '@types'), { recursive: true });
    for (const name of ['@types/node', 'undici-types'])
      await cp(join(modules, name), join(project, 'node_modules', name), { recursive: true });
    const compiler = join(modules, 'typescript-7', 'bin', 'tsc');
    await runTool({ program: process.execPath, args: [compiler, ...STRICT, 'program.ts'], folder: project });
    return { program: process.execPath, args: ['program.js'], folder: project };
  },
};
