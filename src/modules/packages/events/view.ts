import type { components } from '../../../../generated/contract.js';
import type { DataOf } from '../../../platform/contract/types.js';
import { formatDateTime } from '../../../platform/values/time.js';
import type { History } from './history.js';
import type { Recorded } from './record.js';

export function viewHistory({ tracked, events }: History): DataOf<'packageEvents'> {
  return {
    package_id: tracked.id,
    house_number: tracked.house_number,
    status: tracked.status,
    events: events.map(({ id, occurred_at, recorded_at, ...shown }) => ({
      event_id: id,
      ...shown,
      occurred_at: formatDateTime(occurred_at),
      recorded_at: formatDateTime(recorded_at),
    })),
  };
}

export function viewRecorded({
  events,
  unchanged,
}: Recorded): components['schemas']['PackageEventsRecorded'] {
  return {
    recorded: events.length,
    unchanged,
    events: events.map(({ id, eventId, previous, status, occurredAt }) => ({
      event_id: eventId,
      package_id: id,
      previous_status: previous,
      status,
      occurred_at: occurredAt,
    })),
  };
}
