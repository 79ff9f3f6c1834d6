import type { AnySchemaObject, FuncKeywordDefinition, SchemaValidateFunction } from 'ajv';
import type { DataValidationCxt } from 'ajv/dist/types/index.js';
import { readText, type TextKind } from '../values/text-rules.js';

// The keywords of the contract that Ajv does not have, or has with another meaning.

/** Replaces the value that a keyword validates. */
function replace(at: DataValidationCxt | undefined, value: string): void {
  const parent = at?.parentData;
  if (at && parent) parent[at.parentDataProperty] = value;
}

/** The keyword that `mark` of the validator adds to the schema of each object. Its value lists the declared names. */
export const MISSPELLED_KEYWORD = 'x-misspelled-names';

/**
 * Rejects a name that differs from a declared one only in case, spaces, `_` or `-`, unless the declared one is sent too. Other
 * unknown names are ignored, because clients send more than we declare. Ignoring a misspelled filter would select everything.
 */
const checkNames: SchemaValidateFunction = (declared: string[], sent: unknown) => {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) return true;
  const known = new Set(declared);
  const unknown = Object.keys(sent).filter((name) => name.length <= MAX_NAME_CHARS && !known.has(name));
  if (unknown.length === 0) return true;
  const bySpelling = new Map(declared.map((name) => [spellingOf(name), name]));
  const errors = unknown.flatMap((field) => {
    const name = bySpelling.get(spellingOf(field));
    if (name === undefined || Object.hasOwn(sent, name)) return [];
    return [{ keyword: MISSPELLED_KEYWORD, params: { field, name } }];
  });
  checkNames.errors = errors;
  return errors.length === 0;
};

/** Longer than any declared name with separators. */
const MAX_NAME_CHARS = 60;

/** Equal for names that differ only in case, spaces, `_` or `-`. */
export const spellingOf = (name: string): string => name.toLowerCase().replace(/[ _-]/g, '');

/** It has no `type`, so that Ajv runs it before it fills in defaults, which would make a declared name look sent. */
export const misspelledKeyword: FuncKeywordDefinition = {
  keyword: MISSPELLED_KEYWORD,
  schemaType: 'array',
  validate: checkNames,
};

/** The keyword of the contract that states the rule of a text input. */
export const TEXT_KEYWORD = 'x-text';

/**
 * Reads a text by its rule, and replaces it by the text that is stored and compared. It runs before the other keywords, which therefore
 * see the same text as the handler.
 */
const readByRule: SchemaValidateFunction = (
  kind: TextKind,
  sent: string,
  _parentSchema?: AnySchemaObject,
  at?: DataValidationCxt,
) => {
  const { text, problem } = readText(kind, sent);
  if (problem) {
    const [name, args] = problem;
    readByRule.errors = [{ keyword: TEXT_KEYWORD, params: { problem: name, args } }];
    return false;
  }
  if (text !== sent) replace(at, text);
  return true;
};

export const textKeyword: FuncKeywordDefinition = {
  keyword: TEXT_KEYWORD,
  type: 'string',
  schemaType: 'string',
  modifying: true,
  before: 'maxLength',
  validate: readByRule,
};

/** Tolerance for the rounding error of a client's own arithmetic: 0.1 + 0.2 is 0.30000000000000004. */
const FLOAT_NOISE = 2 ** -50;

/**
 * Replaces Ajv's multipleOf, which divides and compares with an absolute tolerance: a tolerance large enough for
 * 4.35 / 0.01 accepts 1e-10, and is too small for 10^10 steps. This tolerance is relative to the value.
 */
export const isMultipleOf: SchemaValidateFunction = (step: number, value: number) => {
  const nearest = Math.round(value / step) * step;
  if (Math.abs(value - nearest) <= Math.abs(value) * FLOAT_NOISE) return true;
  isMultipleOf.errors = [{ keyword: 'multipleOf', params: { multipleOf: step } }];
  return false;
};

/** A UUID of any version, in either case. */
export const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/**
 * Converts a UUID to lower case, as PostgreSQL returns it. Ids are compared as text, authenticated with ciphertexts, and
 * used in lock names and paths, so handlers must see only one spelling.
 */
export const lowerCaseUuid: FuncKeywordDefinition = {
  keyword: 'x-lower-case-uuid',
  type: 'string',
  modifying: true,
  errors: false,
  validate(_schema: unknown, text: string, _parent?: AnySchemaObject, at?: DataValidationCxt): boolean {
    if (UUID.test(text)) replace(at, text.toLowerCase());
    return true;
  },
};
