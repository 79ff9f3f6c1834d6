import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { appendFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '../../src/config/project-root.js';
import type { Contract } from './contract.js';
import { compareVersions } from './verdict.js';

const FOLDER = join(projectRoot, 'openapi', 'released');
// In the format of sha256sum.
const CHECKSUMS = 'SHA256SUMS';

/** Returns the contract that `npm run generate` has made. */
export async function readCurrent(): Promise<Contract> {
  return parse(await readFile(join(projectRoot, 'generated', 'openapi.json'), 'utf8'));
}

/** Returns the latest released contract, if there is one. Throws if a released file is not as it was released. */
export async function readLastRelease(folder = FOLDER): Promise<Contract | undefined> {
  if (!existsSync(folder)) return undefined;
  const last = (await checkReleases(folder)).sort(compareVersions).at(-1);
  return last === undefined ? undefined : parse(await readFile(join(folder, `${last}.json`), 'utf8'));
}

/** Stores a contract as the release of its version. Refuses to replace one. */
export async function storeRelease(contract: Contract, folder = FOLDER): Promise<string> {
  const { version } = contract.info;
  await mkdir(folder, { recursive: true });
  if ((await checkReleases(folder)).includes(version))
    throw new Error(`Version ${version} was released. Raise info.version in openapi/openapi.yaml.`);
  const text = `${JSON.stringify(contract)}\n`;
  await writeFile(join(folder, `${version}.json`), text, { flag: 'wx' });
  await appendFile(join(folder, CHECKSUMS), `${checksum(text)}  ${version}.json\n`);
  return version;
}

/** Returns the released versions, after comparing each file with its checksum. */
async function checkReleases(folder: string): Promise<string[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.json'));
  const sums = await readChecksums(folder);
  for (const file of new Set([...files, ...sums.keys()])) {
    const text = files.includes(file) ? await readFile(join(folder, file), 'utf8') : '';
    if (sums.get(file) !== checksum(text))
      throw new Error(`openapi/released/${file} is not as it was released. Restore it from the history.`);
  }
  return files.map((file) => file.replace(/\.json$/, ''));
}

async function readChecksums(folder: string): Promise<Map<string, string>> {
  const path = join(folder, CHECKSUMS);
  const lines = existsSync(path) ? (await readFile(path, 'utf8')).trim().split('\n') : [];
  return new Map(
    lines.map((line): [string, string] => {
      const [sum = '', file = ''] = line.split(/\s+/);
      return [file, sum];
    }),
  );
}

const checksum = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Returns the text of CHANGELOG.md. */
export const readChangelog = (): Promise<string> => readFile(join(projectRoot, 'CHANGELOG.md'), 'utf8');

// The bundler has checked that it is an OpenAPI document.
const parse = (text: string): Contract => JSON.parse(text) as Contract;
