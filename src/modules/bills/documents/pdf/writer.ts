import { makeWorkerPool } from '../../../../platform/concurrency/worker-pool.js';
import type { Invoice } from './invoice.js';

export type InvoiceWriter = (invoice: Invoice) => Promise<Buffer>;

const POOL = {
  // as many as the handlers' limiter admits
  maxThreads: 2,
  // 10,000 lines take 120 MB there.
  maxHeapMb: 512,
  // thirty times what the longest takes of an idle core
  timeoutMs: 100_000,
};

/** Draws invoices, each in a thread: a thousand lines take a third of a second. */
export function makeInvoiceWriter(): InvoiceWriter {
  const threads = makeWorkerPool<Invoice, Uint8Array>('modules/bills/documents/pdf/invoice-worker.js', POOL);
  return async (invoice) => {
    const bytes = await threads.run(invoice);
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  };
}
