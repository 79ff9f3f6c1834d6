import type { ReplyOf } from '../../../platform/contract/types.js';
import { formatDateTime } from '../../../platform/values/time.js';
import type { DeliveryPage } from './deliveries.js';
import type { DeliveryRow } from './queries.js';
import { viewEvent } from '../events/event-view.js';
import type { FeedPage } from '../events/feed.js';
import type { Recovery, Resent } from './resend.js';
import type { Obstacle } from './resend-queries.js';

type Deliveries = ReplyOf<'listWebhookDeliveries'>;

export function viewDeliveries({ rows, limit, nextBefore }: DeliveryPage): Deliveries {
  return {
    statusCode: 200,
    message: `${rows.length === 1 ? '1 delivery' : `${rows.length} deliveries`} on this page.`,
    data: rows.map(viewDelivery),
    meta: { limit, next_before: nextBefore },
  };
}

function viewDelivery(row: DeliveryRow): Deliveries['data'][number] {
  return {
    delivery_id: row.id,
    event_id: row.event_id,
    type: row.type,
    sequence: row.sequence === null ? null : Number(row.sequence),
    package_id: row.package_id,
    courier_id: row.courier_id,
    courier_name: row.courier_name,
    endpoint: row.endpoint,
    origin: row.origin,
    status: row.status,
    attempt_count: row.attempt_count,
    next_attempt_at: row.next_attempt_at && formatDateTime(row.next_attempt_at),
    last_http_status: row.last_http_status,
    created_at: formatDateTime(row.created_at),
    settled_at: row.settled_at && formatDateTime(row.settled_at),
    attempts: row.attempts,
  };
}

export function viewFeed({ rows, range, query, hasMore }: FeedPage): ReplyOf<'readEvents'> {
  const data = rows.map(viewEvent);
  return {
    statusCode: 200,
    message: `${data.length === 1 ? '1 event' : `${data.length} events`} on this page.`,
    data,
    meta: {
      limit: query.limit,
      next_after: data.at(-1)?.sequence ?? query.after,
      has_more: hasMore,
      first_sequence: range.first_sequence === null ? null : Number(range.first_sequence),
      last_sequence: Number(range.last_sequence),
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
} satisfies Record<NonNullable<Obstacle>, string>;

export function viewRecovery({ since, endpoints, hasMore }: Recovery): Managed {
  const total = endpoints.add_package.queued + endpoints.update_package.queued;
  const left = Object.entries(endpoints).flatMap(([name, { skipped }]) =>
    skipped ? [` ${name} ${OBSTACLES[skipped]}.`] : [],
  );
  const sent = total === 1 ? '1 event was queued again.' : `${total} events were queued again.`;
  const rest = hasMore ? ' There are more events: repeat the request.' : '';
  return {
    statusCode: 200,
    message: `${sent}${rest}${left.join('')}`,
    data: { since, endpoints, has_more: hasMore },
  };
}
