import type { UserCaller } from '../../../platform/identity/callers.js';
import type { QueryOf } from '../../../platform/contract/types.js';
import { tenantRows } from '../../../platform/db/filters.js';
import { containsPattern } from '../../../platform/db/patterns.js';
import { join, raw, sql, type Db, type Sql } from '../../../platform/db/transaction.js';
import type { Ctx } from './context.js';
import type { ProfileFields } from './fields.js';

type Query = QueryOf<'listCouriers'>;

export type RecordRow = {
  id: string;
  code: string;
  name: string;
  company_name: string | null;
  email: string | null;
  phone_number1: string | null;
  phone_number2: string | null;
  address1: string | null;
  address2: string | null;
  city_town: string | null;
  parish_province: string | null;
  house_color: string | null;
  is_active: boolean;
  has_api_key: boolean;
  uses_global_rates: boolean;
  user_count: number;
  customer_count: number;
  created_at: Date;
};

// The id ends every sort with ties, so that pages neither repeat nor skip a row.
const SORTS = {
  courier_code: ['code'],
  courier_name: ['name', 'id'],
  created_at: ['created_at', 'id'],
} satisfies Record<Query['sort_by'], string[]>;

/**
 * A tenant has dozens of couriers, at most a few thousand. The index on codes finds them by tenant; they are
 * sorted and searched in memory. Expensive counts are made only for the page.
 */
export function pageOfCouriers(db: Db, caller: UserCaller, query: Query): Sql {
  const order = sql`order by ${join(SORTS[query.sort_by].map((column) => raw(`c.${column} ${query.sort_dir}`)))}`;
  const page = sql`select c.* from couriers c where ${filtersOf(db, caller, query)}
    ${order} limit ${query.limit}::int offset ${(query.page - 1) * query.limit}::bigint`;
  return sql`${recordsOf(db, caller, page)} ${order}`;
}

export const countOfCouriers = (db: Db, caller: UserCaller, query: Query): Sql =>
  sql`select count(*)::int as total from couriers c where ${filtersOf(db, caller, query)}`;

export const oneCourier = (db: Db, caller: UserCaller, id: string): Sql =>
  recordsOf(
    db,
    caller,
    sql`select c.* from couriers c where ${tenantRows(db, caller, 'c')} and c.id = ${id}::uuid`,
  );

function filtersOf(db: Db, caller: UserCaller, query: Query): Sql {
  const conditions = [tenantRows(db, caller, 'c')];
  if (query.is_active !== undefined) conditions.push(sql`c.is_active = ${query.is_active}`);
  if (query.search) {
    const pattern = containsPattern(query.search);
    conditions.push(
      sql`(c.code ilike ${pattern} or c.name ilike ${pattern} or c.company_name ilike ${pattern})`,
    );
  }
  return join(conditions, ' and ');
}

function recordsOf(db: Db, caller: UserCaller, couriers: Sql): Sql {
  const ofCourier = (alias: string): Sql =>
    sql`${tenantRows(db, caller, alias)} and ${raw(alias)}.tenant_id = c.tenant_id and ${raw(alias)}.courier_id = c.id`;
  return sql`select c.id, c.code, c.name, c.company_name, c.email, c.phone_number1, c.phone_number2, c.address1,
      c.address2, c.city_town, c.parish_province, c.house_color, c.is_active, c.created_at,
      c.api_key_hash is not null as has_api_key,
      not exists (select from rate_tiers r where ${ofCourier('r')}) as uses_global_rates,
      (select count(*)::int from users u where ${ofCourier('u')}) as user_count,
      (select coalesce(sum(t.total), 0)::int from customer_tallies t where ${ofCourier('t')} and t.branch = '')
        as customer_count
    from (${couriers}) c`;
}

/** Selects which of the two unique names are already in use. */
export function takenNames(db: Db, caller: UserCaller, code: string, username: string): Sql {
  return sql`select
    exists (select from couriers c where ${tenantRows(db, caller, 'c')} and c.code = ${code}) as is_code_taken,
    exists (select from users u where ${tenantRows(db, caller, 'u')} and u.username = ${username}) as is_username_taken`;
}

/** A courier's initial profile, without the settings of its own system. */
export type NewProfile = Omit<ProfileFields, `api_${string}`> & { courier_code: string; house_color: string };

export async function insertCourier(
  { tx, caller, courierId }: Ctx,
  profile: NewProfile,
  key: { hash: string; cipher: string },
): Promise<void> {
  await tx.execute(sql`
    insert into couriers (tenant_id, id, code, name, house_color, company_name, email, phone_number1, phone_number2,
      address1, address2, city_town, parish_province, api_key_hash, api_key_cipher)
    values (${caller.tenantId}::uuid, ${courierId}::uuid, ${profile.courier_code}, ${profile.courier_name},
      ${profile.house_color}, ${profile.company_name}, ${profile.email}, ${profile.phone_number1},
      ${profile.phone_number2}, ${profile.address1}, ${profile.address2}, ${profile.city_town},
      ${profile.parish_province}, ${key.hash}, ${key.cipher})`);
}

/** Returns 1, or 0 if the courier already has this state or does not exist. */
export const updateActivity = ({ db, tx, caller, courierId }: Ctx, isActive: boolean): Promise<number> =>
  tx.execute(sql`
    update couriers c set is_active = ${isActive}, updated_at = now()
    where ${tenantRows(db, caller, 'c')} and c.id = ${courierId}::uuid and c.is_active <> ${isActive}`);
