import { join } from 'node:path';
import { Piscina } from 'piscina';
import { projectRoot } from '../../config/project-root.js';
import { ApiError } from '../errors/errors.js';
import type { WorkerTask } from './worker-task.js';

/** Starting a thread takes about half as long as a task, but an idle thread keeps its memory. */
const IDLE_MS = 10_000;
/** Starting a thread takes half a second, and ten times that on an overloaded machine. */
const STARTING_MS = 30_000;
const RETRY_AFTER_SECONDS = 5;

export type WorkerPoolOptions = {
  /** At least the number of concurrent tasks that the caller's limiter allows. */
  maxThreads: number;
  /**
   * A thread that exceeds it step by step is terminated, and the process continues. One large allocation beyond it, such as a text or a map
   * of many megabytes, aborts the process: whoever makes a task of untrusted input bounds each text and list before it is made.
   */
  maxHeapMb: number;
  /** The time limit of a task. It starts when the thread has loaded. */
  timeoutMs: number;
  /** How long a thread waits for another task before it ends. */
  idleMs?: number;
  /** How long a task waits for a thread. */
  startingMs?: number;
  /**
   * Runs the threads at a low priority, so that they do not delay the thread that serves requests. Only for a generous
   * `timeoutMs`: on a busy machine the tasks take several times as long.
   */
  isBackground?: boolean;
};

export type WorkerPool<Message, Result> = {
  /**
   * Runs one task in a thread.
   *
   * @param ended ends the thread, or the wait for one, when nobody needs the result any more
   * @throws the reason of `ended`; WorkerTaskError if the task ended its thread: by an error, the heap limit or the time limit;
   *   ApiError overloaded if no thread was free or started in time; Error if a thread failed while it loaded
   */
  run(message: Message, ended?: AbortSignal): Promise<Result>;
};

/** A task that a thread did not finish. */
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

/**
 * A pool of threads for work that takes long and cannot be interrupted. Each thread runs one task at a time.
 *
 * @param file the path below dist/src. Always the built file, because a thread has no compiler, even in tests
 */
export function makeWorkerPool<Message, Result>(
  file: string,
  {
    maxThreads,
    maxHeapMb,
    timeoutMs,
    idleMs = IDLE_MS,
    startingMs = STARTING_MS,
    isBackground = false,
  }: WorkerPoolOptions,
): WorkerPool<Message, Result> {
  const pool = new Piscina<WorkerTask<Message>, Result>({
    filename: join(projectRoot, 'dist', 'src', file),
    minThreads: 0,
    maxThreads,
    idleTimeout: idleMs,
    // Atomics.wait would block asynchronous work that a library continues after a task.
    atomics: 'disabled',
    // Threads must not get the process's secrets and flags.
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
  });
  const unstarted = new Map<number, ReturnType<typeof makeTimeLimit>>();
  let lastId = 0;
  pool.on('message', (id: number) => unstarted.get(id)?.start());
  // Piscina only emits this event if a thread fails while it loads; its tasks would wait forever.
  pool.on('error', (error) => {
    for (const limit of unstarted.values()) limit.fail(notStarted(file, error));
  });

  return {
    async run(message, ended) {
      const id = (lastId += 1);
      const limit = makeTimeLimit({ startingMs, timeoutMs }, () => unstarted.delete(id));
      unstarted.set(id, limit);
      const onEnded = () => limit.fail(ended?.reason);
      if (ended?.aborted) onEnded();
      ended?.addEventListener('abort', onEnded, { once: true });
      try {
        return await pool.run({ id, message, isBackground }, { signal: limit.signal });
      } catch (error) {
        if (limit.signal.aborted) throw limit.signal.reason;
        throw toTaskError(error);
      } finally {
        ended?.removeEventListener('abort', onEnded);
        limit.end();
      }
    },
  };
}

const notStarted = (file: string, cause: unknown) =>
  new Error(`The thread ${file} did not start.`, { cause });

function toTaskError(cause: unknown): WorkerTaskError {
  // Node rebuilds the error of a thread from its properties. It need not be an instance of our Error.
  const { code, message } = Object(cause) as { code?: unknown; message?: unknown };
  const reason = code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'memory' : 'error';
  return new WorkerTaskError(reason, String(message ?? cause), { cause });
}

/** Limits the time until a task starts, and then the time of the task itself. */
function makeTimeLimit(
  { startingMs, timeoutMs }: { startingMs: number; timeoutMs: number },
  onStart: () => void,
) {
  const aborting = new AbortController();
  const fail = (reason: unknown) => aborting.abort(reason);
  let timer = setTimeout(() => {
    fail(new ApiError('overloaded', { retryAfterSeconds: RETRY_AFTER_SECONDS }));
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
