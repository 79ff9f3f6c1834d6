// npm run test:node24: all tests with Node 24. Takes the Node 24 that NODE24 names, or one on PATH, or with --download the package
// `node` of the npm registry. Further arguments go to jest.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { root } from '../prepare.mjs';

const VERSION = 24;
const MISSING = `No Node ${VERSION} was found. Set NODE${VERSION} to its program, put it on PATH, or let npm download one:
npm run test:node24 -- --download`;

const options = process.argv.slice(2);
try {
  const node = findNode() ?? (options.includes('--download') ? download() : undefined);
  if (!node) throw new Error(MISSING);
  process.exitCode = runTests(
    node,
    options.filter((option) => option !== '--download'),
  );
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}

function runTests(node, given) {
  process.stderr.write(`Testing with Node ${versionOf(node)}: ${node}\n`);
  // First on PATH, for programs that tests start by name.
  const PATH = [dirname(node), process.env.PATH].join(delimiter);
  const { status } = spawnSync(node, [join(root, 'scripts', 'test.mjs'), ...given], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, PATH },
  });
  return status ?? 1;
}

/** Returns the path of a Node 24, or undefined. A setting that names another version is an error. */
function findNode() {
  const named = process.env[`NODE${VERSION}`];
  if (named) {
    if (majorOf(named) === VERSION) return named;
    throw new Error(`NODE${VERSION} does not name a Node ${VERSION}: ${named}`);
  }
  const name = process.platform === 'win32' ? 'node.exe' : 'node';
  const folders = (process.env.PATH ?? '').split(delimiter);
  const found = [process.execPath, ...folders.map((folder) => join(folder, name))];
  return found.find((path) => existsSync(path) && majorOf(path) === VERSION);
}

/** Downloads the package into npm's cache. Its install script fetches the program, so it must run. */
function download() {
  const path = ['--', 'node', '-p', 'process.execPath'];
  const npx = ['--yes', '--ignore-scripts=false', `--package=node@${VERSION}`, ...path];
  const { stdout, status } = spawnSync('npx', npx, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    // On Windows, npx is a .cmd file, which only a shell can run. The arguments need no quoting.
    shell: process.platform === 'win32',
  });
  if (status !== 0) throw new Error(`npm could not download Node ${VERSION}.`);
  return stdout.trim();
}

function versionOf(path) {
  return spawnSync(path, ['-p', 'process.versions.node'], { encoding: 'utf8' }).stdout?.trim();
}

function majorOf(path) {
  return Number(versionOf(path)?.split('.')[0]);
}
