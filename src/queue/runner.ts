import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseCronItems, run, type Runner, type TaskList, type WorkerEvents } from 'graphile-worker';
import type pg from 'pg';
import type { Jobs } from './jobs.js';
import { queueLogger, type QueueLine } from './log.js';
import { beat, reclaim, release } from './pools.js';

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
  /** Takes no more jobs, and answers when those under way have ended or `withinMs` are over. */
  stop(withinMs: number): Promise<void>;
};

// When what happens by the clock, in UTC; of all replicas one does it.
const CLOCK = parseCronItems([
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
  const state: State = { isStopping: false, poolId: undefined, runner: undefined };
  const heart = startHeart(options, state);
  const ended = keepRunning(options, state);
  return {
    async stop(withinMs) {
      state.isStopping = true;
      const stopped = state.runner?.stop().catch(() => undefined);
      await Promise.race([stopped ?? ended, sleep(withinMs, undefined, { ref: false })]);
      clearInterval(heart);
      if (state.poolId) await release(options.pg, [state.poolId]).catch(() => undefined);
    },
  };
}

type State = { isStopping: boolean; poolId: string | undefined; runner: Runner | undefined };

async function keepRunning(options: QueueOptions, state: State): Promise<void> {
  while (!state.isStopping) {
    try {
      state.runner = await startRunner(options, state);
      await state.runner.promise;
    } catch (error) {
      options.log({ level: 'error', text: `The queue stopped: ${String(error)}` });
    }
    await sleep(RESTART_MS, undefined, { ref: false });
    // nothing of the pool that ended runs any more
    if (state.poolId) await release(options.pg, [state.poolId]).catch(() => undefined);
  }
}

function startRunner({ pg, tasks, concurrency, log }: QueueOptions, state: State): Promise<Runner> {
  const events = new EventEmitter() as WorkerEvents; // as: an emitter with typed names
  events.on('pool:create', ({ workerPool }) => {
    state.poolId = workerPool.id;
    beat(pg, workerPool.id).catch(() => undefined);
  });
  return run({
    pgPool: pg,
    // as: the library knows no more of payloads than that they are JSON; Jobs says what each kind's is
    taskList: tasks as TaskList,
    parsedCronItems: CLOCK,
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

function startHeart({ pg, heartbeatSeconds, log }: QueueOptions, state: State): NodeJS.Timeout {
  const pulse = async () => {
    if (state.poolId) await beat(pg, state.poolId);
    const dead = await reclaim(pg, heartbeatSeconds);
    if (dead > 0) log({ level: 'warning', text: `Took over the jobs of ${dead} dead workers.` });
  };
  const tick = () => {
    pulse().catch((error: unknown) => log({ level: 'warning', text: `No sign of life: ${String(error)}` }));
  };
  return setInterval(tick, heartbeatSeconds * 1_000).unref();
}
