import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { projectRoot } from '../../../config/project-root.js';
import type { Answer } from './sync-answer.js';

// From dist/ in tests as well: a thread runs what node can read.
const WORKER_FILE = join(projectRoot, 'dist', 'src', 'modules', 'customers', 'sync', 'sync-worker.js');
// 20 MiB take it 120 MB and a second or two
const MAX_HEAP_MB = 512;
const READING_MS = 60_000;

/**
 * Reads an answer in a thread of its own, which ends with it: 20 MiB would hold the event loop for a second, and
 * nobody knows what is in them.
 */
export async function readAnswerApart(body: Buffer): Promise<Answer> {
  const worker = new Worker(WORKER_FILE, {
    // none of our secrets, none of the flags that we were started with
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  });
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<Answer>((resolve, reject) => {
      const giveUp = () =>
        resolve({ fault: 'The answer takes too much to read. Send fewer and shorter records.' });
      timer = setTimeout(giveUp, READING_MS);
      worker.once('message', resolve);
      // out of memory is the answer's doing, anything else is ours
      worker.once('error', (error) =>
        'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? giveUp() : reject(error),
      );
      worker.once('exit', () => reject(new Error('The thread that read an answer ended without a word.')));
      worker.postMessage(body);
    });
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}
