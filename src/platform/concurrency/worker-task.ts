import { parentPort } from 'node:worker_threads';

/** What a worker pool sends to a thread. */
export type WorkerTask<Message> = { id: number; message: Message };

/**
 * Makes the default export of a thread's file, which piscina calls for each task. An error ends the thread, because it may
 * have left the libraries in use in an unusable state.
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

/** Outside of the promise chain, where piscina would answer with the error and keep the thread. */
function endThread(error: unknown): Promise<never> {
  setImmediate(() => {
    throw error;
  });
  return new Promise(() => {});
}
