import { ownRows } from '../../../platform/db/filters.js';
import type { Customer } from '../../../platform/db/models/types.js';
import { empty, raw, sql, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';

export type CustomerRow = Omit<Customer, 'tenantId' | 'email'> & { courierName: string };

/** The fields of a customer that a caller may set. */
export type CustomerFields = Pick<
  Customer,
  'userCode' | 'firstName' | 'lastName' | 'branch' | 'email' | 'isActive'
>;

export type StoredCustomer = CustomerFields & Pick<Customer, 'id' | 'courierId'>;

const COLUMNS = raw(
  `cu.id, cu.courier_id as "courierId", cu.user_code as "userCode", cu.first_name as "firstName",
    cu.last_name as "lastName", cu.branch, cu.email, cu.is_active as "isActive"`,
);

/** Locks the customer until the transaction ends. */
export const lockedCustomer = (ctx: UserScope, id: string): Sql<StoredCustomer> =>
  sql`select ${COLUMNS} from customers cu where ${ownRows(ctx, 'cu')} and cu.id = ${id}::uuid for update`;

/** SQL, because the database's clock sets `updated_at`. A model would write the clock of this process. */
export function updateFields(ctx: UserScope, id: string, fields: CustomerFields): Sql {
  return sql`update customers cu set user_code = ${fields.userCode}, first_name = ${fields.firstName},
      last_name = ${fields.lastName}, branch = ${fields.branch}, email = ${fields.email},
      is_active = ${fields.isActive}, updated_at = now()
    where ${ownRows(ctx, 'cu')} and cu.id = ${id}::uuid`;
}

export function oneCustomer(ctx: UserScope, id: string): Sql<CustomerRow> {
  const key = sql`select cu.tenant_id, cu.id from customers cu where ${ownRows(ctx, 'cu')} and cu.id = ${id}::uuid`;
  return withCourierName(key, empty);
}

/** Selects the rows with these keys, with their courier's name. */
export function withCourierName(keys: Sql, order: Sql): Sql<CustomerRow> {
  return sql`select cu.id, cu.courier_id as "courierId", c.name as "courierName", cu.user_code as "userCode",
      cu.first_name as "firstName", cu.last_name as "lastName", cu.branch, cu.is_active as "isActive",
      cu.created_at as "createdAt", cu.updated_at as "updatedAt"
    from (${keys}) page
    join customers cu on cu.tenant_id = page.tenant_id and cu.id = page.id
    join couriers c on c.tenant_id = cu.tenant_id and c.id = cu.courier_id
    ${order}`;
}
