import type { Schema } from '../contract.js';
import { breaks, extendsContract, reportChange, step, type Position } from '../findings.js';

/** Compares two schemas: compareSchemas, which calls this file. */
type Compare = (at: Position, before?: Schema, after?: Schema) => void;

type Fields = Record<string, Schema>;

/** Compares the fields of objects and the items of arrays. */
export function compareFields(at: Position, before: Schema, after: Schema, compare: Compare): void {
  const [old, current] = [fieldsOf(before), fieldsOf(after)];
  const [neededBefore, neededAfter] = [requiredOf(before), requiredOf(after)];
  for (const [name, schema] of Object.entries(old)) {
    const here = step(at, name);
    const now = current[name];
    if (!now) reportRemoved(here);
    else {
      compareNeed(here, neededBefore.has(name), neededAfter.has(name));
      compare(here, schema, now);
    }
  }
  for (const name of Object.keys(current).filter((each) => !(each in old)))
    reportAdded(step(at, name), neededAfter.has(name));
  compareOtherFields(at, before['additionalProperties'], after['additionalProperties'], compare);
  if ('items' in before || 'items' in after)
    // JSON Schema defines this type.
    compare(step(at, '[]', at.name), before['items'] as Schema, after['items'] as Schema);
}

const fieldsOf = (schema: Schema): Fields => (schema['properties'] ?? {}) as Fields;
const requiredOf = (schema: Schema): Set<string> => new Set((schema['required'] ?? []) as string[]);

function reportRemoved(at: Position): void {
  if (at.direction === 'request') breaks(at, 'The field was removed. The service ignores it now.');
  else breaks(at, 'The field was removed. Integrators that read it fail.');
}

function reportAdded(at: Position, isRequired: boolean): void {
  if (at.direction === 'request' && isRequired)
    breaks(at, 'The field is new and required. Requests without it are rejected.');
  else extendsContract(at, 'The field is new.');
}

function compareNeed(at: Position, before: boolean, after: boolean): void {
  if (before === after) return;
  if (at.direction === 'request')
    if (after) breaks(at, 'The field is required now. Requests without it are rejected.');
    else extendsContract(at, 'The field is optional now.');
  else if (before) breaks(at, 'The field is optional now. Integrators that rely on it fail.');
  else extendsContract(at, 'The field is always present now.');
}

/** Compares the fields that have no name in the contract, such as the entries of a map. */
function compareOtherFields(
  at: Position,
  before: unknown = true,
  after: unknown = true,
  compare: Compare,
): void {
  const here = step(at, '[any name]', at.name);
  if (isSchema(before) && isSchema(after)) {
    compare(here, before, after);
    return;
  }
  if (isSchema(before) || isSchema(after)) {
    const [left, right] = [before, after].map((value) => (isSchema(value) ? value : {}));
    if (before !== false && after !== false) {
      compare(here, left, right);
      return;
    }
  }
  if (at.direction === 'response') {
    // Every response can get new fields, whatever its schema says.
    if (isSchema(before))
      breaks(here, 'The fields with any name were removed. Integrators that read them fail.');
    return;
  }
  const isOpen = (value: unknown) => value !== false;
  if (isOpen(before) === isOpen(after)) return;
  reportChange(here, isOpen(after) ? 'wider' : 'narrower', 'The rule for unknown fields changed');
}

const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null;
