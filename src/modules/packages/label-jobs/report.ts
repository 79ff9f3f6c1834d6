import { audit } from '../../../platform/audit/audit.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import type { BodyOf } from '../../../platform/contract/types.js';
import { ApiError, invalidFieldError } from '../../../platform/errors/errors.js';
import { noteSending } from './claim-queries.js';
import { endJob, lockedJob, type LockedJob } from './queries.js';

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
    tx.later(
      audit(tx, {
        action: `package.label_${status}`,
        entity: 'package',
        entityId: job.packageId,
        after: { label_job_id: jobId, station: job.station },
        remarks: reason ?? undefined,
      }),
    );
  });
}

function isAccepted(job: LockedJob, { claim_id: claimId, status }: LabelReport): boolean {
  // A label that waited too long is not printed, even by the bridge that has claimed it.
  const isTooLate = status === 'sending' && job.statusNow === 'expired';
  return job.claimId === claimId && ACCEPTED[job.status].includes(status) && !isTooLate;
}
