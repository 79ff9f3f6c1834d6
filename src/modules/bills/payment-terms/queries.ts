import { ownRows, tenantRows } from '../../../platform/db/filters.js';
import { sql, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';
import { newId } from '../../../platform/values/ids.js';
import { DEFAULT_TERMS_DAYS } from '../shared/bill-row.js';

/** Null: nobody has set them. */
export type TermsRow = { ownDays: number | null; tenantDays: number | null; courierName: string | null };

/** The stored terms of a courier, or of no courier, and of the tenant. `courierName` is null if the courier does not exist. */
export const selectTerms = (ctx: UserScope, courierId: string | null): Sql<TermsRow> =>
  sql`select ${daysOf(ctx, sql`t.courier_id = ${courierId}::uuid`)} as "ownDays",
    ${daysOf(ctx, sql`t.courier_id is null`)} as "tenantDays",
    (select c.name from couriers c where ${tenantRows(ctx, 'c')} and c.id = ${courierId}::uuid) as "courierName"`;

/** The days that apply to a courier: its own, else the tenant's. Reads committed terms without a lock. */
export const termsOf = (ctx: UserScope, courierId: Sql): Sql =>
  sql`coalesce(${daysOf(ctx, sql`t.courier_id = ${courierId}`)}, ${daysOf(ctx, sql`t.courier_id is null`)},
    ${DEFAULT_TERMS_DAYS}::int)`;

const daysOf = (ctx: UserScope, condition: Sql): Sql =>
  sql`(select t.days::int from payment_terms t where ${ownRows(ctx, 't')} and ${condition})`;

/** Sets the terms of a courier, or the tenant's. */
export const storeTerms = (ctx: UserScope, courierId: string | null, days: number): Sql =>
  sql`insert into payment_terms (tenant_id, id, courier_id, days)
    values (${ctx.caller.tenantId}::uuid, ${newId()}::uuid, ${courierId}::uuid, ${days}::smallint)
    on conflict (tenant_id, coalesce(courier_id, tenant_id)) do update set days = excluded.days, updated_at = now()`;

/** Removes the terms of a courier, or the tenant's. */
export const deleteTerms = (ctx: UserScope, courierId: string | null): Sql =>
  sql`delete from payment_terms t where ${ownRows(ctx, 't')} and t.courier_id is not distinct from ${courierId}::uuid`;
