import { tenantRows } from '../../../platform/db/filters.js';
import { once, sql, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';
import { labelColumns, labelTables, type LabelRow } from '../labels/queries.js';

/** A bridge asks each second. It is noted at most once in this time, so that an idle station writes little. */
const NOTE_SECONDS = 30;

/** A station has a bridge if one was noted within this time. */
const ACTIVE_SECONDS = 120;

/** Whether the bridge `b` is running. */
export const isBridgeActive = sql`b.seen_at > now() - make_interval(secs => ${ACTIVE_SECONDS}::int)`;

/** Notes that a bridge of the station is running. Part of a statement, as `with bridge as (...)`. */
export const noteBridge = (ctx: UserScope, station: string): Sql =>
  sql`insert into label_bridges (tenant_id, station, seen_at)
    select ${ctx.tenantId}::uuid, named.station, now() from (select ${station}::text as station) named
    where not exists (select from label_bridges b where ${tenantRows(ctx, 'b')} and b.station = named.station
      and b.seen_at > now() - make_interval(secs => ${NOTE_SECONDS}::int))
    on conflict (tenant_id, station) do update set seen_at = excluded.seen_at`;

/** Whether a bridge serves the station. Null if no station is given. */
export const bridgeOf = (ctx: UserScope, station: string | null): Sql<{ hasBridge: boolean | null }> =>
  sql`select case when ${station}::text is not null then exists (select from label_bridges b
      where ${tenantRows(ctx, 'b')} and b.station = ${station}::text
        and ${isBridgeActive}) end as "hasBridge"`;

/** The time in which a bridge must begin to send a claimed job, and report again while it sends. */
export const LEASE_SECONDS = 60;

const leaseEnd = sql`now() + make_interval(secs => ${LEASE_SECONDS}::int)`;

export type ClaimedRow = LabelRow & { id: string; copies: number };

type Claim = { claimId: string; station: string; maxJobs: number };

/**
 * Claims the oldest jobs of a station that no bridge has, and selects their labels. Jobs that another transaction claims at the
 * same time are skipped. Notes that the station has a bridge, also if there is no job.
 */
export const claimJobs = (ctx: UserScope, { claimId, station, maxJobs }: Claim): Sql<ClaimedRow> =>
  once`with bridge as (${noteBridge(ctx, station)}), due as (
      select j.tenant_id, j.id from label_jobs j
      where ${tenantRows(ctx, 'j')} and j.station = ${station} and j.status in ('waiting', 'claimed')
        and j.expires_at > now() and (j.status = 'waiting' or j.lease_until <= now())
      order by j.expires_at, j.id limit ${maxJobs}::int for no key update skip locked
    ), claimed as (
      update label_jobs j set status = 'claimed', claim_id = ${claimId}::uuid, lease_until = ${leaseEnd}
      from due where j.tenant_id = due.tenant_id and j.id = due.id
      returning j.id, j.tenant_id, j.package_id, j.copies
    )
    select claimed.id, claimed.copies, ${labelColumns}
    from claimed join ${labelTables} on p.tenant_id = claimed.tenant_id and p.id = claimed.package_id
    where ${tenantRows(ctx, 'p')} order by claimed.id`;

/** Notes that a bridge sends the job, and renews its lease. */
export const noteSending = (ctx: UserScope, { id, station }: { id: string; station: string }): Sql =>
  once`with bridge as (${noteBridge(ctx, station)})
    update label_jobs j set status = 'sending', lease_until = ${leaseEnd}
    where ${tenantRows(ctx, 'j')} and j.id = ${id}::uuid`;
