import type { Handlers } from '../../../../generated/handlers.js';
import { claimLabelJobs } from './claim.js';
import { createLabelJobs, reprintLabelJob } from './create.js';
import { listLabelJobs } from './list.js';
import { reportLabelJob } from './report.js';
import { viewJobPage, viewRequested } from './view.js';
import { countOf } from '../../../platform/values/count-of.js';

export function labelJobHandlers() {
  return {
    listLabelJobs: async ({ ctx, query }) => viewJobPage(await listLabelJobs(ctx, query)),

    createLabelJobs: async ({ ctx, body }) => viewRequested(await createLabelJobs(ctx, body)),

    reprintLabelJob: async ({ ctx, body }) => viewRequested(await reprintLabelJob(ctx, body)),

    async claimLabelJobs({ ctx, body }) {
      const data = await claimLabelJobs(ctx, body);
      const count = data.jobs.length;
      return { statusCode: 200, message: `${countOf(count, 'label')} claimed.`, data };
    },

    async reportLabelJob({ ctx, body }) {
      await reportLabelJob(ctx, body);
      const data = { job_id: body.job_id, status: body.status };
      return { statusCode: 200, message: 'The report was stored.', data };
    },
  } satisfies Partial<Handlers>;
}
