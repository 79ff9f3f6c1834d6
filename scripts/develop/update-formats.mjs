// Replaces data/tracking-numbers with the current edition of the public data set: npm run formats:update [-- <repository>]
// With --lengths, only computes the lengths of its formats again.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeLengths } from './format-lengths.mjs';

const SOURCE = 'https://github.com/jkeen/tracking_number_data.git';
const target = join(import.meta.dirname, '..', '..', 'data', 'tracking-numbers');

const git = (...args) => execFileSync('git', args, { encoding: 'utf8' }).trim();

function replaceFormats(repository) {
  const clone = mkdtempSync(join(tmpdir(), 'tracking-formats-'));
  try {
    git('clone', '--quiet', repository, clone);
    replaceFiles(clone);
    writeLengths(target);
    const [commit, version] = [git('-C', clone, 'rev-parse', 'HEAD'), latestVersion(clone)];
    writeSource(commit, version);
    process.stdout.write(`The formats are those of version ${version}, commit ${commit}.\n`);
  } finally {
    rmSync(clone, { recursive: true, force: true });
  }
}

function replaceFiles(clone) {
  const [from, to] = [join(clone, 'couriers'), join(target, 'couriers')];
  for (const file of readdirSync(to)) rmSync(join(to, file));
  for (const file of readdirSync(from)) copyFileSync(join(from, file), join(to, file));
  copyFileSync(join(clone, 'LICENSE'), join(target, 'LICENSE'));
}

/** Returns the version at the head of the changelog. */
function latestVersion(clone) {
  const changelog = readFileSync(join(clone, 'CHANGELOG.md'), 'utf8');
  return /^#+ \[([\d.]+)\]/m.exec(changelog)?.[1] ?? 'unknown';
}

function writeSource(commit, version) {
  const path = join(target, 'README.md');
  const text = readFileSync(path, 'utf8');
  writeFileSync(
    path,
    text.replace(/version [\d.]+\d,\ncommit `\w+`/, `version ${version},\ncommit \`${commit}\``),
  );
}

if (process.argv[2] === '--lengths') writeLengths(target);
else replaceFormats(process.argv[2] ?? SOURCE);
