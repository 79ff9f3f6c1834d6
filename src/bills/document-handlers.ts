import { availableParallelism } from 'node:os';
import type { Handlers } from '../../generated/handlers.js';
import type { Deps } from '../deps.js';
import { makeTurns } from '../turns.js';
import { downloadBill } from './documents.js';
import { makeInvoiceWriter } from './pdf/writer.js';

/** Files that are made at once, one core left to everything else; each holds a thread's heap. */
const FILES_AT_ONCE = Math.min(2, Math.max(1, availableParallelism() - 1));
const FILE_QUEUE = { maxWaiting: 20, maxWaitMs: 15_000, retryAfterSeconds: 5 };

export function billDocumentHandlers({ db }: Deps) {
  const files = makeTurns({ places: FILES_AT_ONCE, ...FILE_QUEUE });
  const writeInvoice = makeInvoiceWriter();

  return {
    downloadCourierBill: async ({ query, caller }) => ({
      statusCode: 200,
      file: await files.run(caller.userId, () => downloadBill(db, caller, query, writeInvoice)),
    }),
  } satisfies Pick<Handlers, 'downloadCourierBill'>;
}
