import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '../../src/config/project-root.js';
import { failureCodes } from './failure-codes.js';
import type { Language } from './language.js';
import { findTools, runTool } from './tool.js';

const folder = join(projectRoot, 'sdk', 'go');

/** Generates the package api with oapi-codegen and the codes of failures, compiles, and runs the tests. */
export const go: Language = {
  name: 'go',
  title: 'Go',
  toolchain: () => findTools(['go', 'version']),
  async build() {
    await writeFile(join(folder, 'codes.gen.go'), codesFile(await failureCodes()));
    const steps = [
      ['generate', './...'],
      ['vet', './...'],
      ['test', './...'],
      ['build', '-o', 'bin/', './...'],
    ];
    for (const args of steps) await runTool({ program: 'go', args, folder });
  },
  scenario: { program: join(folder, 'bin', 'scenario'), args: [], folder },
};

function codesFile(codes: string[]): string {
  const rows = codes.map((code) => `\tCode${camelCase(code)} Code = "${code}"`);
  return `// Code generated from the contract. DO NOT EDIT.\n\npackage crossdock\n\n// The codes of failures.\nconst (\n${rows.join('\n')}\n)\n`;
}

const camelCase = (code: string) =>
  code.replace(/(?:^|_)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
