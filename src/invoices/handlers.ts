import type { Handlers } from '../../generated/handlers.js';
import type { Deps } from '../deps.js';
import { viewBills } from './bill-view.js';
import { loadBills } from './bills.js';
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
    loadCourierBills: async ({ query, caller }) => viewBills(await loadBills(db, caller, query)),
  } satisfies Pick<Handlers, 'generateCourierInvoice' | 'loadCourierBills'>;
}
