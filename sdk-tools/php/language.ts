import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { projectRoot } from '../../src/config/project-root.js';
import { readContract } from '../contract.js';
import type { Language } from '../language.js';
import { readErrorCodes } from '../operations.js';
import { findTools, runTool } from '../tool.js';
import { phpSources } from './sources.js';

const folder = join(projectRoot, 'sdk', 'php');
const generated = join(folder, 'generated');
const REQUIREMENTS = "PHP_VERSION_ID >= 80100 && extension_loaded('curl') && extension_loaded('json')";

/** Writes the records and tables that follow from the contract, checks the syntax of all files, and packs the library. */
export const php: Language = {
  name: 'php',
  title: 'PHP',
  async toolchain() {
    const tools = await findTools(['php', '--version']);
    if ('missing' in tools) return tools;
    const usable = await findTools(['php', '-r', `exit(${REQUIREMENTS} ? 0 : 1);`]);
    return 'missing' in usable ? { missing: 'php is older than 8.1, or has no curl' } : tools;
  },
  async build() {
    await rm(generated, { recursive: true, force: true });
    const sources = phpSources(await readContract(), await readErrorCodes());
    for (const [path, text] of Object.entries(sources)) {
      await mkdir(dirname(join(generated, path)), { recursive: true });
      await writeFile(join(generated, path), text);
    }
    const files = (await readdir(folder, { recursive: true })).filter((path) => path.endsWith('.php'));
    await Promise.all(files.map((path) => runTool({ program: 'php', args: ['-l', path], folder })));
    await runTool({ program: 'php', args: ['pack.php'], folder });
  },
  scenario: { program: 'php', args: ['scenario.php'], folder },
};
