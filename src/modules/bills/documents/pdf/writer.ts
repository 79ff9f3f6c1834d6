import { makePdfWriter, type PdfWriter } from '../../../../platform/pdf/writer.js';
import type { Invoice } from './invoice.js';

export type InvoiceWriter = PdfWriter<Invoice>;

/** Returns a function that draws invoices, each in a worker thread. */
export const makeInvoiceWriter = (): InvoiceWriter =>
  makePdfWriter('modules/bills/documents/pdf/invoice-worker.js');
