import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { projectRoot } from '../../src/config/project-root.js';

const read = (path: string) => readFileSync(join(projectRoot, path), 'utf8');

/** The rows of the table "Limits": what is limited, and which text of which file says so. */
const ROWS = read('docs/security.md')
  .split('## Limits')[1]
  ?.split('\n## ')[0]
  ?.split('\n')
  .filter((line) => line.startsWith('|'))
  .slice(2)
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, limit = '', value = '', , source = '']) => ({ limit, value, quotes: quotesOf(source) }));

/** `file`: `text`, `text`; `file`: `text` */
function quotesOf(source: string): { file: string; text: string }[] {
  return source.split('; ').flatMap((part) => {
    const [file = '', ...texts] = [...part.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text);
    return texts.map((text) => ({ file, text }));
  });
}

test('there are limits', () => {
  expect(ROWS?.length).toBeGreaterThan(25);
});

test.each(ROWS ?? [])('$limit: the source that docs/security.md quotes is there', ({ value, quotes }) => {
  expect(value).not.toBe('');
  expect(quotes.length).toBeGreaterThan(0);
  for (const { file, text } of quotes)
    expect({ file, isThere: read(file).includes(text) }).toEqual({ file, isThere: true });
});
