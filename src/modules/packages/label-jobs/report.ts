import { auditLater } from '../../../platform/audit/audit.js';
import { pauseWhenDue } from '../../../platform/concurrency/pause-when-due.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import type { BodyOf, DataOf } from '../../../platform/contract/types.js';
import { ApiError, invalidFieldError } from '../../../platform/errors/errors.js';
import { noteSending, claimJobs, LEASE_SECONDS } from './claim-queries.js';
import { endJob, lockedJob, type LockedJob } from './queries.js';
import { newId } from '../../../platform/values/ids.js';
import { toLabel } from '../labels/label.js';

/** Claims a station's oldest jobs for a bridge, and draws their labels. */
export async function claimLabelJobs(
  ctx: UserContext,
  { station, max_jobs: maxJobs }: BodyOf<'claimLabelJobs'>,
): Promise<DataOf<'claimLabelJobs'>> {
  const claimId = newId();
  const [rows] = await ctx.write([claimJobs(ctx, { claimId, station, maxJobs })]);
  // Imported with the first label, because the fonts would slow the start down.
  const { writeLabelZpl } = await import('../labels/label-zpl.js');
  const jobs: DataOf<'claimLabelJobs'>['jobs'] = [];
  for (const row of rows) {
    await pauseWhenDue();
    jobs.push({
      job_id: row.id,
      house_number: row.houseNumber,
      copies: row.copies,
      zpl: writeLabelZpl(toLabel(row), row.copies),
    });
  }
  return { claim_id: claimId, lease_seconds: LEASE_SECONDS, jobs };
}

export type LabelReport = BodyOf<'reportLabelJob'>;
type Reported = LabelReport['status'];

/** The reports that a stored status accepts. The table in the contract (reportLabelJob) is the same. */
const ACCEPTED: Record<LockedJob['status'], readonly Reported[]> = {
  waiting: [],
  claimed: ['sending', 'failed'],
  sending: ['sending', 'printed', 'failed', 'unconfirmed'],
  unconfirmed: ['printed', 'unconfirmed'],
  printed: ['printed'],
  failed: ['failed'],
};

/**
 * Stores what a bridge reports about a job of its claim.
 * @throws ApiError validation_failed, label_job_not_found, label_job_not_claimed
 */
export async function reportLabelJob(ctx: UserContext, report: LabelReport): Promise<void> {
  const { job_id: jobId, status, reason = null } = report;
  if (status === 'failed' && reason === null) throw invalidFieldError('reason', 'required');
  await ctx.write(async (tx) => {
    const [job] = await tx.query(lockedJob(ctx, jobId));
    if (!job) throw new ApiError('label_job_not_found');
    if (!isAccepted(job, report)) throw new ApiError('label_job_not_claimed');
    if (status === 'sending') {
      tx.later(noteSending(ctx, job));
      return;
    }
    if (job.status === status) return;
    tx.later(endJob(ctx, { id: jobId, status, reason }));
    auditLater(tx, `package.label_${status}`, job.packageId, {
      after: { label_job_id: jobId, station: job.station },
      remarks: reason ?? undefined,
    });
  });
}

function isAccepted(job: LockedJob, { claim_id: claimId, status }: LabelReport): boolean {
  // A label that waited too long is not printed, even by the bridge that has claimed it.
  const isTooLate = status === 'sending' && job.statusNow === 'expired';
  return job.claimId === claimId && ACCEPTED[job.status].includes(status) && !isTooLate;
}
