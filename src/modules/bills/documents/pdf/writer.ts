import { makeWorkerPool } from '../../../../platform/concurrency/worker-pool.js';
import type { Invoice } from './invoice.js';

export type InvoiceWriter = (invoice: Invoice) => Promise<Buffer>;

const POOL = {
  // The handlers' limiter admits as many calls, and so does the share of mails with bills in the worker.
  maxThreads: 2,
  // An invoice of 10,000 lines takes 120 MB in the worker thread.
  maxHeapMb: 512,
  // Thirty times as long as the longest invoice takes on an idle core.
  timeoutMs: 100_000,
};

/**
 * Returns a function that draws invoices, each in a worker thread: a thousand lines take a third of a second.
 */
export function makeInvoiceWriter(): InvoiceWriter {
  const threads = makeWorkerPool<Invoice, Uint8Array>('modules/bills/documents/pdf/invoice-worker.js', POOL);
  return async (invoice) => {
    const bytes = await threads.run(invoice);
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  };
}
