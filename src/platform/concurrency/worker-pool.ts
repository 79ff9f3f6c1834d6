import { join } from 'node:path';
import { Piscina } from 'piscina';
import { projectRoot } from '../../config/project-root.js';
import { STARTING_MS, WorkerTaskError, makeTimeLimit, type TaskRunner } from './task-limit.js';
import type { WorkerTask } from './worker-task.js';

/** Starting a thread takes about half as long as a task, but an idle thread keeps its memory. */
const IDLE_MS = 10_000;

export type WorkerPoolOptions = {
  /** At least the number of concurrent tasks that the caller's limiter allows. */
  maxThreads: number;
  /**
   * A thread that exceeds it step by step is terminated, and the process continues. One large allocation beyond it, such as a text or a map
   * of many megabytes, aborts the process: whoever makes a task of untrusted input bounds each text and list before it is made, or gives
   * it a process (task-process.ts).
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
): TaskRunner<Message, Result> {
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
