import type { ReplyOf } from '../../../platform/contract/types.js';
import { formatDateTime } from '../../../platform/values/time.js';
import type { PageBefore } from '../../../platform/context/read-page.js';
import type { DeliveryRow } from './queries.js';
import { viewFeedEvent } from '../events/event-view.js';
import type { FeedPage } from '../events/feed.js';
import type { Recovery } from './recovery.js';
import type { Resent } from './resend.js';
import type { Obstacle } from './resend-queries.js';
import { countOf } from '../../../platform/values/count-of.js';

type Deliveries = ReplyOf<'listWebhookDeliveries'>;

export function viewDeliveries({ rows, meta }: PageBefore<DeliveryRow>): Deliveries {
  return {
    statusCode: 200,
    message: `${countOf(rows.length, 'delivery', 'deliveries')} on this page.`,
    data: rows.map(viewDelivery),
    meta,
  };
}

function viewDelivery(row: DeliveryRow): Deliveries['data'][number] {
  return {
    delivery_id: row.id,
    event_id: row.eventId,
    type: row.type,
    sequence: row.sequence === null ? null : Number(row.sequence),
    package_id: row.packageId,
    courier_id: row.courierId,
    courier_name: row.courierName,
    endpoint: row.endpoint,
    origin: row.origin,
    status: row.status,
    attempt_count: row.attemptCount,
    next_attempt_at: row.nextAttemptAt && formatDateTime(row.nextAttemptAt),
    last_http_status: row.lastHttpStatus,
    created_at: formatDateTime(row.createdAt),
    settled_at: row.settledAt && formatDateTime(row.settledAt),
    attempts: row.attempts,
  };
}

export function viewFeed({ rows, range, query, hasMore }: FeedPage): ReplyOf<'listEvents'> {
  const data = rows.map(viewFeedEvent);
  return {
    statusCode: 200,
    message: `${countOf(data.length, 'event')} on this page.`,
    data,
    meta: {
      limit: query.limit,
      next_after: data.at(-1)?.sequence ?? query.after,
      has_more: hasMore,
      first_sequence: range.firstSequence === null ? null : Number(range.firstSequence),
      last_sequence: Number(range.lastSequence),
      is_ahead: query.after > Number(range.lastSequence),
    },
  };
}

type Managed = ReplyOf<'manageWebhookDeliveries'>;

export const viewResent = (message: string, { id, eventId, endpoint, isNew }: Resent): Managed => ({
  statusCode: 200,
  message,
  data: { delivery_id: id, event_id: eventId, endpoint, created: isNew },
});

const OBSTACLES = {
  missing: 'has no URL, or the courier is disabled',
  paused: 'is paused. Send a test first',
} satisfies Record<Obstacle, string>;

export function viewRecovery({ since, endpoints, hasMore }: Recovery): Managed {
  const total = endpoints.add_package.queued + endpoints.update_package.queued;
  const pending = endpoints.add_package.pending + endpoints.update_package.pending;
  const skipped = Object.entries(endpoints).flatMap(([name, { skipped: obstacle }]) =>
    obstacle ? [` ${name} ${OBSTACLES[obstacle]}.`] : [],
  );
  const sent = `${countOf(total, 'event was', 'events were')} queued again.`;
  const hastened = pending > 0 ? ` ${countOf(pending, 'pending one is', 'pending ones are')} sent now.` : '';
  const rest = hasMore ? ' There are more events: repeat the request.' : '';
  return {
    statusCode: 200,
    message: `${sent}${hastened}${rest}${skipped.join('')}`,
    data: { since, endpoints, has_more: hasMore },
  };
}
