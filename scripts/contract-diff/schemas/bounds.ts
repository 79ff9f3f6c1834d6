import type { Schema } from '../contract.js';
import { reportChange, type Position } from '../findings.js';

type Bound = { value: number; isExclusive: boolean };
type Range = { lower: string; upper: string; exclusiveLower?: string; exclusiveUpper?: string };

const RANGES: Range[] = [
  {
    lower: 'minimum',
    upper: 'maximum',
    exclusiveLower: 'exclusiveMinimum',
    exclusiveUpper: 'exclusiveMaximum',
  },
  { lower: 'minLength', upper: 'maxLength' },
  { lower: 'minItems', upper: 'maxItems' },
  { lower: 'minProperties', upper: 'maxProperties' },
];

/** Compares numeric bounds, lengths and counts. */
export function compareBounds(at: Position, before: Schema, after: Schema): void {
  for (const { lower, upper, exclusiveLower, exclusiveUpper } of RANGES) {
    const floor = exclusiveLower ? -Infinity : 0;
    const lowers = [before, after].map((schema) => boundOf(schema, lower, exclusiveLower, floor));
    const uppers = [before, after].map((schema) => boundOf(schema, upper, exclusiveUpper, Infinity, -1));
    compareBound(at, lower, lowers, 1);
    compareBound(at, upper, uppers, -1);
  }
}

/** Returns the stricter of the inclusive and the exclusive bound. `sign` is -1 for upper bounds. */
function boundOf(schema: Schema, inclusive: string, exclusive = '', none: number, sign = 1): Bound {
  const at = (keyword: string) => (schema[keyword] === undefined ? none : Number(schema[keyword]));
  const [plain, strict] = [at(inclusive), at(exclusive)];
  if (strict === none || strict * sign < plain * sign) return { value: plain, isExclusive: false };
  return { value: strict, isExclusive: true };
}

function compareBound(at: Position, keyword: string, [before, after]: Bound[], sign: number): void {
  if (!before || !after) return;
  const difference =
    (after.value - before.value) * sign || Number(after.isExclusive) - Number(before.isExclusive);
  // NaN: neither side has a bound.
  if (difference === 0 || Number.isNaN(difference)) return;
  const what = `${keyword} was ${shownBound(before)} and is ${shownBound(after)}`;
  reportChange(at, difference > 0 ? 'narrower' : 'wider', what);
}

function shownBound({ value, isExclusive }: Bound): string {
  if (!Number.isFinite(value)) return 'none';
  return isExclusive ? `${value} (exclusive)` : String(value);
}
