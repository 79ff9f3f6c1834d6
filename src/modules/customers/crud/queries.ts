import { ownRows } from '../../../platform/db/filters.js';
import type { Customer } from '../../../platform/db/models/types.js';
import { columns } from '../../../platform/db/columns.js';
import { empty, sql, type RowOf, type Sql } from '../../../platform/db/statements.js';
import type { LikeCode } from '../shared/leading-zeros.js';
import { likeCodes } from '../shared/leading-zeros-queries.js';
import type { UserScope } from '../../../platform/db/scope.js';

const CUSTOMER = columns('Customer', 'cu', [
  'id',
  'courierId',
  'userCode',
  'firstName',
  'lastName',
  'branch',
  'isActive',
  'createdAt',
  'updatedAt',
]);
const COURIER_NAME = columns('Courier', 'c', { courierName: 'name' });

export type CustomerRow = RowOf<typeof CUSTOMER> & RowOf<typeof COURIER_NAME>;

/** The fields of a customer that a caller may set, in the order of the audit trail. */
export const CUSTOMER_FIELDS = ['userCode', 'firstName', 'lastName', 'branch', 'email', 'isActive'] as const;
export const STORED_FIELDS = ['id', 'courierId', ...CUSTOMER_FIELDS] as const;
export type CustomerFields = Pick<Customer, (typeof CUSTOMER_FIELDS)[number]>;
export type StoredCustomer = Pick<Customer, (typeof STORED_FIELDS)[number]>;

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

/** Selects the customer whose code equals a stored one but for leading zeros. */
export const likeStoredCode = (ctx: UserScope, courierId: string, userCode: string): Sql<LikeCode> =>
  likeCodes(ctx, courierId, sql`select ${userCode}::text as user_code, 0 as position`);

/** Selects the rows with these keys, with their courier's name. */
export function withCourierName(keys: Sql, order: Sql): Sql<CustomerRow> {
  return sql`select ${CUSTOMER}, ${COURIER_NAME}
    from (${keys}) page
    join customers cu on cu.tenant_id = page.tenant_id and cu.id = page.id
    join couriers c on c.tenant_id = cu.tenant_id and c.id = cu.courier_id
    ${order}`;
}
