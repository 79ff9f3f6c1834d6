import type { Handlers } from '../../../../generated/handlers.js';
import { makeKeyedLimiter } from '../../../platform/concurrency/keyed-limiter.js';
import { limiterKeyOf } from '../../../platform/identity/callers.js';
import { makeLogoPrinter } from '../../couriers/public.js';
import type { Deps } from '../../dependencies.js';
import { downloadBill } from './documents.js';
import { makeInvoiceWriter } from './pdf/writer.js';

/**
 * Limited per courier, so that one courier's large bills do not block the others. Each file needs a worker
 * thread.
 */
const MAX_CONCURRENT_FILES = 2;
const FILE_QUEUE = { maxWaiting: 20, maxWaitMs: 15_000, retryAfterSeconds: 5 };

export function billDocumentHandlers({ drawLogo }: Deps) {
  const files = makeKeyedLimiter({ concurrency: MAX_CONCURRENT_FILES, ...FILE_QUEUE });
  const printing = { printLogo: makeLogoPrinter(drawLogo), writeInvoice: makeInvoiceWriter() };

  return {
    downloadCourierBill: async ({ ctx, query }) => ({
      statusCode: 200,
      file: await files.run(limiterKeyOf(ctx.caller), () => downloadBill(ctx, query, printing)),
    }),
  } satisfies Pick<Handlers, 'downloadCourierBill'>;
}
