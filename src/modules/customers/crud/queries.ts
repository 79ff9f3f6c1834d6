import type { UserCaller } from '../../../platform/identity/callers.js';
import { ownRows } from '../../../platform/db/filters.js';
import { empty, raw, sql, type Db, type Sql } from '../../../platform/db/transaction.js';
import type { CustomerFields } from './fields.js';

export type CustomerRow = {
  id: string;
  courier_id: string;
  courier_name: string;
  user_code: string;
  first_name: string;
  last_name: string;
  branch: string | null;
  is_active: boolean;
  created_at: Date;
  updated_at: Date;
};

export type StoredCustomer = CustomerFields & { id: string; courier_id: string };

const COLUMNS = raw('id, courier_id, user_code, first_name, last_name, branch, email, is_active');

export function insertCustomer(tenantId: string, customer: StoredCustomer): Sql {
  return sql`insert into customers (tenant_id, id, courier_id, user_code, first_name, last_name, branch, email, is_active)
    values (${tenantId}::uuid, ${customer.id}::uuid, ${customer.courier_id}::uuid, ${customer.user_code},
      ${customer.first_name}, ${customer.last_name}, ${customer.branch}, ${customer.email}, ${customer.is_active})
    returning ${COLUMNS}`;
}

export function customerForUpdate(db: Db, caller: UserCaller, id: string): Sql {
  return sql`select ${COLUMNS} from customers cu where ${ownRows(db, caller, 'cu')} and cu.id = ${id}::uuid for update`;
}

export function updateCustomer(db: Db, caller: UserCaller, id: string, fields: CustomerFields): Sql {
  return sql`update customers cu set user_code = ${fields.user_code}, first_name = ${fields.first_name},
      last_name = ${fields.last_name}, branch = ${fields.branch}, email = ${fields.email},
      is_active = ${fields.is_active}, updated_at = now()
    where ${ownRows(db, caller, 'cu')} and cu.id = ${id}::uuid`;
}

export function removeCustomer(db: Db, caller: UserCaller, id: string): Sql {
  return sql`delete from customers cu where ${ownRows(db, caller, 'cu')} and cu.id = ${id}::uuid returning ${COLUMNS}`;
}

export function oneCustomer(db: Db, caller: UserCaller, id: string): Sql {
  const key = sql`select cu.tenant_id, cu.id from customers cu where ${ownRows(db, caller, 'cu')} and cu.id = ${id}::uuid`;
  return withCourierName(key, empty);
}

/** Selects the rows with these keys, with their courier's name. */
export function withCourierName(keys: Sql, order: Sql): Sql {
  return sql`select cu.id, cu.courier_id, c.name as courier_name, cu.user_code, cu.first_name, cu.last_name, cu.branch,
      cu.is_active, cu.created_at, cu.updated_at
    from (${keys}) page
    join customers cu on cu.tenant_id = page.tenant_id and cu.id = page.id
    join couriers c on c.tenant_id = cu.tenant_id and c.id = cu.courier_id
    ${order}`;
}
