import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { projectRoot } from '../../src/config/project-root.js';
import { readContract } from '../contract.js';
import type { Language } from '../language.js';
import { readErrorCodes } from '../operations.js';
import { writePackageFiles } from '../parts/package-files.js';
import { copyProgram, PACKAGE_FILES, requireFiles } from '../packed/programs.js';
import { writeReference, type CallStyle } from '../parts/reference.js';
import { findTools, runTool } from '../tool.js';
import { phpSources } from './sources.js';

const folder = join(projectRoot, 'sdk', 'php');
const generated = join(folder, 'generated');
/** Most operations have no method of their own. `request()` takes all of them. */
const styleOfCall: CallStyle = ({ operation: { id, bodies, responds } }) => {
  if (id === 'submitPrealert') return '$keyClient->submit([...])';
  if (id === 'listEvents') return '$client->events->after($sequence)';
  if (responds.length > 0 && !responds.includes('application/json'))
    return `$client->download('${id}', $target, [...])`;
  return `$client->request('${id}', ${Object.keys(bodies).length > 0 ? 'body: ' : ''}[...])`;
};

/** As the README says, and without a registry. */
const COMPOSER_PROJECT = {
  repositories: [
    { type: 'path', url: 'packages/crossdock', options: { symlink: false } },
    { 'packagist.org': false },
  ],
  require: { 'crossdock/crossdock': '^1.0' },
};

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
    await writePackageFiles(folder);
    await writeReference(folder, 'PHP', styleOfCall);
    await runTool({ program: 'php', args: ['pack.php'], folder });
  },
  scenario: { program: 'php', args: ['scenario.php'], folder },
  async install(project) {
    const composer = await findTools(['composer', '--version']);
    if ('missing' in composer) return composer;
    const place = join(project, 'packages', 'crossdock');
    await mkdir(place, { recursive: true });
    const { version } = (await readContract()).info;
    const unpack = `(new PharData('${join(folder, 'dist', `crossdock-php-${version}.zip`)}'))->extractTo('${place}');`;
    await runTool({ program: 'php', args: ['-r', unpack], folder: project });
    await writeFile(join(project, 'composer.json'), JSON.stringify(COMPOSER_PROJECT));
    const args = ['install', '--no-interaction', '--no-progress', '--quiet'];
    await runTool({ program: 'composer', args, folder: project }, { COMPOSER_ALLOW_SUPERUSER: '1' });
    requireFiles(join(project, 'vendor', 'crossdock', 'crossdock'), PACKAGE_FILES);
    await copyProgram('php', 'program.php', project);
    return { program: 'php', args: ['program.php'], folder: project };
  },
};
