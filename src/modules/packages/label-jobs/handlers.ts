import type { Handlers } from '../../../../generated/handlers.js';
import { newId } from '../../../platform/values/ids.js';
import { toLabel } from '../labels/label.js';
import { claimJobs, LEASE_SECONDS } from './claim-queries.js';
import { createLabelJobs, reprintLabelJob } from './create.js';
import { pageOfJobs } from './queries.js';
import { reportLabelJob } from './report.js';
import { viewJobPage, viewRequested } from './view.js';

export function labelJobHandlers() {
  return {
    async listLabelJobs({ ctx, query }) {
      const [rows] = await ctx.read([pageOfJobs(ctx, query)]);
      return viewJobPage(rows, query.limit);
    },

    createLabelJobs: async ({ ctx, body }) => viewRequested(await createLabelJobs(ctx, body)),

    reprintLabelJob: async ({ ctx, body }) => viewRequested(await reprintLabelJob(ctx, body)),

    async claimLabelJobs({ ctx, body }) {
      const claimId = newId();
      const [rows] = await ctx.preparedPipeline([claimJobs(ctx, { claimId, ...body })]);
      // Imported with the first label, because the fonts would slow the start down.
      const { writeLabelZpl } = await import('../labels/label-zpl.js');
      const jobs = rows.map((row) => ({
        job_id: row.id,
        house_number: row.houseNumber,
        copies: row.copies,
        zpl: writeLabelZpl(toLabel(row), row.copies),
      }));
      const message = `${jobs.length === 1 ? '1 label' : `${jobs.length} labels`} claimed.`;
      return { statusCode: 200, message, data: { claim_id: claimId, lease_seconds: LEASE_SECONDS, jobs } };
    },

    async reportLabelJob({ ctx, body }) {
      await reportLabelJob(ctx, body);
      const data = { job_id: body.job_id, status: body.status };
      return { statusCode: 200, message: 'The report was stored.', data };
    },
  } satisfies Pick<
    Handlers,
    'listLabelJobs' | 'createLabelJobs' | 'reprintLabelJob' | 'claimLabelJobs' | 'reportLabelJob'
  >;
}
