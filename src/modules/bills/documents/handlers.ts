import type { Handlers } from '../../../../generated/handlers.js';
import { makeLogoPrinter } from '../../couriers/public.js';
import type { Deps } from '../../dependencies.js';
import { downloadBill } from './documents.js';
import { makeInvoiceWriter } from './pdf/writer.js';

export function billDocumentHandlers({ drawLogo, bulk }: Deps) {
  const printing = { printLogo: makeLogoPrinter(drawLogo), writeInvoice: makeInvoiceWriter() };

  return {
    downloadCourierBill: async ({ ctx, query }) => ({
      statusCode: 200,
      file: await bulk.limitReport(ctx.caller, () => downloadBill(ctx, query, printing)),
    }),
  } satisfies Partial<Handlers>;
}
