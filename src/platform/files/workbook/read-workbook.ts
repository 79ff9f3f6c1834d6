import { WorkerTaskError, type TaskRunner } from '../../concurrency/task-limit.js';
import { makeTaskProcesses } from '../../concurrency/task-process.js';
import type { UploadedFile } from '../../contract/types.js';
import { ApiError, invalidFieldError } from '../../errors/errors.js';
import { makeOwnLimits, type SharedLimits } from '../../limits/shared/shared-limits.js';
import { makeTimeBudget } from '../../limits/time-budget.js';
import type { ReadWorkbook, SheetCsv } from './workbook-csv.js';

// A sheet with 1,000,000 cells takes 200 MB.
const MAX_HEAP_MB = 384;
// The largest workbooks take 4 to 8 s of CPU: half a minute is enough on a machine with a load of twice its cores. Nearly half of the time
// that others wait, because two of one courier can be read before.
const TIMEOUT_MS = 30_000;

/** One workbook at a time in a server: the memory of its process is the largest of a request. Tenants and couriers take turns. */
const QUEUE = { concurrency: 1, maxWaiting: 32, maxWaitMs: 65_000, retryAfterSeconds: 5 };

/** Ten that are refused because of their time, and hundreds of ordinary ones. */
const READING = {
  policy: 'workbook-reading',
  quota: 300_000,
  windowSeconds: 60 * 60,
  unit: 'milliseconds',
} as const;

/** How long reading a workbook may take, and all workbooks of a courier within an hour, in milliseconds, and the memory of each. */
export type WorkbookLimits = { taskMs?: number; hourMs?: number; maxHeapMb?: number };

export type WorkbookOwner = { tenantId: string; courierId: string };

/**
 * Reads the first sheet with content of an uploaded workbook (.xlsx) in a process of its own, which ends when the client leaves.
 * @throws ApiError validation_failed for a workbook that cannot be read; overloaded if too many wait; quota_exceeded if those of the courier
 *   have taken too long, also refused ones
 */
export type WorkbookReader = (owner: WorkbookOwner, file: UploadedFile) => Promise<SheetCsv>;

export function makeWorkbookReader(
  limits: SharedLimits = makeOwnLimits(),
  { taskMs = TIMEOUT_MS, hourMs = READING.quota, maxHeapMb = MAX_HEAP_MB }: WorkbookLimits = {},
): WorkbookReader {
  const processes = makeTaskProcesses<string, ReadWorkbook>('platform/files/workbook/workbook-worker.js', {
    maxHeapMb,
    timeoutMs: taskMs,
  });
  const limiter = limits.keyedLimiter('workbooks', QUEUE);
  const budget = makeTimeBudget(limits, { ...READING, quota: hourMs }, 'workbook_reading', taskMs);
  return ({ tenantId, courierId }, { path, closed }) => {
    const key = `${tenantId} ${courierId}`;
    const read = async () => {
      await budget.assertLeft(key);
      return budget.spend(key, () => readIn(processes, path, closed));
    };
    return limiter.run(key, read, { tenant: tenantId });
  };
}

async function readIn(
  processes: TaskRunner<string, ReadWorkbook>,
  path: string,
  closed: AbortSignal,
): Promise<SheetCsv> {
  const read = await processes.run(path, closed).catch((error: unknown) => {
    // Nobody reads this response. A code that is never stored for an Idempotency-Key.
    if (closed.aborted) throw new ApiError('overloaded', { retryAfterSeconds: QUEUE.retryAfterSeconds });
    if (error instanceof WorkerTaskError && error.reason !== 'error')
      throw invalidFieldError('file', 'workbook_complex');
    throw error;
  });
  if ('problem' in read) throw invalidFieldError('file', ...read.problem);
  return read.found;
}
