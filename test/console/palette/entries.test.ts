import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { officePagesOf } from '../../../console/src/office/pages.js';
import { localEntriesOf, type LocalEntry } from '../../../console/src/office/palette/local.js';
import { en as officeEn } from '../../../console/src/office/texts/en.js';
import { pagesOf } from '../../../console/src/pages.js';
import { projectRoot } from '../../../src/config/project-root.js';

// The palette finds every page, every part of one with an address of its own, and what the addresses can begin.

const sources = join(projectRoot, 'console', 'src');
const texts = readdirSync(sources, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name) && !name.includes('palette'))
  .map((name) => readFileSync(join(sources, name), 'utf8'));

const found = (pattern: RegExp): string[] =>
  [
    ...new Set(texts.flatMap((text) => [...text.matchAll(pattern)].map((match) => match.slice(1).join('/')))),
  ].sort();

const isOf = (page: string, part: string) => (entry: LocalEntry) =>
  'office' in entry && entry.office === page && entry.part === part;

describe.each(['admin', 'manager', 'warehouse', 'courier'])('the palette of the role %s', (role) => {
  const entries = localEntriesOf(role);

  test('has every page of the role, and none of another role', () => {
    const office = officePagesOf(role).map(({ id }) => id);
    const pages = pagesOf(role).map(({ id }) => id);
    const offices = entries.flatMap((entry) => ('office' in entry ? [entry.office] : []));
    const hashes = entries.flatMap((entry) => ('hash' in entry ? [entry.hash] : []));
    expect(new Set(offices)).toEqual(new Set(office));
    expect(new Set(hashes)).toEqual(new Set(pages));
    for (const { id, title } of officePagesOf(role))
      expect(entries).toContainEqual(expect.objectContaining({ kind: 'page', office: id, title }));
    for (const { id, title } of pagesOf(role))
      expect(entries).toContainEqual(expect.objectContaining({ kind: 'page', hash: id, title }));
  });

  test('names no entry twice', () => {
    const names = entries.map(({ kind, of, title }) => [kind, of, title].join(' '));
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });
});

describe('the palette of the office', () => {
  const entries = localEntriesOf('admin');

  test('has every part of a page to which the console links by its name', () => {
    const parts = found(/officeLink\(\['([a-z]+)', '([a-z]+)'\]/g);
    expect(parts).toContain('bills/run');
    expect(parts.filter((part) => !entries.some(isOf(...(part.split('/') as [string, string]))))).toEqual([]);
  });

  test('has every section of the settings, those for administrators only for them', () => {
    const sections = Object.keys(officeEn).flatMap((key) => /^settingsTab\.(.+)$/.exec(key)?.[1] ?? []);
    expect(sections).toContain('security');
    expect(sections.filter((section) => !entries.some(isOf('settings', section)))).toEqual([]);
    const ofManager = localEntriesOf('manager');
    expect(sections.filter((section) => !ofManager.some(isOf('settings', section)))).toEqual([
      'region',
      'security',
      'tokens',
    ]);
  });
});

/** What an address of the office or of a courier begins with `new`. */
test('every dialog that an address can open is an action of the palette', () => {
  const asked = [
    ...found(/get\('new'\) === '([a-z]+)'/g),
    ...found(/wanted === '([a-z]+)'/g),
    ...found(/useWanted\(\['([a-z]+)'(?:, '([a-z]+)')?\]/g).flatMap((names) => names.split('/')),
  ].filter(Boolean);
  expect(asked).toEqual(expect.arrayContaining(['manifest', 'customer', 'import', 'user', 'lines', 'token']));
  const offered = ['admin', 'courier']
    .flatMap(localEntriesOf)
    .filter(({ kind }) => kind === 'action')
    .map(({ query }) => query?.['new']);
  expect(asked.filter((name) => !offered.includes(name))).toEqual([]);
});
