import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../src/config/project-root.js';

/** Returns the places of array schemas without items, which generators and spectral:oas refuse. */
function arraysWithoutItems(node: unknown, place: string): string[] {
  if (typeof node !== 'object' || node === null) return [];
  const { type, items } = node as { type?: unknown; items?: unknown };
  const isArray = type === 'array' || (Array.isArray(type) && type.includes('array'));
  const below = Object.entries(node).flatMap(([name, child]) =>
    arraysWithoutItems(child, `${place}/${name}`),
  );
  return isArray && items === undefined ? [place, ...below] : below;
}

test.each(['openapi.json', 'openapi.sdk.json'])('every array of %s has items, also below not', (file) => {
  const text = readFileSync(join(projectRoot, 'generated', file), 'utf8');
  expect(arraysWithoutItems(JSON.parse(text), '#')).toEqual([]);
});

test('an array without items is found wherever it is', () => {
  const planted = {
    not: { properties: { a: { type: ['array', 'null'] }, b: { type: 'array', items: {} } } },
  };
  expect(arraysWithoutItems(planted, '#')).toEqual(['#/not/properties/a']);
});
