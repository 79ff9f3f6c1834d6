import type { Schema } from '../../../src/platform/contract/bundle.js';
import { rounds } from './effort.js';

/** Keywords that describe a value and do not restrict it. */
const ANNOTATIONS = new Set(['description', 'example', 'examples', 'title', 'default', 'deprecated']);

/**
 * Returns a function that is true for the first field of each schema. Fields of equal schemas are checked by the same
 * rules, so that one of them can prove the rules for all. In `npm run test:long` the function is true for every field.
 */
export function makeFirstOfSchema(): (schema: Schema, group?: string) => boolean {
  const seen = new Set<string>();
  return (schema, group = '') => {
    const rules = `${group} ${rulesOf(schema)}`;
    const isFirst = !seen.has(rules);
    seen.add(rules);
    return isFirst || rounds(0, 1) === 1;
  };
}

/** Returns a text that is equal for equal schemas. */
export const rulesOf = (schema: Schema): string =>
  JSON.stringify(schema, (key, value: unknown) => (ANNOTATIONS.has(key) ? undefined : value));
