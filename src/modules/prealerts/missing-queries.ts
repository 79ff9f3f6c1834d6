import type { QueryOf } from '../../platform/contract/types.js';
import { ownRows, tenantRows } from '../../platform/db/filters.js';
import { limitTo } from '../../platform/db/pages.js';
import { empty, once, sql, type Sql } from '../../platform/db/statements.js';
import type { SystemScope, UserScope } from '../../platform/db/scope.js';
import { isBetween, missingPrealerts, type MissingRow, type Place } from '../carrier-tracking/public.js';
import { missingAfterHours } from '../tenant-settings/public.js';
import { withNames, type PrealertRow } from './list-queries.js';

type Query = QueryOf<'listMissingPrealerts'>;

const hoursOf = (ctx: UserScope, { after_hours: hours }: Query): Sql =>
  hours === undefined ? missingAfterHours(ctx) : sql`${hours}::int`;

/** A courier only ever sees its own pre-alerts, whatever courier_id says. */
const matching = (ctx: UserScope, query: Query): Sql<MissingRow> => {
  const { courier_id: courierId } = query;
  const isOfCourier =
    ctx.caller.courierId === null && courierId ? sql`and p.courier_id = ${courierId}::uuid` : empty;
  return sql`${missingPrealerts(ctx, hoursOf(ctx, query))} ${isOfCourier}`;
};

/** The oldest delivery comes first. */
export const pageOfMissing = (ctx: UserScope, query: Query): Sql<PrealertRow> => {
  const page = sql`select a.*, missing."deliveredAt" as delivered_at from (${matching(ctx, query)}) missing
    join prealerts a on ${ownRows(ctx, 'a')} and a.tenant_id = missing.tenant_id and a.id = missing.id
    order by delivered_at, a.id ${limitTo(query)}`;
  return withNames(page, sql`order by p.delivered_at, p.id`);
};

export const countMissing = (ctx: UserScope, query: Query): Sql<{ total: number; afterHours: number }> =>
  sql`select count(*)::int as total, ${hoursOf(ctx, query)} as "afterHours" from (${matching(ctx, query)}) missing`;

/**
 * Records that pre-alerts of deliveries between two places are missing, and returns those for which it was not recorded. A pre-alert whose parcel
 * is received at the same time is locked: the statement waits, and leaves it out.
 */
export const markMissing = (
  ctx: SystemScope,
  after: Place,
  last: Place,
): Sql<Pick<MissingRow, 'id' | 'courierId'>> => once`
    with found as (
      select p.tenant_id, p.id from prealerts p
      where ${tenantRows(ctx, 'p')} and p.missing_at is null and p.status = 'pending' and p.id in (select m.id from (
        ${missingPrealerts(asStaff(ctx), missingAfterHours(ctx), sql`and ${isBetween(after, last)}`)}) m)
      order by p.id for update
    )
    update prealerts p set missing_at = now()
    from found where p.tenant_id = found.tenant_id and p.id = found.id
    returning p.id, p.courier_id as "courierId"`;

/** A job sees the pre-alerts of all couriers of its tenant. */
const asStaff = ({ applicationFilters, tenantId }: SystemScope) => ({
  applicationFilters,
  caller: { tenantId, courierId: null },
});
