import type { ReplyOf } from '../../../platform/contract/types.js';
import { formatDateTime } from '../../../platform/values/time.js';
import type { DispatchRow } from './queries.js';
import type { PageBefore } from '../../../platform/context/read-page.js';
import type { Dispatch } from './queue-dispatch.js';
import { countOf } from '../../../platform/values/count-of.js';

type Listed = ReplyOf<'listDispatches'>;

export const viewDispatches = ({ rows, meta }: PageBefore<DispatchRow>): Listed => ({
  statusCode: 200,
  message: `${countOf(rows.length, 'dispatch', 'dispatches')} on this page.`,
  data: rows.map(viewDispatch),
  meta,
});

export const viewQueued = ({ dispatchId, selected, queued }: Dispatch): ReplyOf<'queueDispatch'> => ({
  statusCode: 200,
  message: `A live sync was triggered for ${countOf(selected, 'package')}.`,
  data: { dispatch_id: dispatchId, total_selected: selected, total_queued: queued },
});

function viewDispatch(row: DispatchRow): Listed['data'][number] {
  const { queued = 0, sending = 0, sent = 0, failed = 0 } = row.counts;
  return {
    dispatch_id: row.id,
    courier_id: row.courierId,
    requested_at: formatDateTime(row.requestedAt),
    requested_by: row.requestedBy,
    total_selected: row.selected,
    total_queued: row.queued,
    // A package counts for the latest dispatch that queued it; an earlier dispatch reports it as superseded.
    progress: { queued, sending, sent, failed, superseded: row.queued - queued - sending - sent - failed },
  };
}
