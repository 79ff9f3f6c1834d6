import type { components } from '../../../generated/contract.js';
import type { RateLimit } from '../limits/headers/rate-limits.js';
import {
  errorCatalogue,
  fieldCatalogue,
  type ErrorSpec,
  type FieldProblem,
  type PlainCode,
} from '../../../generated/errors.js';

export type { FieldProblem, PlainCode };
export type FailureCode = components['schemas']['FailureCode'];

declare const isWorded: unique symbol;

/** One entry of `errors`. Only this file creates entries, so that every message comes from openapi/errors.yaml. */
export type FieldError = components['schemas']['FieldError'] & { readonly [isWorded]: true };

export type ApiErrorDetail = {
  errors?: FieldError[];
  retryAfterSeconds?: number;
  /** The log has a line about it already. */
  isLogged?: boolean;
  /** The limit that is used up. */
  limit?: RateLimit;
  /** The record that refuses a pre-alert as a duplicate. */
  existing?: components['schemas']['ExistingPrealert'];
};

type Args = Record<string, string | number>;
type Options = ApiErrorDetail & { variant?: string; args?: Args };

/** A failure with a code of openapi/errors.yaml. Only http/replies/error-handler.ts converts it to a response. */
export class ApiError extends Error {
  readonly code: FailureCode;
  readonly httpStatus: number;
  readonly detail: ApiErrorDetail;

  constructor(...[code, options]: ErrorSpec<FieldError, Omit<ApiErrorDetail, 'errors'>>) {
    const { variant = 'default', args = {}, ...detail }: Options = options ?? {};
    const { status, messages } = errorCatalogue[code];
    super(wordMessage(messages, variant, { ...args, problems: wordProblems(detail.errors) }));
    this.code = code;
    this.httpStatus = status;
    this.detail = detail;
  }
}

function wordMessage(messages: Record<string, string>, variant: string, args: Args): string {
  const template = messages[variant];
  if (template === undefined) throw new Error(`openapi/errors.yaml has no variant ${variant}.`);
  return fill(template, args);
}

const fill = (template: string, args: Args): string =>
  template.replace(/\{(\w+)\}/g, (placeholder, name: string) => String(args[name] ?? placeholder));

const MAX_WORDED = 3;

/** The messages of the first fields, and how many more there are. */
function wordProblems(errors: FieldError[] = []): string {
  const words = errors.slice(0, MAX_WORDED).map(({ message }) => message);
  const more = errors.length - words.length;
  return [...words, ...(more > 0 ? [`See errors for ${more} more.`] : [])].join(' ');
}

/** An entry of `errors` for one field. */
export const fieldError = (field: string, ...problem: FieldProblem): FieldError =>
  // The brand exists only for the compiler.
  ({ field, ...describeProblem(field, ...problem) }) as FieldError;

/** The same entry with the record that refuses the value as a duplicate. */
export const withExisting = (error: FieldError, existing: ApiErrorDetail['existing']): FieldError =>
  existing ? { ...error, existing } : error;

/** An entry of `errors` for one field in a row of a file. */
export function rowError(row: number, field: string, ...problem: FieldProblem): FieldError {
  const { code, message } = describeProblem(field, ...problem);
  // The brand exists only for the compiler.
  return { field, row, code, message: `Row ${row}: ${message}` } as FieldError;
}

/** The same entries for a row of a file or a body. */
export const atRow = (row: number, errors: FieldError[]): FieldError[] =>
  errors.map((entry) => ({ ...entry, row, message: `Row ${row}: ${entry.message}` }));

/** The code and the message of a problem with one field. */
export function describeProblem<Problem extends FieldProblem>(
  field: string,
  ...problem: Problem
): { code: (typeof fieldCatalogue)[Problem[0]]['code']; message: string } {
  const [name, args]: [name: Problem[0], args?: Args] = problem;
  const found: (typeof fieldCatalogue)[Problem[0]] = fieldCatalogue[name];
  return { code: found.code, message: fill(found.message, { ...args, field }) };
}

/** A 400 that names one field. */
export const invalidFieldError = (field: string, ...problem: FieldProblem): ApiError =>
  new ApiError('validation_failed', { errors: [fieldError(field, ...problem)] });
