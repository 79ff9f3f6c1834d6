import type { components } from '../../../../generated/contract.js';
import { jsonRows } from '../../../platform/contract/json-text.js';
import type { DataOf } from '../../../platform/contract/types.js';
import { formatDateTime } from '../../../platform/values/time.js';
import type { History } from './history.js';
import type { Recorded } from './record.js';

export async function viewHistory({ tracked, events }: History): Promise<DataOf<'listPackageEvents'>> {
  return {
    package_id: tracked.id,
    house_number: tracked.houseNumber,
    status: tracked.status,
    events: await jsonRows(events, (event) => ({
      event_id: event.id,
      previous_status: event.previousStatus,
      status: event.status,
      source: event.source,
      location: event.location,
      remarks: event.remarks,
      recorded_by: event.recordedBy,
      occurred_at: formatDateTime(event.occurredAt),
      recorded_at: formatDateTime(event.recordedAt),
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
    events: events.map(({ id, eventId, previous, status, recordedFor }) => ({
      event_id: eventId,
      package_id: id,
      previous_status: previous,
      status,
      occurred_at: recordedFor,
    })),
  };
}
