import type { UserCaller } from '../../platform/identity/callers.js';
import type { QueryOf } from '../../platform/contract/types.js';
import { tenantRows } from '../../platform/db/filters.js';
import { raw, sql, type Db, type Sql } from '../../platform/db/transaction.js';

/** What staff may set of a warehouse. */
export type WarehouseFields = {
  name: string;
  address: string | null;
  city: string | null;
  country: string | null;
  phone: string | null;
  email: string | null;
};

export type WarehouseRow = WarehouseFields & { id: string; is_primary: boolean; created_at: Date };

const COLUMNS = raw(
  'w.id, w.name, w.address, w.city, w.country, w.phone, w.email, w.is_primary, w.created_at',
);

/** A tenant has a handful: they are sorted as they are read. */
export function pageOfWarehouses(db: Db, caller: UserCaller, query: QueryOf<'listWarehouses'>): Sql {
  return sql`select ${COLUMNS} from warehouses w where ${tenantRows(db, caller, 'w')}
    order by w.is_primary desc, w.name, w.id
    limit ${query.limit}::int offset ${(query.page - 1) * query.limit}::bigint`;
}

export const countOfWarehouses = (db: Db, caller: UserCaller): Sql =>
  sql`select count(*)::int as total from warehouses w where ${tenantRows(db, caller, 'w')}`;

/** The first is primary; others who make one wait for lockWarehouses. */
export function insertWarehouse(db: Db, caller: UserCaller, id: string, fields: WarehouseFields): Sql {
  return sql`insert into warehouses as w (tenant_id, id, name, address, city, country, phone, email, is_primary)
    select ${caller.tenantId}::uuid, ${id}::uuid, ${fields.name}, ${fields.address}, ${fields.city}, ${fields.country},
      ${fields.phone}, ${fields.email},
      not exists (select from warehouses w where ${tenantRows(db, caller, 'w')} and w.is_primary)
    returning ${COLUMNS}`;
}

/** Holds the warehouse to the end of the transaction: who is about to name it waits. */
export const warehouseForUpdate = (db: Db, caller: UserCaller, id: string): Sql =>
  sql`select ${COLUMNS} from warehouses w where ${tenantRows(db, caller, 'w')} and w.id = ${id}::uuid for update`;

export function updateFields(db: Db, caller: UserCaller, id: string, fields: WarehouseFields): Sql {
  return sql`update warehouses w set name = ${fields.name}, address = ${fields.address}, city = ${fields.city},
      country = ${fields.country}, phone = ${fields.phone}, email = ${fields.email}
    where ${tenantRows(db, caller, 'w')} and w.id = ${id}::uuid`;
}

/** Moves the mark. The one before is counted, so that it has lost it before this one gets it: an index allows one. */
export function moveMark(db: Db, caller: UserCaller, id: string): Sql {
  return sql`
    with before as (
      update warehouses w set is_primary = false
      where ${tenantRows(db, caller, 'w')} and w.is_primary and w.id <> ${id}::uuid
      returning w.id
    )
    update warehouses w set is_primary = true
    where ${tenantRows(db, caller, 'w')} and w.id = ${id}::uuid and (select count(*) from before) <= 1
    returning (select before.id from before) as previous_id`;
}

/** Asked before a deletion alone, which is too rare for an index of packages by warehouse that every intake would pay for. */
export const isWarehouseUsed = (db: Db, caller: UserCaller, id: string): Sql =>
  sql`select exists (
      select from packages p where ${tenantRows(db, caller, 'p')} and p.warehouse_id = ${id}::uuid
    ) or exists (
      select from manifests m where ${tenantRows(db, caller, 'm')} and m.warehouse_id = ${id}::uuid
    ) as is_used`;

export const removeWarehouse = (db: Db, caller: UserCaller, id: string): Sql =>
  sql`delete from warehouses w where ${tenantRows(db, caller, 'w')} and w.id = ${id}::uuid`;
