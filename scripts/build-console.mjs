// Builds the console to dist/console. Does nothing if it is exactly what the last build made of the same sources.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fingerprint, isEqual } from './fingerprint.mjs';

const FOLDERS = ['console', 'sdk/typescript/src', 'sdk-tools/typescript'];
const FILES = [
  'generated/openapi.sdk.json',
  'package-lock.json',
  'scripts/console.ts',
  'src/platform/files/csv-cells.ts',
];

/** Returns whether it built. The project in `root` must be built already, because its programs build the console. */
export function buildConsole(root) {
  // The tests of the build have no console.
  if (!existsSync(join(root, 'console'))) return false;
  const output = join(root, 'dist', 'console');
  const record = join(output, '.built');
  const last = readRecord(record);
  const sources = fingerprint(
    root,
    [...FILES, ...FOLDERS.flatMap((folder) => filesIn(root, folder))],
    last.sources,
  );
  if (
    isEqual(sources, last.sources) &&
    isEqual(fingerprint(output, outputsIn(output), last.outputs), last.outputs)
  )
    return false;

  process.stderr.write('Building the console ...\n');
  const { status } = spawnSync(process.execPath, [join(root, 'dist/scripts/console.js')], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (status !== 0) {
    process.stderr.write('Building the console failed.\n');
    process.exit(status ?? 1);
  }
  const outputs = fingerprint(output, outputsIn(output), {});
  writeFileSync(record, JSON.stringify({ sources, outputs }));
  return true;
}

function readRecord(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return { sources: {}, outputs: {} };
  }
}

const outputsIn = (output) => (existsSync(output) ? filesIn(output).filter((path) => path !== '.built') : []);

/** Without the part of the SDK that is generated from the contract, which is a source of its own. */
function filesIn(root, folder = '') {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder ? `${folder}/${entry.name}` : entry.name;
    if (path === 'sdk/typescript/src/generated') return [];
    return entry.isDirectory() ? filesIn(root, path) : [path];
  });
}
