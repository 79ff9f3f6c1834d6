// Our own, because the packages for this read node_modules with a dependency tree of their own and add paths and dates.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const LICENSE_FILE = /^(licen[cs]e|copying|notice|copyright)/i;
const LINE = '-'.repeat(80);

/** Returns the name, version and licence of every installed package, with the texts that it contains. */
export function collectLicenses(target) {
  const notices = listPackages(join(target, 'node_modules')).map(noticeOf);
  return `${[...new Set(notices)].sort().join(`\n${LINE}\n`)}\n`;
}

/** Returns the folders of the packages in `folder`, those inside other packages included. */
function listPackages(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .flatMap(({ name }) => (name.startsWith('@') ? namesIn(folder, name) : [name]))
    .flatMap((name) => [join(folder, name), ...listPackages(join(folder, name, 'node_modules'))]);
}

const namesIn = (folder, scope) => readdirSync(join(folder, scope)).map((name) => `${scope}/${name}`);

function noticeOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const spdx = typeof license === 'string' ? license : (license?.type ?? 'see the text');
  const texts = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && LICENSE_FILE.test(entry.name))
    .map((entry) => entry.name)
    .sort()
    .map((file) => readFileSync(join(folder, file), 'utf8').trim());
  return [`${name} ${version} (${spdx})`, ...texts].join('\n\n');
}
