import { join } from 'node:path';
import { projectRoot } from '../../src/config/project-root.js';
import type { Language } from '../language.js';

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
    folder: join(projectRoot, 'sdk', 'typescript'),
  },
};
