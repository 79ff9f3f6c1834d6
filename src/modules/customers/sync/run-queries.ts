import type { DataOf, QueryOf } from '../../../platform/contract/types.js';
import { allOf, ownRows, tenantRows } from '../../../platform/db/filters.js';
import type { CustomerSyncRun } from '../../../platform/db/models/types.js';
import { raw, sql, type RowOf, type Sql } from '../../../platform/db/statements.js';
import type { SystemScope, UserScope } from '../../../platform/db/scope.js';
import { columns } from '../../../platform/db/columns.js';

const RUN = columns('CustomerSyncRun', 'r', [
  'id',
  'courierId',
  'origin',
  'status',
  'httpStatus',
  'received',
  'created',
  'updated',
  'unchanged',
  'skipped',
  'problems',
  'error',
  'createdAt',
  'startedAt',
  'finishedAt',
]);
const COURIER_NAME = columns('Courier', 'c', { courierName: 'name' });
const OWNER = columns('CustomerSyncRun', 'r', ['courierId']);
const ENDPOINT = columns('Courier', 'c', ['apiUrlGetCustomers', 'apiTokenCipher']);

type Run = DataOf<'syncCustomers'>;

export type RunRow = Omit<CustomerSyncRun, 'tenantId' | 'requestedBy' | 'origin' | 'status' | 'problems'> &
  Pick<Run, 'origin' | 'status'> & { courierName: string; problems: Run['problems'] | null };

type RunId = Pick<CustomerSyncRun, 'id'>;

/** Returns no row if the courier already has an open run. */
export function insertRun(ctx: UserScope, id: string, courierId: string): Sql<RunId> {
  return sql`insert into customer_sync_runs (tenant_id, id, courier_id, origin, requested_by)
    values (${ctx.tenantId}::uuid, ${id}::uuid, ${courierId}::uuid, 'request', ${ctx.caller.userId}::uuid)
    on conflict (tenant_id, courier_id) where status in ('queued', 'running') do nothing
    returning id`;
}

/** Inserts a run for every active courier that has a URL and no open run. */
export function insertScheduledRuns(ctx: SystemScope): Sql<RunId> {
  return sql`insert into customer_sync_runs (tenant_id, id, courier_id, origin)
    select c.tenant_id, new_id(), c.id, 'schedule' from couriers c
    where ${tenantRows(ctx, 'c')} and c.is_active and c.api_url_get_customers is not null
    order by c.id
    on conflict (tenant_id, courier_id) where status in ('queued', 'running') do nothing
    returning id`;
}

export function oneRun(ctx: UserScope, id: string): Sql<RunRow> {
  const run = sql`select r.* from customer_sync_runs r where ${ownRows(ctx, 'r')} and r.id = ${id}::uuid`;
  return withCourierName(ctx, run);
}

/** Selects a page and one row more, newest first. Ids are ordered by creation time. */
export function pageOfRuns(ctx: UserScope, query: QueryOf<'listCustomerSyncs'>): Sql<RunRow> {
  const { courier_id: courierId, status, before } = query;
  const conditions = allOf(
    ownRows(ctx, 'r'),
    // A courier only ever sees its own runs, whatever courier_id says.
    ctx.caller.courierId === null && courierId && sql`r.courier_id = ${courierId}::uuid`,
    status && sql`r.status = ${status}`,
    before && sql`r.id < ${before}::uuid`,
  );
  return withCourierName(
    ctx,
    sql`select r.* from customer_sync_runs r where ${conditions} order by r.id desc limit ${query.limit}::integer + 1`,
  );
}

const withCourierName = (ctx: UserScope, runs: Sql): Sql<RunRow> =>
  sql`select ${RUN}, ${COURIER_NAME}
    from (${runs}) as r
    join couriers c on ${tenantRows(ctx, 'c')} and c.tenant_id = r.tenant_id and c.id = r.courier_id
    order by r.id desc`;

export type StartedRun = RowOf<typeof OWNER> & RowOf<typeof ENDPOINT>;

/** Starts an open run, or restarts it after a worker crashed. Returns the courier's URL and token. */
export function startRun(ctx: SystemScope, id: string): Sql<StartedRun> {
  return sql`update customer_sync_runs r set status = 'running', started_at = now()
    from couriers c
    where ${tenantRows(ctx, 'r')} and r.id = ${id}::uuid and r.status in ('queued', 'running')
      and c.tenant_id = r.tenant_id and c.id = r.courier_id
    returning ${OWNER}, ${ENDPOINT}`;
}

/** Locks the run until the end of the transaction. Returns no row if it is no longer running. */
export function lockRunning(ctx: SystemScope, id: string): Sql {
  return sql`select from customer_sync_runs r
    where ${tenantRows(ctx, 'r')} and r.id = ${id}::uuid and r.status = 'running' for update`;
}

/** The result of a run. Omitted fields are stored as null. */
export type RunEnd = {
  httpStatus: number | null;
  error: string | null;
  counts?: SyncCounts;
  problems?: object[];
};
type SyncCounts = Record<'received' | 'created' | 'updated' | 'unchanged' | 'skipped', number>;

/** Ends a running run, as failed if there is an error. Returns no row if it was already ended. */
export function endRun(ctx: SystemScope, id: string, end: RunEnd): Sql<RunId> {
  const { httpStatus, error, counts, problems = [] } = end;
  return sql`update customer_sync_runs r set status = ${error === null ? 'succeeded' : 'failed'},
      http_status = ${httpStatus}, error = ${error}, finished_at = now(), received = ${counts?.received ?? null},
      created = ${counts?.created ?? null}, updated = ${counts?.updated ?? null},
      unchanged = ${counts?.unchanged ?? null}, skipped = ${counts?.skipped ?? null},
      problems = ${JSON.stringify(problems)}::jsonb
    where ${tenantRows(ctx, 'r')} and r.id = ${id}::uuid and r.status = 'running'
    returning r.id`;
}

/** Fails the runs that have been open for so long that no worker can still be processing them. */
export function failAbandoned(ctx: SystemScope, afterMinutes: number, error: string): Sql<RunId> {
  return sql`update customer_sync_runs r set status = 'failed', finished_at = now(), error = ${error}
    where ${tenantRows(ctx, 'r')} and r.status in ('queued', 'running')
      and coalesce(r.started_at, r.created_at) < now() - ${raw(String(afterMinutes))} * interval '1 minute'
    returning r.id`;
}
