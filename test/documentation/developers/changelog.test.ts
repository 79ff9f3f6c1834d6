import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { projectRoot } from '../../../src/config/project-root.js';

const read = (path: string) => readFileSync(join(projectRoot, path), 'utf8');
const [, unreleased = ''] = /^## Unreleased\n([^]*?)^## /m.exec(read('CHANGELOG.md')) ?? [];
const groups = unreleased
  .split(/^(?=\*\*[^*]+\*\*$)/m)
  .map((text) => ({ title: /^\*\*(.+)\*\*$/m.exec(text)?.[1] ?? '', text }))
  .filter(({ title }) => title !== '');

test('the section "Unreleased" has groups for integrators, SDKs and operators, in this order', () => {
  const order = ['Added', 'Changed', 'Fixed', 'SDKs', 'For operators'];
  const titles = groups.map(({ title }) => title);
  expect(titles).toEqual(order.filter((title) => titles.includes(title)));
});

test('what operators set or run is under "For operators"', () => {
  const settings = [...read('src/config/settings.ts').matchAll(/^ +([A-Z][A-Z_]+):/gm)].map(
    ([, name]) => name,
  );
  const commands = readdirSync(join(projectRoot, 'src/commands'))
    .filter((name) => name.endsWith('.ts'))
    .map((name) => name.slice(0, -3));
  expect([settings.length > 30, commands.includes('rewrap')]).toEqual([true, true]);
  const ofOperators = new RegExp(
    `\`(?:crossdock |npm run )?(?:${[...settings, ...commands].join('|')})(?: [^\`]*)?\``,
  );
  const misplaced = groups
    .filter(({ title }) => title !== 'For operators')
    .flatMap(({ text }) =>
      text.split(/^(?=- )/m).filter((line) => line.startsWith('- ') && ofOperators.test(line)),
    );
  expect(misplaced).toEqual([]);
});
