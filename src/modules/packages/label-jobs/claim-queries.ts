import { tenantRows } from '../../../platform/db/filters.js';
import { once, sql, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';
import { noteBridge } from './bridge-queries.js';
import { labelColumns, labelTables, type LabelRow } from '../labels/queries.js';

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
