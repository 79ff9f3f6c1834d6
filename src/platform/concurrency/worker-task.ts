import { parentPort } from 'node:worker_threads';

/** The message that a worker pool sends to a thread. */
export type WorkerTask<Message> = { id: number; message: Message };

/**
 * Returns the default export of a thread's file, which piscina calls for each task. An error ends the thread, because the
 * libraries in use may be in an inconsistent state.
 */
export function makeWorkerTask<Message, Result>(work: (message: Message) => Result | Promise<Result>) {
  return async ({ id, message }: WorkerTask<Message>): Promise<Result> => {
    // The time limit of the task starts here, not while the thread loads.
    parentPort?.postMessage(id);
    try {
      return await work(message);
    } catch (error) {
      return endThread(error);
    }
  };
}

/** Throws outside of the promise chain. Otherwise piscina would return the error and keep the thread. */
function endThread(error: unknown): Promise<never> {
  setImmediate(() => {
    throw error;
  });
  return new Promise(() => {});
}
