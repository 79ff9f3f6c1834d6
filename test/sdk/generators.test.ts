import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { projectRoot } from '../../src/config/project-root.js';
import { GENERATORS } from '../../scripts/sdk/generators/generators.js';

const page = readFileSync(join(projectRoot, 'docs', 'sdk.md'), 'utf8');

test.each(GENERATORS)('docs/sdk.md states the version and the command of $name', ({ version, command }) => {
  expect(page).toContain(command);
  expect(page).toContain(version);
});

test.each(GENERATORS)('$name has a scenario program', ({ name }) => {
  expect(existsSync(join(projectRoot, 'test', 'sdk', 'generators', name))).toBe(true);
});
