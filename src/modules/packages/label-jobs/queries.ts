import type { DataOf, QueryOf } from '../../../platform/contract/types.js';
import { tenantRows } from '../../../platform/db/filters.js';
import type { LabelJob } from '../../../platform/db/models/types.js';
import { empty, once, sql, type RowOf, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';
import { columns } from '../../../platform/db/columns.js';

const JOB = columns('LabelJob', 'j', [
  'id',
  'printId',
  'station',
  'packageId',
  'copies',
  'reason',
  'reprintOf',
  'requestedBy',
  'createdAt',
  'expiresAt',
]);
const PACKAGE = columns('Package', 'p', ['houseNumber']);
const LOCKED_JOB = columns('LabelJob', 'j', ['id', 'packageId', 'station', 'copies', 'claimId', 'status']);

export type JobQuery = QueryOf<'listLabelJobs'>;
export type JobStatus = DataOf<'listLabelJobs'>[number]['status'];

/** A job as it is shown. `status` and `endedAt` include what the clock has changed. */
export type JobRow = Omit<LabelJob, 'tenantId' | 'status' | 'claimId' | 'leaseUntil'> & {
  status: JobStatus;
  houseNumber: string;
};

/** The status of the job `j` with what the clock has changed. */
export const STATUS_NOW = sql`label_job_status(j.status, j.expires_at, j.lease_until)`;

const selectJobs = (ctx: UserScope, condition: Sql, order: Sql): Sql<JobRow> =>
  sql`select ${JOB}, ${PACKAGE}, ${STATUS_NOW} as status,
      case ${STATUS_NOW} when 'expired' then j.expires_at when 'unconfirmed' then coalesce(j.ended_at, j.lease_until)
        else j.ended_at end as "endedAt"
    from label_jobs j
    join packages p on ${tenantRows(ctx, 'p')} and p.tenant_id = j.tenant_id and p.id = j.package_id
    where ${tenantRows(ctx, 'j')} and ${condition} ${order}`;

/** Selects the jobs of one printing, in the order in which they are printed. */
export const jobsOfPrint = (ctx: UserScope, printId: string): Sql<JobRow> =>
  once`${selectJobs(ctx, sql`j.print_id = ${printId}::uuid`, sql`order by j.id`)}`;

/** Selects the jobs before `query.before`, newest first, and one more than `limit` to detect a next page. */
export function pageOfJobs(ctx: UserScope, { station, status, before, limit }: JobQuery): Sql<JobRow> {
  const condition = sql`true
    ${station === undefined ? empty : sql`and j.station = ${station}`}
    ${status === undefined ? empty : sql`and ${STATUS_NOW} = ${status}`}
    ${before === undefined ? empty : sql`and j.id < ${before}::uuid`}`;
  return selectJobs(ctx, condition, sql`order by j.id desc limit ${limit}::int + 1`);
}

export const existingPackages = (ctx: UserScope, ids: string[]): Sql<{ id: string }> =>
  once`select p.id from packages p where ${tenantRows(ctx, 'p')} and p.id = any(${ids}::uuid[])`;

export const countWaiting = (ctx: UserScope, station: string): Sql<{ waiting: number }> =>
  once`select count(*)::int as waiting from label_jobs j
    where ${tenantRows(ctx, 'j')} and j.station = ${station} and j.status in ('waiting', 'claimed')
      and j.expires_at > now()`;

export type NewJobs = Pick<LabelJob, 'printId' | 'station' | 'copies' | 'reprintOf'> & {
  /** One entry per job, in the order in which they are printed. */
  ids: string[];
  packageIds: string[];
};

export function insertJobs({ tenantId, caller }: UserScope, jobs: NewJobs): Sql {
  const { ids, packageIds, printId, station, copies, reprintOf } = jobs;
  return once`insert into label_jobs (tenant_id, id, print_id, station, package_id, copies, reprint_of, requested_by)
    select ${tenantId}::uuid, id, ${printId}::uuid, ${station}, package_id, ${copies}::smallint, ${reprintOf}::uuid,
      ${caller.userId}::uuid
    from unnest(${ids}::uuid[], ${packageIds}::uuid[]) as job (id, package_id)`;
}

/** `status` as stored, and `statusNow` with what the clock has changed. */
export type LockedJob = RowOf<typeof LOCKED_JOB> & {
  status: Exclude<JobStatus, 'expired'>;
  statusNow: JobStatus;
};

export const lockedJob = (ctx: UserScope, id: string): Sql<LockedJob> =>
  once`select ${LOCKED_JOB},
      ${STATUS_NOW} as "statusNow"
    from label_jobs j where ${tenantRows(ctx, 'j')} and j.id = ${id}::uuid for no key update`;

/** Ends a job. Its claim stays, so that the bridge can still report. */
export const endJob = (
  ctx: UserScope,
  { id, status, reason }: { id: string; status: 'printed' | 'failed' | 'unconfirmed'; reason: string | null },
): Sql =>
  once`update label_jobs j set status = ${status}, reason = ${reason}, ended_at = now()
    where ${tenantRows(ctx, 'j')} and j.id = ${id}::uuid`;
