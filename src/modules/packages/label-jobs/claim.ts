import type { UserContext } from '../../../platform/context/request-context.js';
import type { BodyOf, DataOf } from '../../../platform/contract/types.js';
import { newId } from '../../../platform/values/ids.js';
import { toLabel } from '../labels/label.js';
import { claimJobs, LEASE_SECONDS } from './claim-queries.js';

/** Claims a station's oldest jobs for a bridge, and draws their labels. */
export async function claimLabelJobs(
  ctx: UserContext,
  { station, max_jobs: maxJobs }: BodyOf<'claimLabelJobs'>,
): Promise<DataOf<'claimLabelJobs'>> {
  const claimId = newId();
  const [rows] = await ctx.write([claimJobs(ctx, { claimId, station, maxJobs })]);
  // Imported with the first label, because the fonts would slow the start down.
  const { writeLabelZpl } = await import('../labels/label-zpl.js');
  const jobs = rows.map((row) => ({
    job_id: row.id,
    house_number: row.houseNumber,
    copies: row.copies,
    zpl: writeLabelZpl(toLabel(row), row.copies),
  }));
  return { claim_id: claimId, lease_seconds: LEASE_SECONDS, jobs };
}
