import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { lengthRangeOf, readLengths } from '../../../scripts/develop/format-lengths.mjs';
import { projectRoot } from '../../../src/config/project-root.js';

const FOLDER = join(projectRoot, 'data', 'tracking-numbers');

test('the stored lengths are those of the formats: otherwise run npm run formats:update -- --lengths', () => {
  const stored: unknown = JSON.parse(readFileSync(join(FOLDER, 'lengths.json'), 'utf8'));
  expect(stored).toEqual(readLengths(FOLDER));
});

test.each([
  ['white space does not count', '\\s*1\\s*Z\\s*(?<SerialNumber>([0-9]\\s*){8,9})', [10, 11]],
  ['the longest and the shortest of alternatives', '(?:AB|C)\\d{3}|\\d{9}', [4, 9]],
  ['look-aheads have no length', '(?!12)(?=\\d)[A-Z]{2}\\d?', [2, 3]],
  ['a repeated group', '(?<SerialNumber>(\\d{2}){3})', [6, 6]],
])('%s', (_name, source, expected) => {
  expect(lengthRangeOf(source)).toEqual(expected);
});

test('a format whose numbers have no longest one is refused', () => {
  expect(() => lengthRangeOf('\\d+')).toThrow('have no longest one');
});
