import type { Handlers } from '../../../generated/handlers.js';
import type { Deps } from '../dependencies.js';
import { previewInvoice } from './invoices.js';
import { viewPreview } from './view.js';

export function invoiceHandlers({ db }: Deps) {
  return {
    async generateCourierInvoice({ body, caller }) {
      const data = viewPreview(await previewInvoice(db, caller, body));
      const total = data.summary.total_packages;
      return {
        statusCode: 200,
        message: total === 1 ? 'Preview of 1 package.' : `Preview of ${total} packages.`,
        data,
      };
    },
  } satisfies Pick<Handlers, 'generateCourierInvoice'>;
}
