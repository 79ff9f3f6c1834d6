import { canonical, type Schema } from '../contract.js';
import { breaks, extendsContract, reportChange, type Position } from '../findings.js';

/** `closed`: no other value is possible. `open`: a list that can grow, `x-extensible-enum`. */
type Listing = { kind: 'none' | 'closed' | 'open'; values: unknown[] };

/** Compares lists of values: constants, enums and extensible enums. */
export function compareValues(at: Position, before: Schema, after: Schema): void {
  const [old, current] = [listingOf(before), listingOf(after)];
  if (old.kind !== current.kind) compareKinds(at, old.kind, current.kind);
  if (old.kind === 'none' || current.kind === 'none') return;
  for (const value of missingIn(current, old)) reportRemoved(at, value);
  for (const value of missingIn(old, current)) reportAdded(at, value, old.kind);
}

function listingOf(schema: Schema): Listing {
  // JSON Schema defines this type, and x-extensible-enum has the same.
  const closed = schema['enum'] as unknown[] | undefined;
  if (closed) return { kind: 'closed', values: closed };
  const open = schema['x-extensible-enum'] as unknown[] | undefined;
  return open ? { kind: 'open', values: open } : { kind: 'none', values: [] };
}

const OPENNESS = { closed: 0, open: 1, none: 2 };
const TEXTS = { closed: 'a closed list', open: 'a list that can grow', none: 'not listed' };

function compareKinds(at: Position, before: Listing['kind'], after: Listing['kind']): void {
  const change = OPENNESS[after] > OPENNESS[before] ? 'wider' : 'narrower';
  // An open list excludes no value.
  if (before === 'none' && after === 'open') {
    extendsContract(at, 'The values are listed now.');
    return;
  }
  reportChange(at, change, `The values were ${TEXTS[before]} and are ${TEXTS[after]}`);
}

function missingIn({ values }: Listing, { values: others }: Listing): unknown[] {
  const known = new Set(values.map(canonical));
  return others.filter((value) => !known.has(canonical(value)));
}

function reportRemoved(at: Position, value: unknown): void {
  const reason =
    at.direction === 'request'
      ? 'Requests with it are rejected'
      : 'Integrators that wait for it never get it';
  breaks(at, `The value ${canonical(value)} was removed. ${reason}.`, { names: [String(value)] });
}

function reportAdded(at: Position, value: unknown, kindBefore: Listing['kind']): void {
  const text = `The value ${canonical(value)} is new.`;
  const names = [String(value)];
  if (at.direction === 'request') extendsContract(at, text, { names, allowsNewCalls: true });
  else if (kindBefore === 'open') extendsContract(at, text, { names });
  else breaks(at, `${text} Generated clients reject a value outside a closed list.`, { names });
}
