import { componentName, resolve, type Contract, type Schema } from '../contract.js';
import { compareFields } from './fields.js';
import { breaks, extendsContract, reportChange, type Pairs, type Position } from '../findings.js';
import { compareKeywords } from './keywords.js';
import { expand, type Union, type Variant } from './variants.js';

/** Compares two schemas and everything below them. A missing schema accepts every value. */
export function compareSchemas(at: Position, before: Schema = ANY, after: Schema = ANY): void {
  const [left, right] = [follow(at.before, before), follow(at.after, after)];
  const unchanged = at.unchanged[at.direction];
  if (has(unchanged, left, right) || has(at.visited, left, right)) return;
  add(at.visited, left, right);
  const known = at.findings.length;
  const name = componentName(before);
  const here = name === undefined ? at : { ...at, anchor: name };
  const [old, current] = [withoutNull(expand(at.before, left)), withoutNull(expand(at.after, right))];
  if (old.discriminator && current.discriminator !== old.discriminator)
    breaks(here, `The discriminator was "${old.discriminator}" and is "${current.discriminator ?? 'none'}".`);
  compareNull(here, old, current);
  compareVariants(here, old, current);
  if (at.findings.length === known) add(unchanged, left, right);
}

const ANY: Schema = {};

const follow = (contract: Contract, schema: Schema): Schema =>
  Object.keys(schema).length === 1 ? resolve(contract, schema) : schema;

const has = (pairs: Pairs, before: Schema, after: Schema): boolean => pairs.get(before)?.has(after) ?? false;

const add = (pairs: Pairs, before: Schema, after: Schema) =>
  pairs.set(before, (pairs.get(before) ?? new Set()).add(after));

type Nullable = Union & { isNullable: boolean };

/** Separates null from the other values, because contracts spell it as a type, a branch or an enum value. */
function withoutNull({ variants, discriminator }: Union): Nullable {
  let isNullable = false;
  const others = variants.flatMap((variant) => {
    const types = variant.schema['type'] as string[] | undefined;
    const values = variant.schema['enum'] as unknown[] | undefined;
    const allowsNull = (types?.includes('null') ?? true) && (values?.includes(null) ?? true);
    isNullable ||= allowsNull;
    const rest = types?.filter((type) => type !== 'null');
    if (rest?.length === 0) return [];
    const schema = { ...variant.schema };
    if (rest) schema['type'] = rest;
    if (values) schema['enum'] = values.filter((value) => value !== null);
    return [{ ...variant, schema }];
  });
  return { variants: others, discriminator, isNullable };
}

function compareNull(at: Position, before: Nullable, after: Nullable): void {
  if (before.isNullable === after.isNullable) return;
  if (after.isNullable) reportChange(at, 'wider', 'The value can be null now');
  else reportChange(at, 'narrower', 'The value can no longer be null');
}

function compareVariants(at: Position, before: Nullable, after: Nullable): void {
  const left = [...before.variants];
  const right = [...after.variants];
  const pairs = isOnlyForm(left) && isOnlyForm(right) ? takePairs(left, right, () => true) : [];
  for (const areEqual of PAIRINGS) pairs.push(...takePairs(left, right, (a, b) => areEqual(a, b, at)));
  // One form on each side that is left is a changed form.
  if (isOnlyForm(left) && isOnlyForm(right)) pairs.push(...takePairs(left, right, () => true));
  for (const [a, b] of pairs) compareVariant(at, a, b, pairs.length > 1);
  for (const variant of left) reportRemoved(at, variant, before.discriminator);
  for (const variant of right) reportAdded(at, variant, after.discriminator);
}

const isOnlyForm = (variants: Variant[]): boolean => variants.length === 1 && variants[0]?.key === undefined;

type Pairing = (before: Variant, after: Variant, at: Position) => boolean;

/** The ways to find the same form in both documents, the surest first. */
const PAIRINGS: Pairing[] = [
  (before, after) => before.key !== undefined && before.key === after.key,
  (before, after) =>
    (before.key === undefined || after.key === undefined) &&
    before.name !== undefined &&
    before.name === after.name,
  (before, after, at) =>
    (before.key === undefined || after.key === undefined) && !breaksWhenReplaced(at, before, after),
];

function takePairs(
  left: Variant[],
  right: Variant[],
  areEqual: (before: Variant, after: Variant) => boolean,
): [Variant, Variant][] {
  const pairs: [Variant, Variant][] = [];
  for (const variant of [...left]) {
    const partner = right.find((other) => areEqual(variant, other));
    if (!partner) continue;
    pairs.push([variant, partner]);
    left.splice(left.indexOf(variant), 1);
    right.splice(right.indexOf(partner), 1);
  }
  return pairs;
}

function breaksWhenReplaced(at: Position, before: Variant, after: Variant): boolean {
  const visited = new Map([...at.visited].map(([key, partners]) => [key, new Set(partners)]));
  const trial = { ...at, findings: [], visited };
  compareVariant(trial, before, after, false);
  return trial.findings.some(({ level }: { level: string }) => level === 'breaking');
}

function compareVariant(at: Position, before: Variant, after: Variant, isOneOfSeveral: boolean): void {
  const form = before.key ?? before.name;
  const here = isOneOfSeveral && form ? { ...at, place: `${at.place} (${form})` } : at;
  const named = before.name ? { ...here, anchor: before.name } : here;
  compareKeywords(named, before.schema, after.schema);
  compareFields(named, before.schema, after.schema, compareSchemas);
}

function describe({ key, name }: Variant, discriminator: string | undefined): string {
  if (key !== undefined) return `${discriminator ?? 'Form'} "${key}"`;
  return name === undefined ? 'A form of the value' : `The form ${name}`;
}

function reportRemoved(at: Position, variant: Variant, discriminator: string | undefined): void {
  const reason =
    at.direction === 'request'
      ? 'Requests with it are rejected'
      : 'Integrators that wait for it never get it';
  breaks(at, `${describe(variant, discriminator)} was removed. ${reason}.`, namesOf(at, variant));
}

function reportAdded(at: Position, variant: Variant, discriminator: string | undefined): void {
  const text = `${describe(variant, discriminator)} is new.`;
  if (at.direction === 'request') {
    extendsContract(at, text, { ...namesOf(at, variant), allowsNewCalls: true });
    return;
  }
  if (at.hasNewCalls) {
    extendsContract(at, `${text} New calls get it.`, namesOf(at, variant));
    return;
  }
  const fields = variant.schema['x-chosen-with'];
  if (Array.isArray(fields)) {
    extendsContract(
      at,
      `${text} Only those who name it in ${fields.join(' or ')} get it.`,
      namesOf(at, variant),
    );
    return;
  }
  breaks(at, `${text} Generated clients reject a form that they do not know.`, namesOf(at, variant));
}

const namesOf = (at: Position, { key, name }: Variant) => ({
  names: [key, name].filter((text) => text !== undefined).concat((key ?? name) ? [] : [at.name]),
});
