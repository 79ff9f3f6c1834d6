import { raw, sql, type Sql } from './statements.js';

/**
 * The present user code of a pre-alert's customer. After a rename the worker writes it to the pre-alerts, and until then the rename's row
 * names it (decision 0103). Select it, and compare with it, wherever a pre-alert's customer is shown or decides. No other customer can
 * get the previous code meanwhile.
 *
 * @param alias that of `prealerts` in the statement, or of a selection with its tenant_id, courier_id and user_code
 */
export const presentCode = (alias: string): Sql =>
  raw(`coalesce((select renamed.new_user_code from prealert_renames renamed where renamed.tenant_id = ${alias}.tenant_id
    and renamed.courier_id = ${alias}.courier_id and renamed.user_code = ${alias}.user_code), ${alias}.user_code)`);

/** The present user code as a column `userCode`. */
export const presentCodeColumn = (alias: string): Sql<{ userCode: string }> =>
  sql`${presentCode(alias)} as "userCode"`;

/**
 * Whether the user code of a package is one that the customer with another code had when the package was received. Packages keep the code
 * (contract: updateCustomer), so only the audit trail tells the rename. A code that a customer has now is that customer's. Only for
 * staff: couriers cannot read the audit trail.
 *
 * @param alias that of `packages` in the statement
 * @param code the present code of a customer of the package's courier
 */
export const isFormerCode = (alias: string, code: Sql): Sql => {
  const column = (name: string) => raw(`${alias}.${name}`);
  const ofCourier = (customer: string) =>
    sql`${raw(customer)}.tenant_id = ${column('tenant_id')} and ${raw(customer)}.courier_id = ${column('courier_id')}`;
  const had = (entry: string, side: string) =>
    sql`${raw(entry)}.tenant_id = former.tenant_id and ${raw(entry)}.entity_id = former.id
      and ${raw(entry)}.action = 'customer.updated' and ${raw(entry)}.${raw(side)} ->> 'user_code' = ${column('user_code')}`;
  return sql`(not exists (select from customers present where ${ofCourier('present')} and present.user_code = ${column('user_code')})
    and exists (select from customers former
      join audit_entries lost on ${had('lost', 'before')} and lost.at >= ${column('received_at')}
      where ${ofCourier('former')} and former.user_code = ${code} and former.created_at <= ${column('received_at')}
        and not exists (select from audit_entries got where ${had('got', 'after')}
          and got.at > ${column('received_at')} and got.at <= lost.at)))`;
};
