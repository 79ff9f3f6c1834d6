import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { readConfig } from '../../src/config/config.js';
import { projectRoot } from '../../src/config/project-root.js';
import { QUOTAS } from '../../generated/bounds.js';

const read = (path: string) => readFileSync(join(projectRoot, path), 'utf8');

type Limit = { limit: string; value: string; source: { file: string; text: string[] }[] };

// The generator has read this file.
const { limits } = parse(read('openapi/bounds.yaml')) as { limits: Limit[] };

test('the table of bounds lists more than 40 limits, and docs/limits.md shows each with its value', () => {
  expect(limits.length).toBeGreaterThan(40);
  const page = read('docs/limits.md');
  expect(limits.filter(({ limit, value }) => !page.includes(`| ${limit} | ${value} |`))).toEqual([]);
});

test.each(limits)('$limit: the quoted source text exists', ({ value, source }) => {
  expect(value).not.toBe('');
  const quotes = source.flatMap(({ file, text }) => text.map((each) => ({ file, text: each })));
  expect(quotes.length).toBeGreaterThan(0);
  expect(quotes.filter(({ file, text }) => !read(file).includes(text))).toEqual([]);
});

test('the quotas that the operator may set have the defaults of the table', () => {
  expect(readConfig({ APP_ENV: 'development' }).writtenBytesPerDay).toBe(QUOTAS.written_bytes.limit);
  expect(readConfig({ APP_ENV: 'development' }).customerChangesPerDay).toBe(QUOTAS.customer_changes.limit);
});
