import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { satisfies } from 'semver';
import { expect, test } from '@jest/globals';
import { projectRoot } from '../../../src/config/project-root.js';

// npm warns (EBADENGINE) when it installs a package that excludes the Node that runs it.

// Only these fields of the file are read.
const { packages } = JSON.parse(readFileSync(join(projectRoot, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, { engines?: Record<string, string> }>;
};
const bounds = Object.entries(packages).flatMap(([path, { engines }]) =>
  engines?.['node'] ? [{ path, range: engines['node'] }] : [],
);

test.each(['20.19.0', '24.15.0'])('every package accepts Node %s', (version) => {
  expect(bounds.length).toBeGreaterThan(200);
  const refusing = bounds.filter(({ range }) => !satisfies(version, range));
  expect(refusing.map(({ path, range }) => `${path} wants ${range}`)).toEqual([]);
});

test('the recommended Node is that of npm run test:node24', () => {
  const recommended = readFileSync(join(projectRoot, '.nvmrc'), 'utf8').trim();
  expect(recommended).toBe('24');
  expect(readFileSync(join(projectRoot, 'scripts', 'campaigns', 'test-node24.mjs'), 'utf8')).toContain(
    `const VERSION = ${recommended};`,
  );
});
