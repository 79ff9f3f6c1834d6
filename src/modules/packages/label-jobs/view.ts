import type { DataOf, ReplyOf } from '../../../platform/contract/types.js';
import { formatDateTime } from '../../../platform/values/time.js';
import type { Requested } from './create.js';
import type { JobPage } from './list.js';
import type { JobRow } from './queries.js';
import { countOf } from '../../../platform/values/count-of.js';

type Listed = DataOf<'listLabelJobs'>[number];

export const viewJobPage = ({ rows, meta, hasBridge }: JobPage): ReplyOf<'listLabelJobs'> => ({
  statusCode: 200,
  message: `${countOf(rows.length, 'label job')} on this page.`,
  data: rows.map(viewJob),
  meta: { ...meta, has_bridge: hasBridge },
});

export const viewRequested = ({ printId, created, jobs }: Requested) => ({
  statusCode: 200 as const,
  message: describeRequested(created),
  data: { print_id: printId, created, jobs: jobs.map(viewJob) },
});

function describeRequested(created: number): string {
  if (created === 0) return 'These labels were already requested.';
  return `${countOf(created, 'label waits', 'labels wait')} for the printer.`;
}

const viewJob = (job: JobRow): Listed => ({
  job_id: job.id,
  print_id: job.printId,
  station: job.station,
  package_id: job.packageId,
  house_number: job.houseNumber,
  copies: job.copies,
  status: job.status,
  reason: job.reason,
  reprint_of: job.reprintOf,
  requested_by: job.requestedBy,
  created_at: formatDateTime(job.createdAt),
  expires_at: formatDateTime(job.expiresAt),
  ended_at: job.endedAt === null ? null : formatDateTime(job.endedAt),
});
