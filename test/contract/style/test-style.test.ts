import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { projectRoot } from '../../../src/config/project-root.js';
import type { Source } from '../../support/architecture/source.js';
import { findSplitTexts } from '../../support/architecture/split-texts.js';
import { findSpreadLiterals } from '../../support/architecture/spread-literals.js';

/** Folders of test/modules whose tests do not use the typed fixture yet. Remove a folder when it is converted. */
const NOT_CONVERTED = ['test/modules/scans/', 'test/modules/webhooks/'];

/** Files with a call of which the operation is a variable. The typed fixture has no form for it yet. Only remove files. */
const UNTYPED_CALLS = [
  'test/modules/couriers/plain-operations.test.ts',
  'test/modules/customers/spreadsheet-files.test.ts',
  'test/modules/manifests/manifests.test.ts',
  'test/modules/packages/label-jobs.test.ts',
  'test/modules/packages/package-export.test.ts',
  'test/modules/prealerts/announced-labels.test.ts',
  'test/modules/prealerts/prealert-batch.test.ts',
  'test/modules/security-settings.test.ts',
  'test/modules/sessions.test.ts',
  'test/modules/users.test.ts',
];

const converted = filesUnder('test/modules').filter(
  ({ path }) => !NOT_CONVERTED.some((folder) => path.startsWith(folder)),
);

function filesUnder(folder: string): Source[] {
  return readdirSync(join(projectRoot, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(projectRoot, join(entry.parentPath, entry.name)))
    .map((path) => ({ path, text: readFileSync(join(projectRoot, path), 'utf8') }));
}

describe('tests of modules that use the typed fixture', () => {
  test('are most of them', () => {
    expect(converted.length).toBeGreaterThan(80);
  });

  test('spread no literal and split no text only to fit a line', () => {
    expect([...converted.flatMap(findSpreadLiterals), ...converted.flatMap(findSplitTexts)]).toEqual([]);
  });

  test('name no type any', () => {
    const named = converted.filter(({ text }) =>
      /(: |<|as )any\b(?!\()/.test(text.replace(/'[^'\n]*'/g, '')),
    );
    expect(named.map(({ path }) => path)).toEqual([]);
  });

  test('call the service of withService through the typed API', () => {
    const untyped = converted.filter(({ text }) => /\bservice\(\)\.call\(/.test(text));
    expect(untyped.map(({ path }) => path).sort()).toEqual(UNTYPED_CALLS);
  });
});

test.each([
  ["[...['a', 'b']]", 1],
  ['({ ...{ a, b } })', 1],
  ['[...rows, ...(isWide ? [wide] : [])]', 0],
])('the check of spreads counts %s as %d', (text, count) => {
  expect(findSpreadLiterals({ path: 'a.ts', text })).toHaveLength(count);
});
