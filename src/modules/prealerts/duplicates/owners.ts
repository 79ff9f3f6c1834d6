import { ownRows, tenantRows } from '../../../platform/db/filters.js';
import { sql, type Sql } from '../../../platform/db/statements.js';
import type { KeyCaller } from '../../../platform/identity/callers.js';
import type { Scope, UserScope } from '../../../platform/db/scope.js';

/** Selects the tenant and the id of the courier that pre-alerts belong to. */
export type OwnerSelection = Sql;

export const ownerOfKey = (ctx: Scope<KeyCaller>): OwnerSelection =>
  sql`select c.tenant_id, c.id as courier_id from couriers c
    where ${tenantRows(ctx, 'c')} and c.api_key_hash = ${ctx.caller.keyHash} and c.is_active`;

export const ownerById = (ctx: UserScope, courierId: string): OwnerSelection =>
  sql`select c.tenant_id, c.id as courier_id from couriers c
    where ${tenantRows(ctx, 'c')} and c.id = ${courierId}::uuid`;

/** The courier of a pre-alert that the caller may read. */
export const ownerOfPrealert = (ctx: UserScope, id: string): OwnerSelection =>
  sql`select o.tenant_id, o.courier_id from prealerts o where ${ownRows(ctx, 'o')} and o.id = ${id}::uuid`;
