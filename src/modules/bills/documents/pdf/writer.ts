import { makeWorkerPool } from '../../../../platform/concurrency/worker-pool.js';
import type { Invoice } from './invoice.js';

export type InvoiceWriter = (invoice: Invoice) => Promise<Buffer>;

// 10,000 lines take 120 MB there.
const MAX_HEAP_MB = 512;
// thirty times what the longest takes of an idle core
const INVOICE_MS = 100_000;

/** Draws invoices, each in a thread: a thousand lines take a third of a second. */
export function makeInvoiceWriter(): InvoiceWriter {
  const threads = makeWorkerPool('modules/bills/documents/pdf/invoice-worker.js', MAX_HEAP_MB);
  return async (invoice) => {
    // as: what the thread answers with
    const bytes = (await threads.ask(invoice, INVOICE_MS)) as Uint8Array;
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  };
}
