import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test } from '@jest/globals';
import { projectRoot } from '../../../src/config/project-root.js';
import { findDanglingSame } from '../../support/architecture/same-comments.js';
import type { Source } from '../../support/architecture/source.js';

const FOLDERS = ['src', 'scripts', 'test', 'fixtures', 'tools', 'print-bridge', 'sdk-tools', 'console/src'];

const sources: Source[] = FOLDERS.flatMap((folder) =>
  readdirSync(join(projectRoot, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.(ts|tsx|mjs)$/.test(entry.name))
    .map((entry) => relative(projectRoot, join(entry.parentPath, entry.name))),
).map((path) => ({ path, text: readFileSync(join(projectRoot, path), 'utf8') }));

test('a comment that begins with "The same" follows directly the documented declaration that it refers to', () => {
  expect(sources.length).toBeGreaterThan(900);
  expect(sources.flatMap(findDanglingSame)).toEqual([]);
});

const DOCUMENTED = '/** Locks one. */\nexport const lock = 1;\n\n';

test.each([
  [`${DOCUMENTED}/** The same for several. */\nexport const locks = 2;`, 0],
  [`${DOCUMENTED}const size = 3;\n\n/** The same for several. */\nexport const locks = 2;`, 1],
  [
    `${DOCUMENTED}const size = 3;\n\n/**\n * Returns the same, and undefined\n */\nexport const locks = 2;`,
    1,
  ],
  [
    `${DOCUMENTED}/** What it locks. */\nexport type Locked = 1;\n\n/** The same for several. */\nexport const locks = 2;`,
    1,
  ],
  ['/** Reads. */\nconst read = 1;\n\n/** The same for several. */\nexport const readAll = 2;', 1],
  ['type A = {\n  /** One. */\n  one: 1;\n  /** The same in words. */\n  two: 2;\n};', 0],
  ['type A = {\n  one: 1;\n  // The same, in words.\n  two: 2;\n};', 1],
  ['/** The same rule as in the contract. */\nexport const rule = 1;', 0],
])('the check of comments finds in %j %d', (text, count) => {
  expect(findDanglingSame({ path: 'a.ts', text })).toHaveLength(count);
});
