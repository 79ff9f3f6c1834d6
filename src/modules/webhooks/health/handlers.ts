import type { Handlers } from '../../../../generated/handlers.js';
import { pageReply } from '../../../platform/contract/page-reply.js';
import type { DataOf } from '../../../platform/contract/types.js';
import { formatDateTime } from '../../../platform/values/time.js';
import type { Deps } from '../../dependencies.js';
import { readHealth } from './health.js';
import type { HealthRow } from './queries.js';

export function webhookHealthHandlers({ bulk }: Pick<Deps, 'bulk'>) {
  return {
    async listWebhookHealth({ ctx, query }) {
      const { rows, total } = await bulk.limitReport(ctx.caller, () => readHealth(ctx, query));
      return pageReply(query, total, 'URL', rows.map(viewHealth));
    },
  } satisfies Pick<Handlers, 'listWebhookHealth'>;
}

const timeOf = (time: Date | null): string | null => time && formatDateTime(time);

const viewHealth = (row: HealthRow): DataOf<'listWebhookHealth'>[number] => ({
  courier_id: row.courier_id,
  courier_code: row.courier_code,
  courier_name: row.courier_name,
  endpoint: row.endpoint,
  state: row.state,
  failing_since: timeOf(row.failing_since),
  paused_at: timeOf(row.paused_at),
  last_success_at: timeOf(row.last_success_at),
  last_failure: row.last_failure_at && {
    at: formatDateTime(row.last_failure_at),
    outcome: row.last_failure_outcome,
    http_status: row.last_failure_status,
    error: row.last_failure_error,
  },
  waiting: row.waiting,
  oldest_waiting_at: timeOf(row.oldest_waiting_at),
  sent_24h: row.sent_24h,
  failed_24h: row.failed_24h,
  failed_share_24h: row.failed_share_24h === null ? null : Number(row.failed_share_24h),
});
