// Counts what the tree contains, for comparisons of two commits: node scripts/develop/lines.mjs [commit]
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const commit = process.argv[2];

const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28 });

const listed = commit
  ? git('ls-tree', '-r', '--name-only', commit)
  : git('ls-files', '-co', '--exclude-standard');
const read = (path) => (commit ? git('show', `${commit}:${path}`) : readFileSync(join(root, path), 'utf8'));

/** Returns the texts of the TypeScript and JavaScript files of a folder. */
const textsOf = (folder) =>
  listed
    .split('\n')
    .filter((path) => path.startsWith(`${folder}/`) && /\.(c|m)?(t|j)sx?$/.test(path))
    .map(read);

const linesOf = (texts) => texts.reduce((sum, text) => sum + text.split('\n').length - 1, 0);
const countOf = (texts, pattern) => texts.reduce((sum, text) => sum + [...text.matchAll(pattern)].length, 0);

const src = textsOf('src');
const figures = {
  'lines of src': linesOf(src),
  'files of src': src.length,
  'lines of scripts': linesOf(textsOf('scripts')),
  'lines of test': linesOf(textsOf('test')),
  // `const { user } = tx.models` is one, too.
  'uses of models': countOf(src, /tx\.models\b/g),
  'rows locked by id': countOf(src, /\bawait lock\(/g),
  'column lists from models': countOf(src, /= columns\(/g),
  'hand-written aliases of columns': countOf(src, /\b[a-z]+\.[a-z0-9_]+(?:::text)? as "/g),
  exports: countOf(src, /^export /gm),
};

for (const [name, count] of Object.entries(figures))
  process.stdout.write(`${String(count).padStart(7)}  ${name}\n`);
