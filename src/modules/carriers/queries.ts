import type { UserCaller } from '../../platform/identity/callers.js';
import type { QueryOf } from '../../platform/contract/types.js';
import { tenantRows } from '../../platform/db/filters.js';
import { sql, type Db, type Sql } from '../../platform/db/transaction.js';

export type CarrierRow = { id: string; name: string };

/** A tenant has dozens, which its unique index finds: sorting them costs nothing. */
export function pageOfCarriers(db: Db, caller: UserCaller, query: QueryOf<'listCarriers'>): Sql {
  return sql`select ca.id, ca.name from carriers ca where ${tenantRows(db, caller, 'ca')}
    order by ca.name, ca.id limit ${query.limit}::int offset ${(query.page - 1) * query.limit}::bigint`;
}

export const countOfCarriers = (db: Db, caller: UserCaller): Sql =>
  sql`select count(*)::int as total from carriers ca where ${tenantRows(db, caller, 'ca')}`;

export const insertCarrier = (caller: UserCaller, { id, name }: CarrierRow): Sql =>
  sql`insert into carriers (tenant_id, id, name) values (${caller.tenantId}::uuid, ${id}::uuid, ${name})`;

/** Holds the carrier to the end of the transaction: who is about to name it on a package waits. */
export const carrierForUpdate = (db: Db, caller: UserCaller, id: string): Sql =>
  sql`select ca.id, ca.name from carriers ca where ${tenantRows(db, caller, 'ca')} and ca.id = ${id}::uuid for update`;

export const updateName = (db: Db, caller: UserCaller, { id, name }: CarrierRow): Sql =>
  sql`update carriers ca set name = ${name} where ${tenantRows(db, caller, 'ca')} and ca.id = ${id}::uuid`;

export const isCarrierUsed = (db: Db, caller: UserCaller, id: string): Sql =>
  sql`select exists (
      select from packages p where ${tenantRows(db, caller, 'p')} and p.carrier_id = ${id}::uuid
    ) as is_used`;

export const removeCarrier = (db: Db, caller: UserCaller, id: string): Sql =>
  sql`delete from carriers ca where ${tenantRows(db, caller, 'ca')} and ca.id = ${id}::uuid`;
