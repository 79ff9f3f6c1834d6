import type { Handlers } from '../../../../generated/handlers.js';
import { viewHistory, viewRecorded } from './view.js';
import { readHistory } from './history.js';
import { readLabel } from '../labels/label.js';
import { recordPackageEvent } from './record.js';
import { countOf } from '../../../platform/values/count-of.js';

export function packageEventHandlers() {
  return {
    async listPackageEvents({ ctx, query }) {
      const history = await readHistory(ctx, query.package_id);
      const data = await viewHistory(history);
      const count = history.events.length;
      return { statusCode: 200, message: `${countOf(count, 'event')}.`, data };
    },

    async recordPackageEvent({ ctx, body }) {
      const recorded = await recordPackageEvent(ctx, body);
      return {
        statusCode: 200,
        message: describeChanges(recorded.events.length),
        data: viewRecorded(recorded),
      };
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
