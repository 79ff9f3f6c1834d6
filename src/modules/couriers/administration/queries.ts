import type { QueryOf } from '../../../platform/contract/types.js';
import { allOf, containsText, tenantRows } from '../../../platform/db/filters.js';
import { limitTo, orderBy } from '../../../platform/db/pages.js';
import { raw, sql, type RowOf, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';
import { CONTACT_COLUMNS, type ContactRow } from '../shared/queries.js';
import { columns } from '../../../platform/db/columns.js';

const COURIER = columns('Courier', 'c', ['isActive', 'createdAt']);

type Query = QueryOf<'listCouriers'>;

export type RecordRow = ContactRow &
  RowOf<typeof COURIER> & {
    hasApiKey: boolean;
    usesGlobalRates: boolean;
    userCount: number;
    customerCount: number;
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
export function pageOfCouriers(ctx: UserScope, query: Query): Sql<RecordRow> {
  const order = orderBy('c', SORTS[query.sort_by], query.sort_dir);
  const page = sql`select c.* from couriers c where ${filtersOf(ctx, query)}
    ${order} ${limitTo(query)}`;
  return sql`${recordsOf(ctx, page)} ${order}`;
}

export const countOfCouriers = (ctx: UserScope, query: Query): Sql<{ total: number }> =>
  sql`select count(*)::int as total from couriers c where ${filtersOf(ctx, query)}`;

export const oneCourier = (ctx: UserScope, id: string): Sql<RecordRow> =>
  recordsOf(ctx, sql`select c.* from couriers c where ${tenantRows(ctx, 'c')} and c.id = ${id}::uuid`);

const filtersOf = (ctx: UserScope, { is_active: isActive, search }: Query): Sql =>
  allOf(
    tenantRows(ctx, 'c'),
    isActive !== undefined && sql`c.is_active = ${isActive}`,
    search && containsText(search, ['c.code', 'c.name', 'c.company_name']),
  );

function recordsOf(ctx: UserScope, couriers: Sql): Sql<RecordRow> {
  const ofCourier = (alias: string): Sql =>
    sql`${tenantRows(ctx, alias)} and ${raw(alias)}.tenant_id = c.tenant_id and ${raw(alias)}.courier_id = c.id`;
  return sql`select ${CONTACT_COLUMNS}, ${COURIER},
      c.api_key_hash is not null as "hasApiKey",
      not exists (select from rate_tiers r where ${ofCourier('r')}) as "usesGlobalRates",
      (select count(*)::int from users u where ${ofCourier('u')}) as "userCount",
      (select coalesce(sum(t.total), 0)::int from customer_tallies t where ${ofCourier('t')} and t.branch = '')
        as "customerCount"
    from (${couriers}) c`;
}

type TakenRow = { isCodeTaken: boolean; isUsernameTaken: boolean };

/** Selects which of the two unique names are already in use. SQL, so that it takes one round trip. */
export const takenNames = (ctx: UserScope, code: string, username: string): Sql<TakenRow> =>
  sql`select
    exists (select from couriers c where ${tenantRows(ctx, 'c')} and c.code = ${code}) as "isCodeTaken",
    exists (select from users u where ${tenantRows(ctx, 'u')} and u.username = ${username}) as "isUsernameTaken"`;

/** Changes nothing if the courier is in this state. SQL, because the database's clock dates the change. */
export const switchActivity = (ctx: UserScope, courierId: string, isActive: boolean): Sql =>
  sql`update couriers c set is_active = ${isActive}, updated_at = now()
    where ${tenantRows(ctx, 'c')} and c.id = ${courierId}::uuid and c.is_active = ${!isActive}`;
