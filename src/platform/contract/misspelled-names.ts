import type { FuncKeywordDefinition, SchemaValidateFunction } from 'ajv';

/** The keyword that `mark` of the validator adds to the schema of each object. Its value lists the declared names. */
export const MISSPELLED_KEYWORD = 'x-misspelled-names';

/**
 * Rejects a name that differs from a declared one only in case, spaces, `_` or `-`, unless the declared one is sent too. Other
 * unknown names are ignored, because clients send more than we declare. Ignoring a misspelled filter would select everything.
 */
const validate: SchemaValidateFunction = (declared: string[], sent: unknown) => {
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
  validate.errors = errors;
  return errors.length === 0;
};

/** Longer than any declared name with separators. */
const MAX_NAME_CHARS = 60;

const spellingOf = (name: string): string => name.toLowerCase().replace(/[ _-]/g, '');

/** It has no `type`, so that Ajv runs it before it fills in defaults, which would make a declared name look sent. */
export const misspelledKeyword: FuncKeywordDefinition = {
  keyword: MISSPELLED_KEYWORD,
  schemaType: 'array',
  validate,
};
