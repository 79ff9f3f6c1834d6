import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '../../src/config/project-root.js';
import { readContract } from '../contract.js';
import type { Language, Toolchain } from '../language.js';
import { writePackageFiles } from '../parts/package-files.js';
import { copyProgram, PACKAGE_FILES, requireEntries } from '../packed/programs.js';
import { writeReference, type CallStyle } from '../parts/reference.js';
import { RETRIES_FILE } from '../retries.js';
import { widenInputs } from './annotations.js';
import { importLazily } from './lazy.js';
import { pythonContract } from './contract.js';
import { resourceRows } from './resources.js';
import { pythonTables, snakeCase } from './tables.js';
import { findTools, runTool } from '../tool.js';

const folder = join(projectRoot, 'sdk', 'python');
const core = join(folder, 'src', 'crossdock', '_core');
const venv = join(folder, '.venv');
const bin = join(venv, process.platform === 'win32' ? 'Scripts' : 'bin');
const program = join(bin, 'python');

/** Generates the operations and records, derives the clients without asyncio, checks format and types, and builds a wheel. */
export const python: Language = {
  name: 'python',
  title: 'Python',
  async toolchain() {
    const tools = await findTools(['python3', '--version']);
    if ('missing' in tools) return tools;
    const check = 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))';
    const usable = await findTools(['python3', '-c', check]);
    if ('missing' in usable) return { missing: 'python3 is older than 3.11, or has no venv' };
    return (await installTools()) ?? tools;
  },
  async build() {
    if (await isBuilt()) return;
    await generate();
    await run('resources.py');
    await run('unasync.py');
    await run('-m', 'ruff', 'format', '--check', '--quiet', '.');
    await run('-m', 'ruff', 'check', '--quiet', '.');
    await run('-m', 'mypy');
    await rm(join(folder, 'dist'), { recursive: true, force: true });
    await rm(join(folder, 'build'), { recursive: true, force: true });
    await writePackageFiles(folder);
    await writeReference(folder, 'Python', styleOfCall);
    // The wheel is built from the source distribution, which is thereby known to be complete.
    await run('-m', 'build', '--no-isolation');
    const wheel = await packedFile('.whl');
    await run('-m', 'pip', 'install', '--quiet', '--no-deps', '--force-reinstall', join('dist', wheel));
    await writeFile(join(venv, 'built'), await inputsHash());
  },
  scenario: { program, args: ['scenario.py'], folder },
  async install(project) {
    await runTool({ program: 'python3', args: ['-m', 'venv', 'venv'], folder: project });
    const own = join(project, 'venv', process.platform === 'win32' ? 'Scripts' : 'bin', 'python');
    const pip = ['-m', 'pip', 'install', '--quiet'];
    const constraint = ['--constraint', join(folder, 'requirements.txt')];
    const wheel = join(folder, 'dist', await packedFile('.whl'));
    await runTool({ program: own, args: [...pip, ...constraint, wheel], folder: project });
    const source = join(folder, 'dist', await packedFile('.tar.gz'));
    const list = await runTool({ program: 'tar', args: ['-tzf', source], folder: project });
    requireEntries(source, list, PACKAGE_FILES);
    const target = join(project, 'from-source');
    await run(...pip.slice(0, 4), '--no-deps', '--no-build-isolation', '--target', target, source);
    await runTool({ program: own, args: ['-c', SAME_FILES], folder: project });
    await copyProgram('python', 'program.py', project);
    return { program: own, args: ['program.py'], folder: project };
  },
};

const styleOfCall: CallStyle = ({ operation: { id, responds }, group, method, required, isSpecial }) => {
  const client = id === 'submitPrealert' ? 'key_client' : 'client';
  const isFile = responds.length > 0 && !responds.includes('application/json');
  const named = isSpecial ? ['body=...'] : required.map((name) => `${snakeCase(name)}=...`);
  const given = [...(isFile ? ['target'] : []), ...named].join(', ');
  return `${client}.${snakeCase(group)}.${snakeCase(method)}(${given})`;
};

