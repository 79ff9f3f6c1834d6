import type { PackageEvent } from '../../../../../../sdk/typescript/src/index.js';
import { api } from '../../../../session/session.js';
import { dateTime, pounds, t, textOf } from '../../../../texts/texts.js';
import { useLoad } from '../../../../ui/load.js';
import { Content } from '../../../../ui/parts.js';
import { StatusTag } from '../../../../ui/status.js';

/** What happened to a parcel, the latest first, with who recorded it and where. */
export function Timeline({ packageId, round }: { packageId: string; round: number }) {
  const history = useLoad(
    async (signal) =>
      (await api().packages.listEvents({ package_id: packageId }, { signal })).data.events.toReversed(),
    [packageId, round],
  );
  return (
    <Content of={history}>
      {(events) => (
        <ol class="timeline timeline-wide" data-testid="timeline">
          {events.map((event) => (
            <li key={event.event_id}>
              <StatusTag status={event.status} />
              <span>{dateTime(event.occurred_at)}</span>
              <span>{whoOf(event)}</span>
              <span class="muted">{whatOf(event)}</span>
            </li>
          ))}
        </ol>
      )}
    </Content>
  );
}

const whoOf = ({ recorded_by, source }: PackageEvent): string =>
  [textOf('parcelSource', source), recorded_by].filter(Boolean).join(' · ');

function whatOf({ location, remarks, weight_change, occurred_at, recorded_at }: PackageEvent): string {
  if (weight_change) {
    const { previous_weight: before, weight: after } = weight_change;
    return t('parcel.weightChanged', { before: pounds(before), after: pounds(after) });
  }
  const isLate = recorded_at.slice(0, 16) > occurred_at.slice(0, 16);
  return [location, remarks, isLate && t('parcel.recordedAt', { at: dateTime(recorded_at) })]
    .filter(Boolean)
    .join(' · ');
}
