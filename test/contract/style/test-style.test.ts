import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { projectRoot } from '../../../src/config/project-root.js';
import type { Source } from '../../support/architecture/source.js';
import { findSplitTexts } from '../../support/architecture/split-texts.js';
import { findSpreadLiterals } from '../../support/architecture/spread-literals.js';

const tests = filesUnder('test/modules');

function filesUnder(folder: string): Source[] {
  return readdirSync(join(projectRoot, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(projectRoot, join(entry.parentPath, entry.name)))
    .map((path) => ({ path, text: readFileSync(join(projectRoot, path), 'utf8') }));
}

test('tests of modules are files of fewer than 300 lines', () => {
  const long = tests.filter(({ text }) => text.split('\n').length > 300);
  expect(long.map(({ path }) => path)).toEqual([]);
});

describe('tests of modules that use the typed fixture', () => {
  test('are most of them', () => {
    expect(tests.length).toBeGreaterThan(80);
  });

  test('spread no literal and split no text only to fit a line', () => {
    expect([...tests.flatMap(findSpreadLiterals), ...tests.flatMap(findSplitTexts)]).toEqual([]);
  });

  test('name no type any', () => {
    const named = tests.filter(({ text }) => /(: |<|as )any\b(?!\()/.test(text.replace(/'[^'\n]*'/g, '')));
    expect(named.map(({ path }) => path)).toEqual([]);
  });

  test('call services through the typed API', () => {
    const untyped = tests.filter(({ text }) => /\bservice\(\)\.call\(|\.call\('\w+', /.test(text));
    expect(untyped.map(({ path }) => path)).toEqual([]);
  });
});

test('modules of test/support, which are loaded once per worker, take hooks and tests from jestOfFile', () => {
  const importsOf = (text: string) =>
    [...text.matchAll(/^import \{([^}]*)\} from '@jest\/globals'/gm)].flatMap(([, names = '']) =>
      names.split(',').map((name) => name.trim()),
    );
  expect(importsOf("import { beforeAll, expect } from '@jest/globals';")).toEqual(['beforeAll', 'expect']);
  const support = filesUnder('test/support').map(({ path, text }) => ({ path, names: importsOf(text) }));
  const allowed = new Set(['expect', 'type test as jestTest', '']);
  expect(support.filter(({ names }) => !names.every((name) => allowed.has(name)))).toEqual([]);
});

test.each([
  ["[...['a', 'b']]", 1],
  ['({ ...{ a, b } })', 1],
  ['[...rows, ...(isWide ? [wide] : [])]', 0],
])('the check of spreads counts %s as %d', (text, count) => {
  expect(findSpreadLiterals({ path: 'a.ts', text })).toHaveLength(count);
});
