import type pg from 'pg';
import { createPool } from '../../../src/platform/db/connections/pool.js';
import type { QueueLine } from '../../../src/platform/queue/log.js';
import { runQueue, type Tasks } from '../../../src/platform/queue/runner.js';
import { NO_TASKS } from './no-tasks.js';

/** The queue of one process, with connections of its own. */
export type QueueProcess = {
  queue: ReturnType<typeof runQueue>;
  pool: pg.Pool;
  /** Stops it as a process does. Returns whether all jobs have ended. */
  end(): Promise<boolean>;
};

/** Starts the queue of a process with the tasks that a test names, and a heartbeat of one second. */
export function startQueue(
  url: string,
  tasks: Partial<Tasks>,
  { assumeRole = 'crossdock_app', log = () => undefined }: Options = {},
): QueueProcess {
  const pool = createPool({ url, assumeRole, size: 4, isPipelined: false, onError: () => undefined });
  const queue = runQueue({
    pg: pool,
    tasks: { ...NO_TASKS, ...tasks },
    concurrency: 4,
    heartbeatSeconds: 1,
    log,
  });
  return {
    queue,
    pool,
    async end() {
      const isQuiet = await queue.stop(15_000);
      await pool.end();
      return isQuiet;
    },
  };
}

type Options = { assumeRole?: string; log?: (line: QueueLine) => void };
