import { makeWorkerPool, WorkerTaskError } from '../../../platform/concurrency/worker-pool.js';
import type { Answer } from './sync-answer.js';

export type AnswerReader = (body: Buffer) => Promise<Answer>;

const POOL = {
  // 20 MiB take it 120 MB and a second or two
  maxHeapMb: 512,
  timeoutMs: 60_000,
  // A thread ends after one answer, so that its heap is free until the next synchronisation.
  idleMs: 0,
};

/**
 * Reads answers in threads. 20 MiB would block the event loop for a second, and their content is not trusted.
 *
 * @param maxThreads how many answers are read at once
 */
export function makeAnswerReader(maxThreads: number): AnswerReader {
  const threads = makeWorkerPool<Uint8Array, Answer>('modules/customers/sync/sync-worker.js', {
    ...POOL,
    maxThreads,
  });
  return async (body) => {
    try {
      return await threads.run(body);
    } catch (error) {
      if (!isTooLarge(error)) throw error;
      return { fault: 'The answer takes too much to read. Send fewer and shorter records.' };
    }
  };
}

/** The answer causes a lack of time or memory. Any other error is ours. */
function isTooLarge(error: unknown): boolean {
  return error instanceof WorkerTaskError && error.reason !== 'error';
}
