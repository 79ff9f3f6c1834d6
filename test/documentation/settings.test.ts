import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { projectRoot } from '../../src/config/project-root.js';
import { parseSettings } from '../../src/config/settings.js';

// docs/settings.md lists the settings that src/config/settings.ts reads, and their defaults.

const page = readFileSync(join(projectRoot, 'docs', 'settings.md'), 'utf8');
const rows = [...page.matchAll(/^\| (`[A-Z].*?) +\| (.*?) +\| /gm)].map(([, names = '', cell = '']) => ({
  names: [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
  shown: [...cell.matchAll(/`([^`]+)`/g)].map(([, value = '']) => value),
}));
const defaults = new Map<string, string | number | boolean | undefined>(
  Object.entries(parseSettings({ APP_ENV: 'development' }).settings),
);

test('the page lists every setting once, and no other', () => {
  const listed = rows.flatMap(({ names }) => names);
  expect(listed.toSorted()).toEqual([...defaults.keys()].toSorted());
});

test('the page shows the defaults that the code has', () => {
  const wrong = rows.flatMap(({ names, shown }) =>
    names.flatMap((name, index) => {
      const value = defaults.get(name);
      // Without APP_ENV nothing starts.
      if (value === undefined || name === 'APP_ENV') return [];
      // Lists are shown as they are set.
      const text = Array.isArray(value) ? value.join(',') : JSON.stringify(value).replace(/^"|"$/g, '');
      return shown[index] === text ? [] : [`${name} has the default ${text}`];
    }),
  );
  expect(wrong).toEqual([]);
});
