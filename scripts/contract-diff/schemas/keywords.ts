import { compareBounds } from './bounds.js';
import { isEqual, type Schema } from '../contract.js';
import { breaks, extendsContract, reportChange, type Change, type Position } from '../findings.js';
import { compareValues } from './values.js';

/** Compares what two schemas say about a value itself: type, values, bounds, format, default and the rest. */
export function compareKeywords(at: Position, before: Schema, after: Schema): void {
  compareTypes(at, before, after);
  compareValues(at, before, after);
  compareBounds(at, before, after);
  compareFormat(at, before['format'], after['format']);
  compareDefault(at, before['default'], after['default']);
  for (const keyword of CONSTRAINTS)
    compareConstraint(at, keyword, before[keyword], after[keyword], addedOrRemoved);
  for (const keyword of MEANINGS)
    compareConstraint(at, keyword, before[keyword], after[keyword], () => 'different');
  compareConstraint(at, 'multipleOf', before['multipleOf'], after['multipleOf'], multiples);
  if (!before['deprecated'] && after['deprecated']) extendsContract(at, 'The value is deprecated now.');
}

/** Keywords that only exclude values. */
const CONSTRAINTS = [
  ...['pattern', 'not', 'uniqueItems', 'propertyNames', 'patternProperties', 'prefixItems', 'contains'],
  ...['minContains', 'maxContains', 'if', 'then', 'else', 'dependentRequired', 'dependentSchemas'],
  ...['unevaluatedProperties', 'unevaluatedItems'],
];

/** Keywords that change how a value is read or sent. */
const MEANINGS = ['readOnly', 'writeOnly', 'contentEncoding', 'contentMediaType', 'contentSchema'];

function compareTypes(at: Position, before: Schema, after: Schema): void {
  const [old, current] = [typesOf(before), typesOf(after)];
  const isWithin = (types: string[] | undefined, others: string[] | undefined) =>
    !others ||
    types?.every((type) => others.includes(type) || (type === 'integer' && others.includes('number')));
  const change = changeOf(isWithin(old, current) ?? false, isWithin(current, old) ?? false);
  const shown = (types: string[] | undefined) => types?.join(' or ') ?? 'any';
  if (change) reportChange(at, change, `The type was ${shown(old)} and is ${shown(current)}`);
}

const typesOf = (schema: Schema) => schema['type'] as string[] | undefined;

function changeOf(isOldAllowed: boolean, isNewKnown: boolean): Change | undefined {
  if (isOldAllowed && isNewKnown) return undefined;
  if (isOldAllowed) return 'wider';
  return isNewKnown ? 'narrower' : 'different';
}

// These formats only annotate a value: they neither exclude values nor change the type of generated clients.
const ANNOTATIONS: unknown[] = [undefined, 'double', 'password'];

function compareFormat(at: Position, before: unknown, after: unknown): void {
  if (before === after || (ANNOTATIONS.includes(before) && ANNOTATIONS.includes(after))) return;
  const what = `The format was ${shown(before)} and is ${shown(after)}`;
  // Code generators choose another type for another format, so a response with a new format does not compile.
  reportChange(at, at.direction === 'response' ? 'different' : addedOrRemoved(before, after), what);
}

function compareDefault(at: Position, before: unknown, after: unknown): void {
  if (at.direction === 'response' || isEqual(before, after)) return;
  const what = `The default was ${shown(before)} and is ${shown(after)}.`;
  if (before === undefined) extendsContract(at, what);
  else breaks(at, `${what} Requests without the value mean something else.`);
}

type Judge = (before: unknown, after: unknown) => Change;

function compareConstraint(
  at: Position,
  keyword: string,
  before: unknown,
  after: unknown,
  judge: Judge,
): void {
  if (isEqual(before, after)) return;
  // JSON Schema's default of these keywords is false.
  const change = judge(before === false ? undefined : before, after === false ? undefined : after);
  reportChange(at, change, `${keyword} was ${shown(before)} and is ${shown(after)}`);
}

function addedOrRemoved(before: unknown, after: unknown): Change {
  if (before === undefined) return 'narrower';
  return after === undefined ? 'wider' : 'different';
}

function multiples(before: unknown, after: unknown): Change {
  if (before === undefined || after === undefined) return addedOrRemoved(before, after);
  const isMultiple = (value: number, unit: number) =>
    Math.abs(value / unit - Math.round(value / unit)) < 1e-9;
  if (isMultiple(Number(before), Number(after))) return 'wider';
  return isMultiple(Number(after), Number(before)) ? 'narrower' : 'different';
}

export const shown = (value: unknown): string => (value === undefined ? 'none' : JSON.stringify(value));
