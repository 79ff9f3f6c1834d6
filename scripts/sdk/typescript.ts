import { join } from 'node:path';
import { projectRoot } from '../../src/config/project-root.js';
import type { Language } from './language.js';
import { runTool } from './tool.js';

const folder = join(projectRoot, 'sdk', 'typescript');
const node = process.execPath;

/** Generates the core with openapi-ts, compiles it with the hand-written layer, and bundles it for browsers. */
export const typescript: Language = {
  name: 'ts',
  title: 'TypeScript',
  // The compiler and the generator are dependencies of this project.
  toolchain: async () => ({ found: `node ${process.version}` }),
  async build() {
    const generator = join(projectRoot, 'node_modules/@hey-api/openapi-ts/bin/run.js');
    await runTool({ program: node, args: [generator, '--file', 'openapi-ts.config.js'], folder });
    const compiler = join(projectRoot, 'node_modules/typescript/bin/tsc');
    await runTool({ program: node, args: [compiler, '-p', 'tsconfig.json'], folder });
  },
  scenario: { program: node, args: ['scenario.mjs'], folder },
};
