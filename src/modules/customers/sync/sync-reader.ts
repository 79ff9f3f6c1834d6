import { WorkerTaskError } from '../../../platform/concurrency/task-limit.js';
import { makeWorkerPool } from '../../../platform/concurrency/worker-pool.js';
import type { SyncResponse } from './sync-response.js';

export type ResponseReader = (body: Buffer) => Promise<SyncResponse>;

const POOL = {
  // A response of 20 MiB takes 120 MB and one to two seconds.
  maxHeapMb: 512,
  timeoutMs: 60_000,
};

/** A thread ends after one response, so that its heap is free until the next synchronisation. */
const IDLE_MS = 0;

/**
 * Returns a function that reads responses in worker threads. 20 MiB of untrusted content would block the event
 * loop for a second.
 *
 * @param maxThreads the number of responses that are read at the same time
 */
export function makeResponseReader(maxThreads: number, idleMs = IDLE_MS): ResponseReader {
  const threads = makeWorkerPool<Uint8Array, SyncResponse>('modules/customers/sync/sync-worker.js', {
    ...POOL,
    maxThreads,
    idleMs,
  });
  return async (body) => {
    try {
      return await threads.run(body);
    } catch (error) {
      if (!isTooLarge(error)) throw error;
      const message = 'The response takes too much time or memory to read. Send fewer or shorter records.';
      return { error: message, reason: 'list_too_large' };
    }
  };
}

/** Only the response can exceed the time or memory limit. Any other error is a defect of the service. */
function isTooLarge(error: unknown): boolean {
  return error instanceof WorkerTaskError && error.reason !== 'error';
}
