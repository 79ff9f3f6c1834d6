import type { BodyOf } from '../../../platform/contract/types.js';
import { textOr } from '../../../platform/values/contact.js';
import type { CustomerFields } from './queries.js';

type SentFields = Omit<BodyOf<'updateCustomer'>, 'courier_customer_id'>;

/** Returns the fields of a new customer. */
export function newFields(sent: BodyOf<'createCustomer'>): CustomerFields {
  const names = { userCode: sent.user_code, firstName: sent.first_name, lastName: sent.last_name };
  return mergeFields({ ...names, branch: null, email: null, isActive: true }, sent);
}

/** Returns the stored fields, overwritten by the sent ones. Only the listed fields can be set. */
export const mergeFields = (stored: CustomerFields, sent: SentFields): CustomerFields => ({
  userCode: sent.user_code ?? stored.userCode,
  firstName: sent.first_name ?? stored.firstName,
  lastName: sent.last_name ?? stored.lastName,
  branch: textOr(stored.branch, sent.branch),
  email: textOr(stored.email, sent.email),
  isActive: sent.is_active === undefined ? stored.isActive : sent.is_active === 1,
});
