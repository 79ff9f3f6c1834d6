import type { AnySchemaObject, FuncKeywordDefinition, SchemaValidateFunction } from 'ajv';
import type { DataValidationCxt } from 'ajv/dist/types/index.js';
import { readText, type TextKind } from '../values/text-rules.js';

/** The keyword of the contract that states the rule of a text input. */
export const TEXT_KEYWORD = 'x-text';

/**
 * Reads a text by its rule, and replaces it by the text that is stored and compared. It runs before the other keywords, which therefore
 * see the same text as the handler.
 */
const validate: SchemaValidateFunction = (
  kind: TextKind,
  sent: string,
  _parentSchema?: AnySchemaObject,
  at?: DataValidationCxt,
) => {
  const { text, problem } = readText(kind, sent);
  if (problem) {
    const [name, args] = problem;
    validate.errors = [{ keyword: TEXT_KEYWORD, params: { problem: name, args } }];
    return false;
  }
  if (text !== sent && at) {
    // The parent of a value is an array or an object.
    const parent = at.parentData as Record<string | number, unknown>;
    parent[at.parentDataProperty] = text;
  }
  return true;
};

export const textKeyword: FuncKeywordDefinition = {
  keyword: TEXT_KEYWORD,
  type: 'string',
  schemaType: 'string',
  modifying: true,
  before: 'maxLength',
  validate,
};