/** The source distribution installs the same modules as the wheel. */
const SAME_FILES = `
import crossdock, pathlib
files = lambda root: sorted(str(path.relative_to(root)) for path in root.rglob("*.py*") if path.suffix != ".pyc")
wheel, source = pathlib.Path(crossdock.__file__).parent, pathlib.Path("from-source/crossdock")
assert files(wheel) == files(source), "The source distribution differs from the wheel."
assert (wheel / "py.typed").is_file()
from importlib.metadata import distribution
assert distribution("crossdock").read_text("licenses/LICENSE"), "The wheel has no licence."
`;

/** The name of the file in dist/ with an ending. */
async function packedFile(ending: string): Promise<string> {
  return (await readdir(join(folder, 'dist'))).find((name) => name.endsWith(ending)) ?? '';
}

/** Whether build() has run since the last change of the library or the contract. */
export async function isBuilt(): Promise<boolean> {
  const built = await readFile(join(venv, 'built'), 'utf8').catch(() => '');
  return built === (await inputsHash());
}

const run = (...args: string[]) => runTool({ program, args, folder });

/** Installs the pinned tools into sdk/python/.venv, once. */
async function installTools(): Promise<Toolchain | undefined> {
  const wanted = await readFile(join(folder, 'requirements.txt'), 'utf8');
  if ((await readFile(join(venv, 'installed'), 'utf8').catch(() => '')) === wanted) return undefined;
  try {
    await runTool({ program: 'python3', args: ['-m', 'venv', '--clear', '.venv'], folder });
    await run('-m', 'pip', 'install', '--quiet', '--requirement', 'requirements.txt');
    await writeFile(join(venv, 'installed'), wanted);
    return undefined;
  } catch {
    return { missing: 'the packages of sdk/python/requirements.txt cannot be installed' };
  }
}

async function generate(): Promise<void> {
  await mkdir(join(folder, 'build'), { recursive: true });
  const document = join(folder, 'build', 'openapi.json');
  const contract = pythonContract(await readContract());
  await writeFile(document, JSON.stringify(contract));
  await rm(core, { recursive: true, force: true });
  const generator = join(bin, 'openapi-python-client');
  const settings = ['--config', 'generator.yml', '--custom-template-path', 'templates', '--meta', 'none'];
  const args = ['generate', '--path', document, ...settings, '--output-path', core, '--fail-on-warning'];
  await runTool({ program: generator, args, folder });
  await writeFile(join(folder, 'build', 'operations.json'), JSON.stringify(resourceRows(contract)));
  await widenInputs(core, contract);
  await importLazily(core);
  for (const [name, text] of Object.entries(pythonTables(contract))) await writeFile(join(core, name), text);
}

async function inputsHash(): Promise<string> {
  const written = (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && /\.(py|toml|yml|jinja|txt|typed|in)$|README\.md$/.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter(
      (path) => !/[\\/](\.venv|build|dist|_core|\.mypy_cache|[^\\/]*\.egg-info)[\\/]|_sync\.py$/.test(path),
    );
  const hash = createHash('sha256').update(JSON.stringify(pythonContract(await readContract())));
  const generators = join(projectRoot, 'sdk-tools');
  const shared = ['repeatable.ts', 'names.ts', 'parts/events.ts', 'parts/times.ts', 'parts/page-size.ts'];
  const sources = [
    ...(await pathsIn(join(generators, 'python'))),
    ...shared.map((name) => join(generators, name)),
  ];
  for (const path of [...written.sort(), ...sources, RETRIES_FILE])
    hash.update(path).update(await readFile(path));
  return hash.digest('hex');
}

const pathsIn = async (parent: string) => (await readdir(parent)).sort().map((name) => join(parent, name));
