import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { projectRoot } from '../../../src/config/project-root.js';
import {
  findCaughtAssertions,
  findConstants,
  findQuantifiers,
  findTypeAssertions,
  findUnprovenPatterns,
} from '../../support/architecture/assertions.js';
import type { Source } from '../../support/architecture/source.js';
import { matching } from '../../support/assertions/matching.js';

// Assertions that cannot fail. The linter finds others, and jest fails a test that makes no assertion (require-assertions.cjs).

type Rule = { find: (source: Source) => string[]; planted: string[]; allowed: string[] };

const RULES: Record<string, Rule> = {
  'an assertion on a constant': {
    find: findConstants,
    planted: [
      'expect(1).toBe(1);',
      "expect('text').toBeTruthy();",
      'expect(true).toBe(true);',
      'expect(-1 + 2).toBe(1);',
      'expect((2 as number)).toBe(2);',
      'expect().toBe(undefined);',
      'const LIMIT = 60; expect(LIMIT).toBe(60);',
      "const name = 'x'; test('', () => { expect(name).toBe('x'); });",
    ],
    allowed: [
      'expect(count()).toBe(1);',
      'let n = 1; expect(n).toBe(2);',
      'const n = run(); expect(n).toBe(1);',
    ],
  },
  '`every` or `some`, which pass or fail without naming a record': {
    find: findQuantifiers,
    planted: [
      'expect(rows.every(isOwn)).toBe(true);',
      'expect(rows.some((row) => row.n > 1)).toBe(false);',
      'expect([rows.length, rows.every(isOwn)]).toEqual([2, true]);',
    ],
    allowed: ['expect(rows.filter((row) => row.parts.every(isOwn))).toEqual([]);'],
  },
  'an assertion that runs only after a failure': {
    find: findCaughtAssertions,
    planted: [
      "try { run(); } catch (error) { expect(error).toMatchObject({ code: 'x' }); }",
      'await run().catch((error) => expect(error).toBeInstanceOf(Error));',
      'await run().catch((error) => { if (error) { expect(error).toBe(1); } });',
      'await run().then(undefined, (error) => expect(error).toBe(1));',
    ],
    allowed: [
      "await expect(run()).rejects.toMatchObject({ code: 'x' });",
      'const outcome = await run().catch(String); expect(outcome).toBe(1);',
      'try { expect(run()).toBe(1); } finally { stop(); }',
    ],
  },
  'a search for nothing, by a pattern that no sample matches': {
    find: findUnprovenPatterns,
    planted: [
      'expect(text).not.toMatch(/secret/);',
      "expect(text).not.toMatch('secret');",
      'expect(await text()).not.toMatch(new RegExp(name));',
      'const SECRET = /secret/; expect(text).not.toMatch(SECRET);',
      'expect(names.filter((name) => /^spool-/.test(name))).toEqual([]);',
      'expect(names.filter((name) => /^spool-/.test(name))).toHaveLength(0);',
      'expect(names.find((name) => SPOOL.test(name))).toBeUndefined();',
    ],
    allowed: [
      "expect(text).not.toMatch(matching(/secret/, 'a secret'));",
      "const SECRET = matching(/secret/, 'a secret'); expect(text).not.toMatch(SECRET);",
      'expect(names.filter((name) => !/^[a-z]+$/.test(name))).toEqual([]);',
      "expect(names.filter((name) => /^[a-z]+$/.test(name))).toEqual(['login']);",
    ],
  },
  'an expected type error in a file whose types jest does not check': {
    find: findTypeAssertions,
    planted: ['// @ts-expect-error -- the field is missing\nconst row: Row = {};'],
    allowed: ["const comment = '@ts-expect-error';"],
  },
};

const tests = readdirSync(join(projectRoot, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.type-test.ts'))
  .map((path) => ({ path: `test/${path}`, text: readFileSync(join(projectRoot, 'test', path), 'utf8') }));

test('finds the test files', () => {
  expect(tests.length).toBeGreaterThan(300);
});

describe.each(Object.entries(RULES))('%s', (_kind, { find, planted, allowed }) => {
  test.each(planted)('is found: %s', (text) => {
    expect(find({ path: 'test/planted.test.ts', text })).toHaveLength(1);
  });

  test.each(allowed)('is not: %s', (text) => {
    expect(find({ path: 'test/allowed.test.ts', text })).toEqual([]);
  });

  test('is in no test', () => {
    expect(tests.flatMap(find)).toEqual([]);
  });
});

test('a pattern that does not match each of its samples fails the test', () => {
  expect(matching(/a|b/, 'a', 'b')).toEqual(/a|b/);
  expect(() => matching(/^spool-[0-9a-f-]{36}$/, `spool-${process.pid}-x`)).toThrow(
    'does not match the sample',
  );
  expect(() => matching(/a/, 'a', 'b')).toThrow('does not match the sample "b"');
});
