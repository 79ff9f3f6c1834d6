import { makeThreads } from '../../threads.js';
import type { Message } from './invoice-worker.js';
import type { Invoice, Logo } from './invoice.js';

export type InvoiceWriter = (invoice: Invoice) => Promise<Buffer>;

// 20,000 lines take 150 MB there.
const MAX_HEAP_MB = 512;
const LOGO_MS = 5_000;
const INVOICE_MS = 60_000;

/** Draws invoices, each in a thread: a thousand lines take a sixth of a second. */
export function makeInvoiceWriter(): InvoiceWriter {
  const threads = makeThreads('bills/pdf/invoice-worker.js', MAX_HEAP_MB);
  const ask = (message: Message, timeoutMs: number) => threads.ask(message, timeoutMs);

  /** An invoice without its logo is an invoice: one that takes too long or cannot be drawn is left out. */
  async function prepare(logo: Logo | undefined): Promise<Logo | undefined> {
    if (!logo) return undefined;
    // as: what the thread answers with
    return ask({ logo }, LOGO_MS).catch(() => undefined) as Promise<Logo | undefined>;
  }

  return async (invoice) => {
    const logo = await prepare(invoice.logo);
    // as: what the thread answers with
    const bytes = (await ask({ invoice: { ...invoice, logo } }, INVOICE_MS)) as Uint8Array;
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  };
}
