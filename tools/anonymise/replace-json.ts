import { COLUMNS, type Decision } from './columns.js';
import type { Replacements } from './values/replacements.js';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** The decisions of columns, by name. A name with several decisions is replaced like text. */
const BY_NAME = new Map<string, Decision>();
for (const columns of Object.values(COLUMNS))
  for (const [name, decision] of Object.entries(columns)) {
    const known = BY_NAME.get(name);
    BY_NAME.set(name, known === undefined || known === decision ? decision : 'text');
  }
// The fields and codes of problems have words of our own. A courier's code has capital letters.
for (const name of ['code', 'field']) BY_NAME.set(name, 'code');

const ID_OR_TIME =
  /^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|\+00(:00)?)?)?)$/i;
const DECIMAL = /^-?\d+(\.\d+)?$/;

/** Replaces the texts of a JSON document by the decision for the column of their key's name. Keys and numbers stay. */
export function replaceJson(value: Json, replacements: Replacements, name = ''): Json {
  if (typeof value === 'string') return replaceText(value, replacements, BY_NAME.get(name) ?? 'text');
  if (Array.isArray(value)) return value.map((item) => replaceJson(item, replacements, name));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, replaceJson(item, replacements, key)]),
  );
}

function replaceText(value: string, replacements: Replacements, decision: Decision): string {
  if (ID_OR_TIME.test(value) || (decision === 'keep' && DECIMAL.test(value))) return value;
  switch (decision) {
    case 'code':
    case 'lowerText':
    case 'knownName':
    case 'packageType':
    case 'email':
    case 'url':
    case 'network':
    case 'hash':
    case 'houseNumber':
    case 'manifestNumber':
    case 'awbNumber':
      return replacements[decision](value);
    default:
      return replacements.text(value);
  }
}
