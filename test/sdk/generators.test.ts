import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { projectRoot } from '../../src/config/project-root.js';
import { GENERATORS } from '../../sdk-tools/generators/generators.js';

const page = readFileSync(join(projectRoot, 'docs/site/pages/code-generators.md'), 'utf8');

test.each(GENERATORS)(
  '/docs/code-generators states the version and the command of $name',
  ({ version, command }) => {
    expect(page).toContain(command);
    expect(page).toContain(version);
  },
);

test.each(GENERATORS)('$name has a scenario program', ({ name }) => {
  expect(existsSync(join(projectRoot, 'test', 'sdk', 'generators', name))).toBe(true);
});

test('/docs/code-generators shows the settings of openapi-python-client that the test uses', () => {
  const file = join(projectRoot, 'test/sdk/generators/openapi-python-client/config.yaml');
  expect(page).toContain(readFileSync(file, 'utf8'));
});
