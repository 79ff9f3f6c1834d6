import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseCronItems, run, type Runner, type TaskList, type WorkerEvents } from 'graphile-worker';
import type pg from 'pg';
import type { Jobs } from './jobs.js';
import { queueLogger, type QueueLine } from './log.js';
import { recordHeartbeat, recoverJobs, releaseJobs } from './worker-pools.js';

/** What is done for each kind of job. A job that throws is done again later. */
export type Tasks = { [Kind in keyof Jobs]: (payload: Jobs[Kind]) => Promise<void> };

export type QueueOptions = {
  /** Connections for the queue's own statements; the tasks have theirs. */
  pg: pg.Pool;
  tasks: Tasks;
  concurrency: number;
  heartbeatSeconds: number;
  log: (line: QueueLine) => void;
};

export type RunningQueue = {
  /**
   * Takes no more jobs, and returns when those under way have ended, or `withinMs` are over. May be called again, to wait
   * longer.
   *
   * @returns whether nothing runs any more. If false, jobs still run: they stay locked, and the signs of life go on,
   *   until they have ended or the process has; after three missed signs other workers take them over.
   */
  stop(withinMs: number): Promise<boolean>;
};

// When what happens by the clock, in UTC; of all replicas one does it.
const CRON_ITEMS = parseCronItems([
  { task: 'sweep', match: '* * * * *', options: { backfillPeriod: 0, maxAttempts: 1 } },
  { task: 'sealAuditLog', match: '* * * * *', options: { backfillPeriod: 0, maxAttempts: 1 } },
  { task: 'prune', match: '17 * * * *', options: { backfillPeriod: 0, maxAttempts: 3 } },
  { task: 'scheduleCustomerSyncs', match: '0 */8 * * *', options: { backfillPeriod: 28_800_000 } },
]);

const POLL_MS = 1_000;
const RESTART_MS = 1_000;

/**
 * Works the queue until stopped. The library gives up when it cannot write down that a job has ended, as when the
 * database goes away; then it is started again.
 */
export function runQueue(options: QueueOptions): RunningQueue {
  const stopping = new AbortController();
  const state: State = { poolId: undefined };
  const heartbeat = startHeartbeat(options, state);
  const ended = keepRunning(options, state, stopping.signal).finally(() => clearInterval(heartbeat));
  return {
    async stop(withinMs) {
      stopping.abort();
      const limit = sleep(withinMs, false, { ref: false });
      return Promise.race([ended.then(() => true), limit]);
    },
  };
}

type State = { poolId: string | undefined };

/** Resolves after `stopping`, when no runner is being started and none runs. */
async function keepRunning(options: QueueOptions, state: State, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted) {
    try {
      await releaseLockedJobs(options, state);
      await runUntilStopped(await startRunner(options, state), stopping);
    } catch (error) {
      options.log({ level: 'error', text: `The queue stopped: ${String(error)}` });
    }
    // the database may be away: then the next start does it, or, after three missed signs of life, another worker
    await releaseLockedJobs(options, state).catch(() => undefined);
    // rejects when told to stop meanwhile
    await sleep(RESTART_MS, undefined, { ref: false, signal: stopping }).catch(() => undefined);
  }
}

/** Gives back what the last runner has left locked. None of it runs: a runner ends after its jobs. */
async function releaseLockedJobs({ pg }: QueueOptions, state: State): Promise<void> {
  if (!state.poolId) return;
  await releaseJobs(pg, [state.poolId]);
  state.poolId = undefined;
}

/**
 * Resolves when the runner has ended, by itself or because it was told to. One that has just started is stopped before it
 * takes a job: its first fetch waits for an answer of the database.
 */
async function runUntilStopped(runner: Runner, stopping: AbortSignal): Promise<void> {
  // rejects when the runner is ending by itself
  const stop = () => void runner.stop().catch(() => undefined);
  if (stopping.aborted) stop();
  else stopping.addEventListener('abort', stop, { once: true });
  try {
    await runner.promise;
  } finally {
    stopping.removeEventListener('abort', stop);
  }
}

function startRunner({ pg, tasks, concurrency, log }: QueueOptions, state: State): Promise<Runner> {
  // as: an emitter with typed names
  const events = new EventEmitter() as WorkerEvents;
  events.on('pool:create', ({ workerPool }) => {
    state.poolId = workerPool.id;
    recordHeartbeat(pg, workerPool.id).catch(() => undefined);
  });
  return run({
    pgPool: pg,
    // as: the library knows no more of payloads than that they are JSON; Jobs says what each kind's is
    taskList: tasks as TaskList,
    parsedCronItems: CRON_ITEMS,
    noHandleSignals: true,
    events,
    logger: queueLogger(log),
    preset: {
      worker: {
        concurrentJobs: concurrency,
        pollInterval: POLL_MS,
        // one fetch for all: each by itself would hold the named queues against the others
        localQueue: { size: concurrency },
        // without batches the library does not wait for a job's end to be written, and a failure ends the process
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
      },
    },
  });
}

function startHeartbeat({ pg, heartbeatSeconds, log }: QueueOptions, state: State): NodeJS.Timeout {
  const beat = async () => {
    if (state.poolId) await recordHeartbeat(pg, state.poolId);
    const dead = await recoverJobs(pg, heartbeatSeconds);
    if (dead > 0) log({ level: 'warning', text: `Took over the jobs of ${dead} dead workers.` });
  };
  const tick = () => {
    beat().catch((error: unknown) => log({ level: 'warning', text: `No sign of life: ${String(error)}` }));
  };
  return setInterval(tick, heartbeatSeconds * 1_000).unref();
}
