import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { projectRoot } from './root.js';

/** To start one takes about as long as half of what it is asked for; to keep one takes its heap. */
const IDLE_MS = 10_000;

export type Threads = {
  /**
   * Has a thread answer one message. How many there are at once is the caller's to bound.
   *
   * @throws whatever ended the thread: its own error, its heap's limit, or the time, after which it is ended
   */
  ask(message: unknown, timeoutMs?: number): Promise<unknown>;
};

/**
 * Threads for work that takes long and cannot be interrupted. Each answers one message at a time with one; one that is
 * done serves the next for a while, one that failed is ended.
 *
 * @param file the thread's, below dist/src: always the built one, a thread starts without the tests' compiler
 * @param maxHeapMb beyond this the thread ends, and not the service
 */
export function makeThreads(file: string, maxHeapMb: number): Threads {
  const idle = new Map<Worker, NodeJS.Timeout>();

  function take(): Worker {
    const [found] = idle;
    if (!found) return start();
    const [worker, ending] = found;
    clearTimeout(ending);
    idle.delete(worker);
    worker.ref();
    return worker;
  }

  function start(): Worker {
    const worker = new Worker(join(projectRoot, 'dist', 'src', file), {
      // none of our secrets
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
    });
    // one that ends while nobody waits for it is not to be taken again
    return worker.once('exit', () => idle.delete(worker));
  }

  function keep(worker: Worker): void {
    worker.unref();
    const ending = setTimeout(() => {
      idle.delete(worker);
      void worker.terminate();
    }, IDLE_MS);
    idle.set(worker, ending.unref());
  }

  return {
    async ask(message, timeoutMs) {
      const worker = take();
      try {
        const answer = await answerOf(worker, message, timeoutMs);
        keep(worker);
        return answer;
      } catch (error) {
        void worker.terminate();
        throw error;
      }
    },
  };
}

function answerOf(worker: Worker, message: unknown, timeoutMs: number | undefined): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const onMessage = (answer: unknown) => {
      leave();
      resolve(answer);
    };
    const onEnd = (reason: unknown) => {
      leave();
      reject(reason instanceof Error ? reason : new Error(`The thread ended: ${String(reason)}.`));
    };
    const timer =
      timeoutMs && setTimeout(() => onEnd(new Error(`No answer within ${timeoutMs} ms.`)), timeoutMs);
    // one by one: removeAllListeners would take Node's own along, and the worker would answer nobody
    const leave = () => {
      if (timer) clearTimeout(timer);
      worker.off('message', onMessage).off('error', onEnd).off('exit', onEnd);
    };
    worker.on('message', onMessage).on('error', onEnd).on('exit', onEnd);
    worker.postMessage(message);
  });
}
