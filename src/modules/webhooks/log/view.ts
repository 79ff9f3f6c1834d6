import { numberOrNull, recordOf } from '../../../platform/contract/record.js';
import { reply } from '../../../platform/contract/reply.js';
import type { DataOf, ReplyOf } from '../../../platform/contract/types.js';
import type { DeliveryRow } from './queries.js';
import { viewFeedEvent } from '../events/event-view.js';
import type { FeedPage } from '../events/feed.js';
import type { Recovery } from './recovery.js';
import type { Resent } from './resend.js';
import type { Obstacle } from './resend-queries.js';
import { jsonRows } from '../../../platform/contract/json-text.js';
import { countOf } from '../../../platform/values/count-of.js';

export const viewDelivery = ({
  id,
  sequence,
  ...row
}: DeliveryRow): DataOf<'listWebhookDeliveries'>[number] => ({
  delivery_id: id,
  ...recordOf(row),
  sequence: numberOrNull(sequence),
});

export async function viewFeed({ rows, range, query, hasMore }: FeedPage): Promise<ReplyOf<'listEvents'>> {
  const last = rows.at(-1);
  return {
    ...reply(`${countOf(rows.length, 'event')} on this page.`, await jsonRows(rows, viewFeedEvent)),
    meta: {
      limit: query.limit,
      next_after: last ? Number(last.sequence) : query.after,
      has_more: hasMore,
      first_sequence: numberOrNull(range.firstSequence),
      last_sequence: Number(range.lastSequence),
      is_ahead: query.after > Number(range.lastSequence),
    },
  };
}

type Managed = ReplyOf<'manageWebhookDeliveries'>;

export const viewResent = (message: string, { id, eventId, endpoint, isNew }: Resent): Managed =>
  reply(message, { delivery_id: id, event_id: eventId, endpoint, created: isNew });

const OBSTACLES = {
  missing: 'has no URL, or the courier is disabled',
  paused: 'is paused. Send a test first',
} satisfies Record<Obstacle, string>;

export function viewRecovery({ since, endpoints, hasMore }: Recovery, isDryRun = false): Managed {
  const total = endpoints.add_package.queued + endpoints.update_package.queued;
  const pending = endpoints.add_package.pending + endpoints.update_package.pending;
  const skipped = Object.entries(endpoints).flatMap(([name, { skipped: obstacle }]) =>
    obstacle ? [` ${name} ${OBSTACLES[obstacle]}.`] : [],
  );
  const found = endpoints.add_package.selected + endpoints.update_package.selected;
  const sent = isDryRun
    ? `${countOf(found, 'event matches', 'events match')}. Nothing was sent.`
    : `${countOf(total, 'event was', 'events were')} queued again.`;
  const hastened = pending > 0 ? ` ${countOf(pending, 'pending one is', 'pending ones are')} sent now.` : '';
  const rest = hasMore ? ' There are more events: repeat the request.' : '';
  return reply(`${sent}${hastened}${rest}${skipped.join('')}`, { since, endpoints, has_more: hasMore });
}
