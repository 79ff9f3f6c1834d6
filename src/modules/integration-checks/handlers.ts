import type { Handlers } from '../../../generated/handlers.js';
import { diagnoses } from '../../../generated/diagnoses.js';
import { pageBeforeReply } from '../../platform/contract/page-reply.js';
import { recordOf } from '../../platform/contract/record.js';
import { reply } from '../../platform/contract/reply.js';
import type { DataOf } from '../../platform/contract/types.js';
import { listChecks, requestCheck } from './checks.js';
import { verdictOf } from './finding.js';
import type { CheckRow } from './queries.js';

export function integrationCheckHandlers() {
  return {
    async createIntegrationCheck({ ctx, body }) {
      const { row, isNew } = await requestCheck(ctx, body);
      const message = isNew ? 'The check was queued.' : 'A check of this URL is already queued or running.';
      return reply(message, viewCheck(row));
    },
    listIntegrationChecks: async ({ ctx, query }) =>
      pageBeforeReply(await listChecks(ctx, query), ['check'], viewCheck),
  } satisfies Partial<Handlers>;
}

/** The texts are those of the table, so that a check of last month shows the remedy of today. */
const viewCheck = ({ id, ...row }: CheckRow): DataOf<'createIntegrationCheck'> => ({
  check_id: id,
  ...recordOf(row),
  verdict: row.status === 'finished' ? verdictOf(row.findings ?? []) : null,
  findings: (row.findings ?? []).map(({ code, evidence }) => ({ code, ...diagnoses[code], evidence })),
  requests: row.requests ?? [],
});
