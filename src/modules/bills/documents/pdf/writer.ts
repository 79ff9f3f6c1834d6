import { makeWorkerPool } from '../../../../platform/concurrency/worker-pool.js';
import type { Invoice } from './invoice.js';

export type InvoiceWriter = (invoice: Invoice) => Promise<Buffer>;

// An invoice of 10,000 lines takes 120 MB in the worker thread.
const MAX_HEAP_MB = 512;
// Thirty times as long as the longest invoice takes on an idle core.
const INVOICE_MS = 100_000;

/**
 * Returns a function that draws invoices, each in a worker thread: a thousand lines take a third of a second.
 */
export function makeInvoiceWriter(): InvoiceWriter {
  const threads = makeWorkerPool('modules/bills/documents/pdf/invoice-worker.js', MAX_HEAP_MB);
  return async (invoice) => {
    // The worker posts the bytes of the PDF.
    const bytes = (await threads.ask(invoice, INVOICE_MS)) as Uint8Array;
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  };
}
