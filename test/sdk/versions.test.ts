import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { readContract } from '../../scripts/sdk/contract.js';
import { projectRoot } from '../../src/config/project-root.js';

const versionIn = (path: string, pattern: RegExp) =>
  pattern.exec(readFileSync(join(projectRoot, path), 'utf8'))?.[1];

test.each([
  ['sdk/php/composer.json', /"version": "(.+)"/],
  ['sdk/python/pyproject.toml', /^version = "(.+)"/m],
])('%s has the version of the contract', async (path, pattern) => {
  expect(versionIn(path, pattern)).toBe((await readContract()).info.version);
});
