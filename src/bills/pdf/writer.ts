import { createHash } from 'node:crypto';
import { makeThreads } from '../../threads.js';
import type { Message } from './invoice-worker.js';
import type { Invoice, Logo } from './invoice.js';

export type InvoiceWriter = (invoice: Invoice) => Promise<Buffer>;

// 10,000 lines take 120 MB there.
const MAX_HEAP_MB = 512;
// a plain one takes 50 ms, and 4 s in a new thread of a machine that has ten times as much to do as it can
const LOGO_MS = 20_000;
// thirty times what the longest takes of an idle core
const INVOICE_MS = 100_000;
const GIVEN_UP_MS = 600_000;
const MAX_GIVEN_UP = 1_000;
// 25 MB at most; to paint one takes longer than the rest of a short invoice
const KEPT = { logos: 100, bytes: 256 * 1024 };

/** Draws invoices, each in a thread: a thousand lines take a third of a second. */
export function makeInvoiceWriter(): InvoiceWriter {
  const threads = makeThreads('bills/pdf/invoice-worker.js', MAX_HEAP_MB);
  const ask = (message: Message, timeoutMs: number) => threads.ask(message, timeoutMs);
  // until when; so that a logo made to take long does so once, and not for every invoice
  const givenUp = new Map<string, number>();
  const kept = new Map<string, Logo>();

  function keep(name: string, logo: Logo): Logo {
    const [oldest] = kept.keys();
    if (kept.size >= KEPT.logos && oldest !== undefined) kept.delete(oldest);
    if (logo.content.length <= KEPT.bytes) kept.set(name, logo);
    return logo;
  }

  /** An invoice without its logo is an invoice: one that takes too long or cannot be drawn is left out. */
  async function prepare(logo: Logo | undefined): Promise<Logo | undefined> {
    if (!logo) return undefined;
    const name = createHash('sha256').update(logo.mediaType).update(logo.content).digest('hex');
    if ((givenUp.get(name) ?? 0) > Date.now()) return undefined;
    try {
      // as: what the thread answers with
      return kept.get(name) ?? keep(name, (await ask({ logo }, LOGO_MS)) as Logo);
    } catch {
      if (givenUp.size >= MAX_GIVEN_UP) givenUp.clear();
      givenUp.set(name, Date.now() + GIVEN_UP_MS);
      return undefined;
    }
  }

  return async (invoice) => {
    const logo = await prepare(invoice.logo);
    // as: what the thread answers with
    const bytes = (await ask({ invoice: { ...invoice, logo } }, INVOICE_MS)) as Uint8Array;
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  };
}
