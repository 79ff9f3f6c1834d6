import { ApiError, fieldError, type FieldError, type FieldProblem } from '../errors/errors.js';

// What is asked of the names and addresses of couriers, warehouses and carriers.

/** What is wrong with a text that ends up in a header of mail or of HTTP. */
export const validateLine = (text: string): FieldProblem | undefined =>
  /[\p{Cc}\u2028\u2029]/u.test(text) ? ['one_line'] : undefined;

// The HTML standard's form of an e-mail address, in a domain with a dot.
const EMAIL =
  /^[\w.!#$%&'*+/=?^`{|}~-]+@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

/** What is wrong with a text that is to be an e-mail address. */
export const validateEmail = (text: string): FieldProblem | undefined =>
  EMAIL.test(text) ? undefined : ['email'];

/** @throws ApiError validation_failed naming every field that has a fault */
export function assertUsable(problems: Record<string, FieldProblem | undefined>): void {
  const errors = Object.entries(problems).flatMap(([field, problem]): FieldError[] =>
    problem ? [fieldError(field, ...problem)] : [],
  );
  if (errors.length > 0) throw new ApiError('validation_failed', { errors });
}

/** An optional text as it is stored: a blank one is none. */
export const textOrNull = (text: string | undefined): string | null => (text?.trim() ? text : null);
