import { ApiError } from '../errors/errors.js';

/** Starting a thread or a process takes half a second, and ten times that on an overloaded machine. */
export const STARTING_MS = 30_000;
const RETRY_AFTER_SECONDS = 5;

/** What runs tasks outside the thread that serves requests. */
export type TaskRunner<Message, Result> = {
  /**
   * Runs one task.
   *
   * @param ended ends the thread or process, or the wait for one, when nobody needs the result any more
   * @throws the reason of `ended`; WorkerTaskError if the task ended its thread or process: by an error, the memory or the time limit;
   *   ApiError overloaded if none was free or started in time; Error if it failed while it loaded
   */
  run(message: Message, ended?: AbortSignal): Promise<Result>;
};

/** A task that was not finished. */
export class WorkerTaskError extends Error {
  constructor(
    /** Which limit the task exceeded, or that it threw an error. */
    readonly reason: 'time' | 'memory' | 'error',
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The machine has too much work for a task. */
export const tooMuchWork = (): ApiError =>
  new ApiError('overloaded', { retryAfterSeconds: RETRY_AFTER_SECONDS });

/**
 * For tasks whose size is limited, so that only a machine with too much work lets them exceed their limits.
 * @throws ApiError overloaded if a task exceeds its time or memory
 */
export async function orOverloaded<Result>(task: Promise<Result>): Promise<Result> {
  try {
    return await task;
  } catch (error) {
    if (error instanceof WorkerTaskError && error.reason !== 'error') throw tooMuchWork();
    throw error;
  }
}

/** Limits the time until a task starts, and then the time of the task itself. */
export function makeTimeLimit(
  { startingMs, timeoutMs }: { startingMs: number; timeoutMs: number },
  onStart: () => void = () => undefined,
) {
  const aborting = new AbortController();
  const fail = (reason: unknown) => aborting.abort(reason);
  let timer = setTimeout(() => {
    fail(tooMuchWork());
  }, startingMs);
  const end = () => {
    clearTimeout(timer);
    onStart();
  };
  return {
    signal: aborting.signal,
    fail,
    end,
    start(): void {
      end();
      const error = new WorkerTaskError('time', `No answer within ${timeoutMs} ms.`);
      // A result that arrived while the event loop was busy is read first.
      timer = setTimeout(() => setImmediate(fail, error), timeoutMs);
    },
  };
}
