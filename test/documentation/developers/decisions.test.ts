import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { projectRoot } from '../../../src/config/project-root.js';

const FOLDER = join(projectRoot, 'docs/decisions');

const read = (path: string) => readFileSync(join(projectRoot, path), 'utf8');
const pages = readdirSync(FOLDER)
  .filter((name) => name !== 'README.md')
  .sort();
const rows = [...read('docs/decisions/README.md').matchAll(/^\| \[(\d{4})\]\(([^)]+)\) +\| (.+?) +\|/gm)].map(
  ([, number = '', file = '', subject = '']) => ({ number, file, subject }),
);

const repeated = (texts: string[]) => texts.filter((text, index) => texts.indexOf(text) !== index);

describe('the index of the decisions', () => {
  test('has one row per page, sorted by number, with the number of the page', () => {
    expect(rows.map(({ file }) => file)).toEqual(pages);
    expect(rows.filter(({ number, file }) => !file.startsWith(`${number}-`))).toEqual([]);
  });

  test('has no number and no subject twice, and each page begins with its number', () => {
    expect(repeated(rows.map(({ number }) => number))).toEqual([]);
    expect(repeated(rows.map(({ subject }) => subject))).toEqual([]);
    expect(
      pages.filter((name) => !read(`docs/decisions/${name}`).startsWith(`# ${name.slice(0, 4)}: `)),
    ).toEqual([]);
  });
});

/** Returns the members of the types in a file. */
const membersOf = (path: string) =>
  [...read(path).matchAll(/^ +(?:readonly |get |async )?(\w+)[?]?(?:<[^\n]*)?[(:]/gm)].map(
    ([, name = '']) => name,
  );

const MEMBERS = {
  ctx: new Set([
    ...membersOf('src/platform/context/request-context.ts'),
    ...membersOf('src/platform/db/scope.ts'),
  ]),
  tx: new Set(membersOf('src/platform/db/scope.ts')),
};

test('a decision that names a method of ctx or tx that no longer exists says at the top what supersedes it', () => {
  expect([MEMBERS.ctx.has('write'), MEMBERS.tx.has('later'), MEMBERS.ctx.has('pipeline')]).toEqual([
    true,
    true,
    false,
  ]);
  const outdated = pages.flatMap((name) => {
    const text = read(`docs/decisions/${name}`);
    const status = text.split('\n## ')[0] ?? '';
    if (/superseded in part by/i.test(status)) return [];
    return [...text.matchAll(/\b(ctx|tx)\.(\w+)/g)].flatMap(([call, owner, member = '']) =>
      MEMBERS[owner === 'ctx' ? 'ctx' : 'tx'].has(member) ? [] : [`${name} names ${call}`],
    );
  });
  expect(outdated).toEqual([]);
});
