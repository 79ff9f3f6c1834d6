import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { projectRoot } from '../../../config/project-root.js';
import type { SyncResponse } from './sync-response.js';

// From dist/ in tests too, because a worker thread runs compiled JavaScript.
const WORKER_FILE = join(projectRoot, 'dist', 'src', 'modules', 'customers', 'sync', 'sync-worker.js');
// A response of 20 MiB takes 120 MB and one to two seconds.
const MAX_HEAP_MB = 512;
const READING_MS = 60_000;

/**
 * Reads a response in a new worker thread, which is terminated afterwards. 20 MiB of untrusted content would
 * block the event loop for a second.
 */
export async function readInWorker(body: Buffer): Promise<SyncResponse> {
  const worker = new Worker(WORKER_FILE, {
    // The thread gets neither the environment's secrets nor this process's flags.
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  });
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<SyncResponse>((resolve, reject) => {
      const giveUp = () =>
        resolve({ fault: 'The answer takes too much to read. Send fewer and shorter records.' });
      timer = setTimeout(giveUp, READING_MS);
      worker.once('message', resolve);
      // Only the response can exhaust the memory. Any other error is a defect of the service.
      worker.once('error', (error) =>
        'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? giveUp() : reject(error),
      );
      worker.once('exit', () => reject(new Error('The worker thread exited without a result.')));
      worker.postMessage(body);
    });
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}
