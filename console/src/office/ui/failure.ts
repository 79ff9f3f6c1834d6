import { ApiError } from '../../../../sdk/typescript/src/index.js';
import { messageOf } from '../../session/session.js';
import { t, textOf } from '../../texts/texts.js';

/** Returns the text of a failure for people. */
export const failureOf = messageOf;

/** What a form finds wrong with a field itself, before it asks the service. */
export class FieldError extends Error {
  constructor(
    readonly field: string,
    text: string,
  ) {
    super(text);
  }
}

/** Returns what is wrong with single fields, by their names in the contract. */
export function fieldFailuresOf(error: unknown): Record<string, string> {
  if (error instanceof FieldError) return { [error.field]: error.message };
  if (!(error instanceof ApiError)) return {};
  return Object.fromEntries(
    error.errors.filter(({ field }) => field).map(({ field, code }) => [field, problemText(field, code)]),
  );
}

/** Says what is wrong with a field. An address on the web can be wrong in many ways, which have one code. */
const problemText = (field: string, code: string): string =>
  code === 'unusable' && field.startsWith('api_url_')
    ? t('problem.url')
    : textOf('problem', code, t('problem.other'));

/** Codes of failures that are about one field, which the envelope then does not list. */
export const isOf = (error: unknown, code: string): boolean =>
  error instanceof ApiError && error.code === code;
