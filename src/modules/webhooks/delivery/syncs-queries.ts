import { tenantRows } from '../../../platform/db/filters.js';
import { once, type RowOf, type Sql } from '../../../platform/db/statements.js';
import type { SystemScope } from '../../../platform/db/scope.js';
import { columns } from '../../../platform/db/columns.js';

const PACKAGE_SYNC = columns('PackageSync', 's', ['packageId', 'jobId', 'traceparent']);

export type SyncRow = RowOf<typeof PACKAGE_SYNC>;

/** Marks the oldest queued synchronisations of the courier as being sent, and returns them. */
export function takeQueuedSyncs(ctx: SystemScope, courierId: string, atMost: number): Sql<SyncRow> {
  return once`
    with queued as (
      select s.package_id from package_syncs s
      where ${tenantRows(ctx, 's')} and s.courier_id = ${courierId}::uuid and s.status = 'queued'
      order by s.requested_at, s.package_id limit ${atMost}::int
      for update skip locked
    )
    update package_syncs s set status = 'sending' from queued
    where ${tenantRows(ctx, 's')} and s.package_id = queued.package_id
    returning ${PACKAGE_SYNC}`;
}

/** Fails the synchronisations without a delivery. */
export function failUndeliverable(ctx: SystemScope, jobIds: string[]): Sql {
  return once`
    update package_syncs s set status = 'failed', settled_at = now()
    where ${tenantRows(ctx, 's')} and s.job_id = any(${jobIds}::uuid[]) and s.status = 'sending'
      and not exists (select from webhook_deliveries d where d.tenant_id = s.tenant_id and d.sync_job_id = s.job_id
        and d.status = 'pending')`;
}
