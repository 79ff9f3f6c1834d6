import { ApiError, fieldError, type FieldError, type FieldProblem } from '../errors/errors.js';

// Validation of the names and addresses of couriers, warehouses and carriers.

// The e-mail format of the HTML standard, with at least one dot in the domain.
const EMAIL =
  /^[\w.!#$%&'*+/=?^`{|}~-]+@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

/** Returns the problem of an e-mail address, or undefined. */
export const validateEmail = (text: string): FieldProblem | undefined =>
  EMAIL.test(text) ? undefined : ['email'];

/** @throws ApiError validation_failed that lists every field with a problem */
export function assertUsable(problems: Record<string, FieldProblem | undefined>): void {
  const errors = Object.entries(problems).flatMap(([field, problem]): FieldError[] =>
    problem ? [fieldError(field, ...problem)] : [],
  );
  if (errors.length > 0) throw new ApiError('validation_failed', { errors });
}

/** Returns null for a missing or blank text. */
export const textOrNull = (text: string | undefined): string | null => (text?.trim() ? text : null);

/** Returns the stored text unless another was sent. A blank text clears it, because the contract does not allow null. */
export const textOr = (stored: string | null, sent: string | undefined): string | null =>
  sent === undefined ? stored : textOrNull(sent);
