import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { projectRoot } from '../../config/project-root.js';

/** To start one takes about as long as half of what it is asked for; to keep one takes its heap. */
const IDLE_MS = 10_000;
/** To start one takes half a second, and ten times that on a machine with ten times as much to do as it can. */
const STARTING_MS = 30_000;

export type WorkerPool = {
  /**
   * Has a thread answer one message. How many there are at once is the caller's to bound. The time begins when the
   * thread has loaded.
   *
   * @throws Unanswered when the message ended the thread: by an error, its heap's limit, or the time, after which it is
   *   ended; Error when no thread could be started
   */
  ask(message: unknown, timeoutMs?: number): Promise<unknown>;
};

/** A message that a thread did not answer; says why. */
export class Unanswered extends Error {}

/**
 * Threads for work that takes long and cannot be interrupted. Each says once that it is ready, and then answers one message
 * at a time with one; one that is done serves the next for a while, one that failed is ended.
 *
 * @param file the thread's, below dist/src: always the built one, a thread starts without the tests' compiler
 * @param maxHeapMb beyond this the thread ends, and not the service
 */
export function makeWorkerPool(file: string, maxHeapMb: number): WorkerPool {
  const idle = new Map<Worker, NodeJS.Timeout>();

  async function take(): Promise<Worker> {
    const [found] = idle;
    if (!found) return start();
    const [worker, ending] = found;
    clearTimeout(ending);
    idle.delete(worker);
    worker.ref();
    return worker;
  }

  async function start(): Promise<Worker> {
    const worker = new Worker(join(projectRoot, 'dist', 'src', file), {
      // none of our secrets, none of the flags that we were started with
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
    });
    // one that ends while nobody waits for it is not to be taken again
    worker.once('exit', () => idle.delete(worker));
    try {
      await answerOf(worker, STARTING_MS);
      return worker;
    } catch (error) {
      void worker.terminate();
      throw new Error(`The thread ${file} did not start.`, { cause: error });
    }
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
      const worker = await take();
      try {
        worker.postMessage(message);
        const answer = await answerOf(worker, timeoutMs);
        keep(worker);
        return answer;
      } catch (error) {
        void worker.terminate();
        throw error;
      }
    },
  };
}

function answerOf(worker: Worker, timeoutMs: number | undefined): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const onMessage = (answer: unknown) => {
      leave();
      resolve(answer);
    };
    const onEnd = (reason: unknown) => {
      leave();
      const why = reason instanceof Error ? reason.message : `The thread ended: ${String(reason)}.`;
      reject(new Unanswered(why, { cause: reason }));
    };
    // an answer that came while the event loop was busy is read first
    const giveUp = () => setImmediate(() => onEnd(new Error(`No answer within ${timeoutMs} ms.`)));
    const timer = timeoutMs && setTimeout(giveUp, timeoutMs);
    // one by one: removeAllListeners would take Node's own along, and the worker would answer nobody
    const leave = () => {
      if (timer) clearTimeout(timer);
      worker.off('message', onMessage).off('error', onEnd).off('exit', onEnd);
    };
    worker.on('message', onMessage).on('error', onEnd).on('exit', onEnd);
  });
}
