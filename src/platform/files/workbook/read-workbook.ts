import { makeWorkerPool, WorkerTaskError, type WorkerPool } from '../../concurrency/worker-pool.js';
import type { UploadedFile } from '../../contract/types.js';
import { ApiError, invalidFieldError } from '../../errors/errors.js';
import { makeOwnLimits, type SharedLimits } from '../../limits/shared/shared-limits.js';
import type { ReadWorkbook, SheetCsv } from './workbook-csv.js';

// A sheet with 1,000,000 cells takes 200 MB.
const MAX_HEAP_MB = 384;
// Several times as long as the largest workbook takes on a busy machine. The reader's time grows with the size, not faster.
const TIMEOUT_MS = 60_000;

/** One workbook at a time in a server: the memory of its thread is the largest of a request. Tenants and couriers take turns. */
const QUEUE = { concurrency: 1, maxWaiting: 32, maxWaitMs: 30_000, retryAfterSeconds: 5 };

export type WorkbookOwner = { tenantId: string; courierId: string };

/**
 * Reads the first sheet with content of an uploaded workbook (.xlsx) in a worker thread. The thread ends when the client leaves.
 * @throws ApiError validation_failed for a workbook that cannot be read; overloaded if too many wait
 */
export type WorkbookReader = (owner: WorkbookOwner, file: UploadedFile) => Promise<SheetCsv>;

export function makeWorkbookReader(
  limits: SharedLimits = makeOwnLimits(),
  {
    timeoutMs = TIMEOUT_MS,
    maxHeapMb = MAX_HEAP_MB,
  }: { timeoutMs?: number | undefined; maxHeapMb?: number } = {},
): WorkbookReader {
  const threads = makeWorkerPool<string, ReadWorkbook>('platform/files/workbook/workbook-worker.js', {
    maxThreads: QUEUE.concurrency,
    maxHeapMb,
    timeoutMs,
  });
  const limiter = limits.keyedLimiter('workbooks', QUEUE);
  return ({ tenantId, courierId }, { path, closed }) =>
    limiter.run(`${tenantId} ${courierId}`, () => readIn(threads, path, closed), { tenant: tenantId });
}

async function readIn(
  threads: WorkerPool<string, ReadWorkbook>,
  path: string,
  closed: AbortSignal,
): Promise<SheetCsv> {
  const read = await threads.run(path, closed).catch((error: unknown) => {
    // Nobody reads this response. A code that is never stored for an Idempotency-Key.
    if (closed.aborted) throw new ApiError('overloaded', { retryAfterSeconds: QUEUE.retryAfterSeconds });
    if (error instanceof WorkerTaskError && error.reason !== 'error')
      throw invalidFieldError('file', 'workbook_complex');
    throw error;
  });
  if ('problem' in read) throw invalidFieldError('file', ...read.problem);
  return read.found;
}
