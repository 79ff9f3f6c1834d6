import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { projectRoot } from '../../../src/config/project-root.js';

// The console's bundle contains the packages that it imports. A release lists the licences of production dependencies in THIRD-PARTY-LICENSES.txt.

// Only this field of the file is read.
const { dependencies } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>;
};

function packagesIn(folder: string): string[] {
  const entries = readdirSync(join(projectRoot, folder), { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .flatMap((text) => [...text.matchAll(/^(?:import|\} from|.* from) ?'((?:@[\w-]+\/)?[a-z][\w.-]*)/gm)])
    .map(([, name = '']) => name);
}

test('a release names the licence of every package in the console', () => {
  const names = new Set(packagesIn('console/src'));
  expect([...names]).toContain('preact');
  expect([...names].filter((name) => !(name in dependencies))).toEqual([]);
});
