import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { projectRoot } from '../../../src/config/project-root.js';

const read = (path: string) => readFileSync(join(projectRoot, path), 'utf8');
const page = read('docs/one-request.md');

describe('docs/one-request.md', () => {
  test('names each function with the file that has it', () => {
    const named = [...page.matchAll(/`(\w+)` \(`((?:src|test)\/[^`]+)`\)/g)].map(
      ([, name = '', path = '']) => ({
        name,
        path,
      }),
    );
    expect(named.length).toBeGreaterThan(20);
    const isDefined = ({ name, path }: { name: string; path: string }) =>
      new RegExp(`(?:function|const) ${name}\\b|^ +(?:async )?${name}\\(`, 'm').test(read(path));
    expect(named.filter((each) => !isDefined(each))).toEqual([]);
  });

  test('has the round trips that are counted through a proxy', () => {
    const budgets = new Map(
      [...read('test/database/round-trips.test.ts').matchAll(/^ +'([^'\n]+)',\n +(\d+),$/gm)].map(
        ([, name = '', count = '']) => [name, count],
      ),
    );
    const claimed = [...page.matchAll(/^\|[^|\n]+\| `([a-z][^`]+)` +\| (\d+) +\|$/gm)];
    expect(claimed.map(([, name = '']) => name)).toEqual([
      'receives a package',
      'receives a package again',
      'receives a package with an Idempotency-Key',
    ]);
    for (const [, name = '', count = ''] of claimed) expect([name, count]).toEqual([name, budgets.get(name)]);
  });

  test('has one step per round trip, and the snapshot of the stored response counts twice', () => {
    const steps = (heading: string) =>
      (
        page
          .split(`## ${heading}\n`)[1]
          ?.split('\n## ')[0]
          ?.match(/^\d+\. /gm) ?? []
      ).length;
    const count = (name: string) => Number(new RegExp(`\`${name}\` +\\| (\\d+)`).exec(page)?.[1]);
    expect(steps('The transaction, round trip by round trip')).toBe(count('receives a package'));
    expect(steps('With an Idempotency-Key') + 1).toBe(count('receives a package with an Idempotency-Key'));
  });

  test('is short', () => {
    expect(page.trimEnd().split('\n').length).toBeLessThanOrEqual(120);
  });
});
