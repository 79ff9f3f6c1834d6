/** The fields of a customer that a caller may set. */
export type CustomerFields = {
  user_code: string;
  first_name: string;
  last_name: string;
  branch: string | null;
  email: string | null;
  is_active: boolean;
};

type Sent = {
  user_code?: string;
  first_name?: string;
  last_name?: string;
  branch?: string;
  email?: string;
  is_active?: 0 | 1;
};

/** Returns the fields of a new customer. */
export function newFields(sent: Sent & Required<Pick<Sent, 'user_code' | 'first_name' | 'last_name'>>) {
  const { user_code, first_name, last_name } = sent;
  const blank = { user_code, first_name, last_name, branch: null, email: null, is_active: true };
  return mergeFields(blank, sent);
}

/** Returns the stored fields, overwritten by the given ones. Only the listed fields can be set. */
export function mergeFields(stored: CustomerFields, sent: Sent): CustomerFields {
  return {
    user_code: sent.user_code ?? stored.user_code,
    first_name: sent.first_name ?? stored.first_name,
    last_name: sent.last_name ?? stored.last_name,
    branch: textOr(stored.branch, sent.branch),
    email: textOr(stored.email, sent.email),
    is_active: sent.is_active === undefined ? stored.is_active : sent.is_active === 1,
  };
}

/** Returns the differing fields with the values of both customers, or undefined if they are equal. */
export function differenceOf(before: CustomerFields, after: CustomerFields) {
  const changed = FIELD_NAMES.filter((name) => before[name] !== after[name]);
  const pick = (fields: CustomerFields) => Object.fromEntries(changed.map((name) => [name, fields[name]]));
  return changed.length > 0 ? { before: pick(before), after: pick(after) } : undefined;
}

const FIELD_NAMES = ['user_code', 'first_name', 'last_name', 'branch', 'email', 'is_active'] as const;

/** A blank text clears a field, because the contract does not allow null. */
function textOr(stored: string | null, sent: string | undefined): string | null {
  if (sent === undefined) return stored;
  return sent.trim() === '' ? null : sent;
}

const MAX_CHARS = 100;

/** Why a text of a bulk request is rejected. */
export type TextProblem =
  [problem: 'blank' | 'control_characters'] | [problem: 'maxLength', args: { limit: number }];

/** Returns why a trimmed code, name or branch of an upload or a synchronisation is rejected, or undefined. */
export function validateText(
  value: string,
  isRequired: boolean,
  maxChars = MAX_CHARS,
): TextProblem | undefined {
  if (value === '') return isRequired ? ['blank'] : undefined;
  // Counting UTF-16 units first avoids the slower count of code points.
  if (value.length > maxChars && [...value].length > maxChars) return ['maxLength', { limit: maxChars }];
  return /\p{Cc}/u.test(value) ? ['control_characters'] : undefined;
}
