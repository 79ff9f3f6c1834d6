import type { CustomerFields, StoredCustomer } from './queries.js';

/** The fields of a request body that set a customer's fields. */
type SentFields = {
  user_code?: string;
  first_name?: string;
  last_name?: string;
  branch?: string;
  email?: string;
  is_active?: 0 | 1;
};

type NewFields = SentFields & Required<Pick<SentFields, 'user_code' | 'first_name' | 'last_name'>>;

/** Returns the fields of a new customer. */
export function newFields(sent: NewFields): CustomerFields {
  const names = { userCode: sent.user_code, firstName: sent.first_name, lastName: sent.last_name };
  return mergeFields({ ...names, branch: null, email: null, isActive: true }, sent);
}

/** Returns the stored fields, overwritten by the sent ones. Only the listed fields can be set. */
export function mergeFields(stored: CustomerFields, sent: SentFields): CustomerFields {
  return {
    userCode: sent.user_code ?? stored.userCode,
    firstName: sent.first_name ?? stored.firstName,
    lastName: sent.last_name ?? stored.lastName,
    branch: textOr(stored.branch, sent.branch),
    email: textOr(stored.email, sent.email),
    isActive: sent.is_active === undefined ? stored.isActive : sent.is_active === 1,
  };
}

/** A blank text clears a field, because the contract does not allow null. */
function textOr(stored: string | null, sent: string | undefined): string | null {
  if (sent === undefined) return stored;
  return sent.trim() === '' ? null : sent;
}

const FIELD_BY_COLUMN = {
  user_code: 'userCode',
  first_name: 'firstName',
  last_name: 'lastName',
  branch: 'branch',
  email: 'email',
  is_active: 'isActive',
} as const satisfies Record<string, keyof CustomerFields>;

const COLUMNS = Object.entries(FIELD_BY_COLUMN);

/** Returns a whole customer for the audit trail, by column. */
export const auditedCustomer = (customer: StoredCustomer): Record<string, unknown> => ({
  id: customer.id,
  courier_id: customer.courierId,
  ...byColumn(customer, COLUMNS),
});

/** Returns the differing columns for the audit trail, or undefined if the fields are equal. */
export function differenceOf(
  before: CustomerFields,
  after: CustomerFields,
): { before: Record<string, unknown>; after: Record<string, unknown> } | undefined {
  const changed = COLUMNS.filter(([, field]) => before[field] !== after[field]);
  if (changed.length === 0) return undefined;
  return { before: byColumn(before, changed), after: byColumn(after, changed) };
}

const byColumn = (fields: CustomerFields, columns: typeof COLUMNS): Record<string, unknown> =>
  Object.fromEntries(columns.map(([column, field]) => [column, fields[field]]));
