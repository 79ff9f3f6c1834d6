import { pickColumns } from '../../../platform/audit/difference.js';
import { textOr } from '../../../platform/values/contact.js';
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

/** The fields of CustomerFields, in the order of the audit trail. */
export const CUSTOMER_FIELDS = [
  'userCode',
  'firstName',
  'lastName',
  'branch',
  'email',
  'isActive',
] as const satisfies (keyof CustomerFields)[];

/** Returns a whole customer for the audit trail. */
export const auditedCustomer = (customer: StoredCustomer) =>
  pickColumns(customer, ['id', 'courierId', ...CUSTOMER_FIELDS]);
