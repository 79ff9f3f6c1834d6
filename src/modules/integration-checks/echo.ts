// What a receiver repeats of a package shows how it has read it.

const POUNDS_PER_KILOGRAM = 2.204_62;
/** Receivers round to two digits. */
const TOLERANCE = 0.005;
const QUARTER_MS = 900_000;
const CLOCK_TOLERANCE_MS = 1_500;
const MAX_OFFSET_MS = 14 * 3_600_000;
const MAX_VALUES = 500;
const MAX_DEPTH = 6;

/** `isInKilograms` of the object around it, whose fields may name a unit. */
type Leaf = { name: string; value: unknown; isInKilograms: boolean };

/** Returns what shows that the weight was read as kilograms, or undefined. */
export function findKilograms(content: unknown, sentLb: number): string | undefined {
  const found = leavesOf(content).find(({ name, value, isInKilograms }) => {
    const number = numberOf(value);
    if (!/weight|peso/i.test(name) || number === undefined) return false;
    return (
      isNear(number, sentLb * POUNDS_PER_KILOGRAM) ||
      (isNear(number, sentLb) && (isInKilograms || /kg|kilo/i.test(name)))
    );
  });
  return found && `sent ${sentLb} lb, received ${found.name} ${String(found.value)}`;
}

const namesKilograms = (fields: [name: string, value: unknown][]): boolean =>
  fields.some(
    ([name, value]) => /unit|uom/i.test(name) && typeof value === 'string' && /^k(?:g|ilo)/i.test(value),
  );

const isNear = (value: number, expected: number) => Math.abs(value - expected) <= expected * TOLERANCE;

function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  const digits =
    typeof value === 'string'
      ? /^(\d{1,6}(?:\.\d{1,6})?)\s?(?:kg|lbs?)?$/i.exec(value.trim())?.[1]
      : undefined;
  return digits === undefined ? undefined : Number(digits);
}

/** A time with its zone. Without one it may be local time, which is no fault. */
const ZONED = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?\s?(?:Z|UTC|[+-]\d{2}:?\d{2})$/i;

/** Returns what shows that the time was read with another offset, or undefined. */
export function findOtherZone(content: unknown, sent: Date): string | undefined {
  const found = leavesOf(content).find(({ name, value }) => {
    const at = instantOf(name, value);
    if (at === undefined) return false;
    const differenceMs = Math.abs(at - sent.getTime());
    const rest = differenceMs % QUARTER_MS;
    const isQuarters = Math.min(rest, QUARTER_MS - rest) < CLOCK_TOLERANCE_MS;
    return isQuarters && differenceMs > CLOCK_TOLERANCE_MS && differenceMs <= MAX_OFFSET_MS;
  });
  return found && `sent ${sent.toISOString()}, received ${found.name} ${String(found.value)}`;
}

/** Milliseconds since 1970, of a text with a zone or of a number of seconds or milliseconds. */
function instantOf(name: string, value: unknown): number | undefined {
  if (typeof value === 'number' && /time|date|_at$|At$/.test(name))
    return value > 1e12 ? value : value * 1_000;
  if (typeof value !== 'string' || !ZONED.test(value)) return undefined;
  const at = Date.parse(
    value
      .replace(' ', 'T')
      .replace(/\s?UTC$/i, 'Z')
      .replace(/\s/, '')
      .replace(/(\.\d{3})\d+/, '$1'),
  );
  return Number.isNaN(at) ? undefined : at;
}

/** Returns the first values of a response with their names, not those of lists of values. */
function leavesOf(content: unknown): Leaf[] {
  const leaves: Leaf[] = [];
  const visit = (node: unknown, depth: number): void => {
    if (typeof node !== 'object' || node === null || depth > MAX_DEPTH) return;
    // Object.entries() of an object or array of JSON.
    const fields = Object.entries(node as Record<string, unknown>);
    const isInKilograms = namesKilograms(fields);
    for (const [name, value] of fields) {
      if (leaves.length >= MAX_VALUES) return;
      if (typeof value === 'object') visit(value, depth + 1);
      else leaves.push({ name, value, isInKilograms });
    }
  };
  visit(content, 0);
  return leaves;
}
