import { audit, factOf, type AuditFact } from '../../../platform/audit/audit.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import type { BodyOf } from '../../../platform/contract/types.js';
import { lockLabelStation, lockPrint } from '../../../platform/db/locks.js';
import { ApiError } from '../../../platform/errors/errors.js';
import { newId } from '../../../platform/values/ids.js';
import type { UserTx } from '../../../platform/db/scope.js';
import { assertAllExist, fieldsByPackageId } from '../shared/batch.js';
import * as queries from './queries.js';
import type { JobRow, LockedJob, NewJobs } from './queries.js';

export type Requested = { printId: string; created: number; jobs: JobRow[] };

const MAX_WAITING_PER_STATION = 1_000;

/**
 * Creates one job per package. A repeated request returns the jobs of the first one.
 * @throws ApiError package_not_found, print_id_reused, label_queue_full
 */
export async function createLabelJobs(
  ctx: UserContext,
  { print_id: printId, station, package_ids, copies }: BodyOf<'createLabelJobs'>,
): Promise<Requested> {
  const fields = fieldsByPackageId(package_ids);
  const packageIds = [...fields.keys()];
  return ctx.write(async (tx) => {
    tx.later(lockPrint(ctx.tenantId, printId));
    const [earlier, packages] = await tx.query([
      queries.jobsOfPrint(ctx, printId),
      queries.existingPackages(ctx, packageIds),
    ]);
    assertAllExist(fields, new Set(packages.map(({ id }) => id)));
    return requestOnce(tx, { printId, station, copies, reprintOf: null, packageIds }, earlier);
  });
}

/**
 * Creates a job for the label of a job that has ended.
 * @throws ApiError label_job_not_found, label_job_open, print_id_reused, label_queue_full
 */
export async function reprintLabelJob(
  ctx: UserContext,
  { print_id: printId, job_id: jobId }: BodyOf<'reprintLabelJob'>,
): Promise<Requested> {
  return ctx.write(async (tx) => {
    tx.later(lockPrint(ctx.tenantId, printId));
    const [earlier, [job]] = await tx.query([
      queries.jobsOfPrint(ctx, printId),
      queries.lockedJob(ctx, jobId),
    ]);
    if (!job) throw new ApiError('label_job_not_found');
    if (earlier.length === 0) await assertEnded(tx, job);
    const { station, copies, packageId } = job;
    const wanted = { printId, station, copies, reprintOf: jobId, packageIds: [packageId] };
    return requestOnce(tx, wanted, earlier);
  });
}

async function assertEnded(tx: UserTx, { id, status, statusNow }: LockedJob): Promise<void> {
  if (['waiting', 'claimed', 'sending'].includes(statusNow)) throw new ApiError('label_job_open');
  // The bridge stopped reporting. It must not begin to send this job any more.
  const reason = 'The print bridge stopped reporting. The label was printed again.';
  if (status === 'sending') tx.later(queries.endJob(tx, { id, status: 'unconfirmed', reason }));
}

type Wanted = Omit<NewJobs, 'ids'>;

async function requestOnce(tx: UserTx, wanted: Wanted, earlier: JobRow[]): Promise<Requested> {
  const { printId, station, packageIds } = wanted;
  if (earlier.length > 0) {
    if (!areSame(wanted, earlier)) throw new ApiError('print_id_reused');
    return { printId, created: 0, jobs: earlier };
  }
  tx.later(lockLabelStation(tx.tenantId, station));
  const [counted] = await tx.query(queries.countWaiting(tx, station));
  const waiting = counted?.waiting ?? 0;
  if (waiting + packageIds.length > MAX_WAITING_PER_STATION)
    throw new ApiError('label_queue_full', { args: { waiting, limit: MAX_WAITING_PER_STATION } });
  const ids = packageIds.map(newId);
  tx.later(queries.insertJobs(tx, { ...wanted, ids }));
  tx.later(audit(tx, ...packageIds.map((packageId, index) => toAuditFact(wanted, packageId, ids[index]))));
  return { printId, created: ids.length, jobs: await tx.query(queries.jobsOfPrint(tx, printId)) };
}

function areSame(wanted: Wanted, earlier: JobRow[]): boolean {
  const packageIds = new Set(wanted.packageIds);
  return (
    earlier.length === packageIds.size &&
    earlier.every(
      (job) =>
        packageIds.has(job.packageId) &&
        job.station === wanted.station &&
        job.copies === wanted.copies &&
        job.reprintOf === wanted.reprintOf,
    )
  );
}

const toAuditFact = ({ station, copies, reprintOf }: Wanted, packageId: string, jobId?: string): AuditFact =>
  factOf('package.label_requested', packageId, {
    after: { label_job_id: jobId, station, copies, reprint_of: reprintOf },
  });
