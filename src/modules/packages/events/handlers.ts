import type { Handlers } from '../../../../generated/handlers.js';
import type { components } from '../../../../generated/contract.js';
import { jsonRows } from '../../../platform/contract/json-text.js';
import { recordOf } from '../../../platform/contract/record.js';
import { reply } from '../../../platform/contract/reply.js';
import type { DataOf } from '../../../platform/contract/types.js';
import { countOf } from '../../../platform/values/count-of.js';
import { readLabel } from '../labels/label.js';
import { readHistory, type History } from './history.js';
import { recordPackageEvent, type Recorded } from './record.js';

export function packageEventHandlers() {
  return {
    async listPackageEvents({ ctx, query }) {
      const history = await readHistory(ctx, query.package_id);
      return reply(`${countOf(history.events.length, 'event')}.`, await viewHistory(history));
    },

    async recordPackageEvent({ ctx, body }) {
      const recorded = await recordPackageEvent(ctx, body);
      return reply(describeChanges(recorded.events.length), viewRecorded(recorded));
    },

    async getPackageLabel({ ctx, query }) {
      const label = await readLabel(ctx, query.package_id);
      const name = `label-${label.houseNumber.replace(/[^\w-]/g, '_')}`;
      // The drawing libraries are imported with the first label, because they would double the modules loaded
      // at startup.
      if (query.format === 'zpl') {
        const { writeLabelZpl } = await import('../labels/label-zpl.js');
        const content = Buffer.from(writeLabelZpl(label));
        return { statusCode: 200, file: { mediaType: 'application/zpl', content, name: `${name}.zpl` } };
      }
      const { writeLabelPdf } = await import('../labels/label-pdf.js');
      const content = await writeLabelPdf(label);
      return { statusCode: 200, file: { mediaType: 'application/pdf', content, name: `${name}.pdf` } };
    },
  } satisfies Partial<Handlers>;
}

function describeChanges(changed: number): string {
  if (changed === 0) return 'No package changed. All packages already have this status.';
  return `${countOf(changed, 'package')} changed.`;
}

const viewHistory = async ({
  tracked: { id, ...tracked },
  events,
}: History): Promise<DataOf<'listPackageEvents'>> => ({
  package_id: id,
  ...recordOf(tracked),
  events: await jsonRows(events, ({ id: eventId, ...event }) => ({ event_id: eventId, ...recordOf(event) })),
});

function viewRecorded({ events, unchanged }: Recorded): components['schemas']['PackageEventsRecorded'] {
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
