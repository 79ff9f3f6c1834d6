import { readlinkSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';

/** The message that a worker pool sends to a thread. */
export type WorkerTask<Message> = { id: number; message: Message; isBackground: boolean };

/**
 * Returns the default export of a thread's file, which piscina calls for each task. An error ends the thread, because the
 * libraries in use may be in an inconsistent state.
 */
export function makeWorkerTask<Message, Result>(work: (message: Message) => Result | Promise<Result>) {
  let hasPriority = false;
  return async ({ id, message, isBackground }: WorkerTask<Message>): Promise<Result> => {
    if (isBackground && !hasPriority) lowerPriority();
    hasPriority = true;
    // The time limit of the task starts here, not while the thread loads.
    parentPort?.postMessage(id);
    try {
      return await work(message);
    } catch (error) {
      return endThread(error);
    }
  };
}

/** Lowers the priority of this thread. Only Linux has priorities of threads; elsewhere the thread keeps that of the process. */
function lowerPriority(): void {
  try {
    const [, thread] = /\/task\/(\d+)$/.exec(readlinkSync('/proc/thread-self')) ?? [];
    if (!thread) return;
    const lower = getPriority() + constants.priority.PRIORITY_BELOW_NORMAL;
    setPriority(Number(thread), Math.min(lower, constants.priority.PRIORITY_LOW));
  } catch {
    // Another system, or one without /proc.
  }
}

/** Throws outside of the promise chain. Otherwise piscina would return the error and keep the thread. */
function endThread(error: unknown): Promise<never> {
  setImmediate(() => {
    throw error;
  });
  return new Promise(() => {});
}
