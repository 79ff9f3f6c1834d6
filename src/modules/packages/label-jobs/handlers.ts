import type { Handlers } from '../../../../generated/handlers.js';
import { pageBeforeReply } from '../../../platform/contract/page-reply.js';
import { recordOf } from '../../../platform/contract/record.js';
import { reply } from '../../../platform/contract/reply.js';
import type { DataOf } from '../../../platform/contract/types.js';
import { countOf } from '../../../platform/values/count-of.js';
import { createLabelJobs, reprintLabelJob, type Requested } from './create.js';
import { listLabelJobs } from './list.js';
import type { JobRow } from './queries.js';
import { reportLabelJob, claimLabelJobs } from './report.js';

export function labelJobHandlers() {
  return {
    async listLabelJobs({ ctx, query }) {
      const { hasBridge, ...page } = await listLabelJobs(ctx, query);
      const { meta, ...listed } = await pageBeforeReply(page, ['label job'], viewJob);
      return { ...listed, meta: { ...meta, has_bridge: hasBridge } };
    },
    createLabelJobs: async ({ ctx, body }) => viewRequested(await createLabelJobs(ctx, body)),
    reprintLabelJob: async ({ ctx, body }) => viewRequested(await reprintLabelJob(ctx, body)),
    async claimLabelJobs({ ctx, body }) {
      const data = await claimLabelJobs(ctx, body);
      return reply(`${countOf(data.jobs.length, 'label')} claimed.`, data);
    },
    async reportLabelJob({ ctx, body }) {
      await reportLabelJob(ctx, body);
      return reply('The report was stored.', { job_id: body.job_id, status: body.status });
    },
  } satisfies Partial<Handlers>;
}

const viewRequested = ({ printId, created, jobs }: Requested) =>
  reply(describeRequested(created), { print_id: printId, created, jobs: jobs.map(viewJob) });

function describeRequested(created: number): string {
  if (created === 0) return 'These labels were already requested.';
  return `${countOf(created, 'label waits', 'labels wait')} for the printer.`;
}

const viewJob = ({ id, ...row }: JobRow): DataOf<'listLabelJobs'>[number] => ({
  job_id: id,
  ...recordOf(row),
});
