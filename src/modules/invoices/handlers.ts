import type { Handlers } from '../../../generated/handlers.js';
import type { Deps } from '../dependencies.js';
import { previewInvoice } from './invoices.js';
import { viewPreview } from './view.js';
import { countOf } from '../../platform/values/count-of.js';

export function invoiceHandlers({ bulk }: Deps) {
  return {
    async previewCourierInvoice({ ctx, body }) {
      const data = viewPreview(await bulk.limitReport(ctx.caller, () => previewInvoice(ctx, body)));
      const total = data.summary.total_packages;
      return {
        statusCode: 200,
        message: `Preview of ${countOf(total, 'package')}.`,
        data,
      };
    },
  } satisfies Partial<Handlers>;
}
