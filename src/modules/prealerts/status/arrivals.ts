import { ownRows } from '../../../platform/db/filters.js';
import type { Package, Prealert } from '../../../platform/db/models/types.js';
import type { UserScope } from '../../../platform/db/scope.js';
import { sql, type Sql } from '../../../platform/db/statements.js';

/** How many pre-alerts a courier has submitted in the last 30 days, and how many of them have a package. */
export type Arrivals = { submitted: number; arrived: number };

export type ArrivalsRow = Arrivals & { courierId: string };

/** The most pre-alerts of a courier that are counted, the newest ones. It bounds the time of the statement. */
const MAX_COUNTED = 10_000;

/**
 * Counts the newest pre-alerts of the last 30 days, per courier. A courier that announces guessed numbers has many that never arrive.
 *
 * Finds the oldest one that counts first, so that each part reads a range of an index. Selecting the status of the newest ones would
 * read and sort all pre-alerts of the courier, if PostgreSQL expects them to be few. Nor is the oldest one a `coalesce`: under row-level
 * security, such an expression is not compared in an index.
 */
export function arrivalsOf(ctx: UserScope, courierIds: string[]): Sql<ArrivalsRow> {
  const ofCourier = sql`${ownRows(ctx, 'a')} and a.courier_id = announcing.id`;
  const counted = sql`${ofCourier} and (a.created_at, a.id) >= (oldest.created_at, oldest.id)`;
  return sql`select announcing.id as "courierId",
      (select count(*)::int from prealerts a where ${counted}) as submitted,
      (select count(*)::int from prealerts a where ${counted} and a.status = 'received') as arrived
    from unnest(${courierIds}::uuid[]) as announcing (id)
    cross join lateral (
      (select a.created_at, a.id from prealerts a where ${ofCourier} and a.created_at > now() - interval '30 days'
        order by a.created_at desc, a.id desc offset ${MAX_COUNTED - 1}::int limit 1)
      union all select now() - interval '30 days', '00000000-0000-0000-0000-000000000000'::uuid
      order by created_at desc limit 1
    ) as oldest`;
}

/** Whether a pre-alert or a claim was made after the package was received. */
export const isAfterReceipt = (createdAt: Date, { receivedAt }: Pick<Package, 'receivedAt'>): boolean =>
  createdAt > receivedAt;

/** What staff could know of a pre-alert when they gave its courier a package. For the audit trail. */
export const evidenceOf = (
  { createdAt }: Pick<Prealert, 'createdAt'>,
  given: Pick<Package, 'receivedAt'>,
  { submitted, arrived }: Arrivals,
) => ({ after_receipt: isAfterReceipt(createdAt, given), announcements: { submitted, arrived } });
