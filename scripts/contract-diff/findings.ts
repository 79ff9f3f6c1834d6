import type { Contract } from './contract.js';

/**
 * One difference that integrators notice. `breaking` needs a major version, `compatible` a minor one.
 * Differences in texts and examples only are no findings.
 */
export type Finding = {
  level: 'breaking' | 'compatible';
  /** The operation or the part of the document, for example `login (POST /api/login.php)`. */
  subject: string;
  /** The place inside the subject, for example `response 200, data.items[].weight`. */
  place: string;
  /** The place inside the nearest named schema. Findings of several operations with the same one are one change. */
  anchor: string;
  text: string;
  /** The changelog must contain one of these names. */
  names: string[];
  /** Whether the change allows requests that were not possible before, such as a new action. */
  allowsNewCalls: boolean;
};

/** Who sends the value: `request` values come from integrators, `response` values from the service. */
type Direction = 'request' | 'response';

/** Pairs of an old and a new schema. */
export type Pairs = Map<object, Set<object>>;

export type Comparison = {
  before: Contract;
  after: Contract;
  findings: Finding[];
  /** Pairs without a difference, at any subject. */
  unchanged: Record<Direction, Pairs>;
};

/** A position in both documents. */
export type Position = Comparison & {
  direction: Direction;
  subject: string;
  place: string;
  anchor: string;
  /** The field, parameter or header that the position belongs to: its name in the changelog. */
  name: string;
  /** Whether the operation has new calls, whose responses can have new forms. */
  hasNewCalls: boolean;
  /** Pairs that were compared for this subject and direction. Cycles end here. */
  visited: Pairs;
};

type Detail = { names?: string[]; allowsNewCalls?: boolean };

function report(at: Position, level: Finding['level'], text: string, detail: Detail = {}): void {
  const { subject, place, anchor, name } = at;
  const { names = [name], allowsNewCalls = false } = detail;
  at.findings.push({ level, subject, place, anchor, text, names, allowsNewCalls });
}

/** Reports a change that breaks integrators in both directions. */
export const breaks = (at: Position, text: string, detail?: Detail): void =>
  report(at, 'breaking', text, detail);

/** Reports a change that integrators can ignore. */
export const extendsContract = (at: Position, text: string, detail?: Detail): void =>
  report(at, 'compatible', text, detail);

/** How the set of allowed values changed. `different` means that neither set contains the other, or that nobody can tell. */
export type Change = 'narrower' | 'wider' | 'different';

/** Reports a changed set of values: requests must not get narrower, and responses must not get wider. */
export function reportChange(at: Position, change: Change, what: string, detail?: Detail): void {
  if (at.direction === 'request') {
    if (change === 'wider') {
      extendsContract(at, `${what}. More requests are valid.`, detail);
      return;
    }
    breaks(at, `${what}. Requests that were valid can be rejected.`, detail);
    return;
  }
  if (change === 'narrower') {
    extendsContract(at, `${what}. Fewer values are possible.`, detail);
    return;
  }
  breaks(at, `${what}. Receivers can get values that were not possible.`, detail);
}

export function startAt(comparison: Comparison, subject: string, name: string): Position {
  const start = { direction: 'request', place: '', anchor: '', hasNewCalls: false } as const;
  return { ...comparison, ...start, subject, name, visited: new Map() };
}

/** Returns a position inside another one, in a part with its own schema. */
export const enter = (at: Position, place: string, name: string): Position => ({
  ...at,
  place,
  anchor: '',
  name,
});

/** Returns the position of a field, or of an array's items (`[]`). */
export function step(at: Position, field: string, name = field): Position {
  const join = (path: string, separator: string) =>
    field.startsWith('[') || path === '' ? `${path}${field}` : `${path}${separator}${field}`;
  const isTop = !/, /.test(at.place);
  return {
    ...at,
    place: join(at.place, isTop ? ', ' : '.'),
    anchor: at.anchor === '' ? '' : join(at.anchor, '.'),
    name,
  };
}
