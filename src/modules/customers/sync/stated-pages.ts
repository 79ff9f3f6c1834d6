import { plainName } from './sync-list.js';

const NEXT = new Set([
  'next',
  'nextpage',
  'nextpageurl',
  'nextlink',
  'nexturl',
  'nextcursor',
  'hasmore',
  'hasnext',
]);
const TOTAL = new Set(['total', 'totalcount', 'totalrecords', 'totalitems', 'totalresults', 'count']);
const MAX_DEPTH = 2;
const MAX_NAME_CHARS = 40;

/**
 * Returns what the object around a list says about further pages, or undefined. It runs in the thread that reads the response: the object is a
 * courier's, and to hand over a million small values would hold the thread of the jobs.
 */
export function findMore(fields: object, received: number, depth = MAX_DEPTH): string | undefined {
  for (const [name, value] of Object.entries(fields) as [string, unknown][]) {
    const plain = plainName(name);
    const shown = name.slice(0, MAX_NAME_CHARS);
    if (TOTAL.has(plain) && typeof value === 'number' && value > received)
      return `${received} records of ${shown} ${value}`;
    if (
      NEXT.has(plain) &&
      (value === true || typeof value === 'number' || (typeof value === 'string' && value !== ''))
    )
      return `${received} records, and ${shown} names more`;
    if (typeof value === 'object' && value !== null && depth > 0) {
      const stated = findMore(value, received, depth - 1);
      if (stated !== undefined) return stated;
    }
  }
  return undefined;
}
