import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseCronItems, run, type Runner, type TaskList, type WorkerEvents } from 'graphile-worker';
import type pg from 'pg';
import type { Jobs } from './jobs.js';
import { failingWithoutCodes } from './library-pool.js';
import { openQueueLog, type QueueLine, type QueueLog } from './log.js';
import { followServer, readPause, withoutOutbound, type SeenServer } from './outbound-pause.js';
import {
  forgetGivenUp,
  MISSED_HEARTBEATS,
  recordHeartbeat,
  recoverJobs,
  releaseJobs,
} from './worker-pools.js';
import { commandLine } from '../../config/commands.js';

/** `attempt` counts from 1. */
export type RunningJob = { id: string; attempt: number; maxAttempts: number };

/** The function for each kind of job. A job whose function throws is retried later. */
export type Tasks = { [Kind in keyof Jobs]: (payload: Jobs[Kind], job: RunningJob) => Promise<void> };

export type QueueOptions = {
  /** Connections for the queue's own statements. The tasks use another pool. */
  pg: pg.Pool;
  tasks: Tasks;
  concurrency: number;
  heartbeatSeconds: number;
  log: (line: QueueLine) => void;
};

// Cron schedules, in UTC. Exactly one replica runs each job.
const CRON_ITEMS = parseCronItems([
  { task: 'sweep', match: '* * * * *', options: { backfillPeriod: 0, maxAttempts: 1 } },
  { task: 'sealAuditLog', match: '* * * * *', options: { backfillPeriod: 0, maxAttempts: 1 } },
  { task: 'playSandboxes', match: '* * * * *', options: { backfillPeriod: 0, maxAttempts: 1 } },
  { task: 'runBackgroundMigrations', match: '* * * * *', options: { backfillPeriod: 0, maxAttempts: 1 } },
  { task: 'tellCustomers', match: '* * * * *', options: { backfillPeriod: 0, maxAttempts: 1 } },
  { task: 'tellOwnersOfFailures', match: '*/5 * * * *', options: { backfillPeriod: 0, maxAttempts: 1 } },
  { task: 'prune', match: '17 * * * *', options: { backfillPeriod: 0, maxAttempts: 3 } },
  { task: 'reportMissingPrealerts', match: '37 * * * *', options: { backfillPeriod: 0, maxAttempts: 3 } },
  { task: 'reportOverdueBills', match: '7 * * * *', options: { backfillPeriod: 0, maxAttempts: 3 } },
  { task: 'scheduleCustomerSyncs', match: '0 */8 * * *', options: { backfillPeriod: 28_800_000 } },
]);

/** For the queue's own statements: fetching and completing jobs, LISTEN, heartbeats. */
export const QUEUE_CONNECTIONS = 4;

const POLL_MS = 1_000;
const RESTART_MS = 1_000;

/** How long a runner that has ended its jobs may take to record their ends. A job whose end is recorded later may run once more. */
const RECORD_MS = 5_000;

/**
 * Runs jobs until stopped. The library's runner ends when it cannot record the end of a job, for example when the database is
 * unavailable; then it is restarted, after its running jobs have ended. Its other jobs stay locked until then.
 */
export function runQueue({ log: write, ...given }: QueueOptions) {
  const options: Running = { ...given, log: openQueueLog(write) };
  const stopping = new AbortController();
  const state: State = {
    poolId: undefined,
    lastHeartbeat: Promise.resolve(),
    isPaused: false,
    seen: undefined,
    beatsWithoutFetch: 0,
    restart: () => undefined,
  };
  const heartbeat = startHeartbeat(options, state);
  const ended = keepRunning(options, state, stopping.signal).finally(() => clearInterval(heartbeat));
  return {
    /**
     * Takes no more jobs and waits until the running ones have ended, at most `withinMs`. May be called again, to wait longer.
     *
     * @returns whether all jobs have ended. If false, running jobs stay locked and the heartbeat continues until they or the
     *   process end. Other workers recover the jobs after three missed heartbeats.
     */
    async stop(withinMs: number): Promise<boolean> {
      stopping.abort();
      const limit = sleep(withinMs, false, { ref: false });
      return Promise.race([ended.then(() => true), limit]);
    },
  };
}

type Running = Omit<QueueOptions, 'log'> & { log: QueueLog };

type State = {
  poolId: string | undefined;
  /** Resolves when the last heartbeat has been recorded, or has failed. */
  lastHeartbeat: Promise<void>;
  /** Whether the runner takes no outbound work. */
  isPaused: boolean;
  /** The server at the last heartbeat. Undefined before the first, and if PostgreSQL's provider does not allow the functions. */
  seen: SeenServer | undefined;
  /** The number of heartbeats since the last one after which jobs could be fetched. */
  beatsWithoutFetch: number;
  /** Ends the runner after its running jobs, so that another one starts. */
  restart: () => void;
};

/** Resolves after `stopping`, when no runner is being started and none runs. */
async function keepRunning(options: Running, state: State, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted) {
    try {
      await releaseLockedJobs(options, state);
      await runUntilStopped(await startRunner(options, state), state, stopping);
    } catch (error) {
      options.log.failed(`The queue stopped: ${String(error)}`);
    }
    // If the database is unavailable, the next start releases the jobs, or another worker after three missed heartbeats.
    await releaseLockedJobs(options, state).catch(() => undefined);
    // Rejects if `stop` is called during the wait. The timer keeps a worker alive that has no connection left.
    await sleep(RESTART_MS, undefined, { signal: stopping }).catch(() => undefined);
  }
}

/**
 * Unlocks the jobs that the last runner left locked, and forgets its heartbeat. None of them is running, because a runner ends
 * after its jobs.
 */
async function releaseLockedJobs({ pg }: Running, state: State): Promise<void> {
  if (!state.poolId) return;
  const poolId = state.poolId;
  state.poolId = undefined;
  // A heartbeat recorded later would show a live worker where there is none.
  await state.lastHeartbeat;
  try {
    await releaseJobs(pg, [poolId]);
  } catch (error) {
    state.poolId = poolId;
    throw error;
  }
}

/** Records a heartbeat of the current runner after the one before it. */
function beat(pg: pg.Pool, state: State): Promise<void> {
  const recorded = state.lastHeartbeat.then(async () => {
    if (state.poolId) await recordHeartbeat(pg, state.poolId);
  });
  state.lastHeartbeat = recorded.catch(() => undefined);
  return recorded;
}

/**
 * Resolves when the runner has ended, by itself or after `stopping`. A runner that has just started stops before it takes a
 * job, because its first fetch waits for the database.
 */
async function runUntilStopped(runner: Runner, state: State, stopping: AbortSignal): Promise<void> {
  // Rejects if the runner is already ending by itself.
  const stop = () => void runner.stop().catch(() => undefined);
  state.restart = stop;
  if (stopping.aborted) stop();
  else stopping.addEventListener('abort', stop, { once: true });
  const ended = new AbortController();
  try {
    await Promise.race([runner.promise, untilShutDown(runner, ended.signal)]);
    // What is left of a runner that does not end by itself, for example its schedule.
    stop();
  } finally {
    ended.abort();
    stopping.removeEventListener('abort', stop);
    state.restart = () => undefined;
  }
}

const SHUT_DOWN = [
  'pool:gracefulShutdown:complete',
  'pool:forcefulShutdown:complete',
  'pool:forcefulShutdown:error',
];

/**
 * Resolves some time after a runner has ended its jobs. Its own promise may never do: the library miscounts the ends of jobs that it could
 * not record, and waits for one that does not come (graphile-worker 0.17.3 and 0.18.0, https://github.com/graphile/worker/issues/636).
 */
async function untilShutDown({ events }: Runner, signal: AbortSignal): Promise<void> {
  await Promise.race(SHUT_DOWN.map((name) => once(events, name, { signal })));
  await sleep(RECORD_MS, undefined, { signal });
}

async function startRunner({ pg, tasks, concurrency, log }: Running, state: State): Promise<Runner> {
  // Before it takes a job: the server may be a restored one.
  state.seen = await lookAtServer(pg, state);
  state.isPaused = (await readPause(pg)) !== undefined;
  if (state.isPaused)
    log.write({ level: 'error', text: `Outbound work is paused. See ${commandLine('outbound')}.` });
  // WorkerEvents is an EventEmitter with typed event names.
  const events = new EventEmitter() as WorkerEvents;
  events.on('pool:create', ({ workerPool }) => {
    state.poolId = workerPool.id;
    beat(pg, state).catch(() => undefined);
  });
  return run({
    pgPool: failingWithoutCodes(pg),
    // It takes no job without a task.
    taskList: toTaskList(pg, state.isPaused ? withoutOutbound(tasks) : tasks),
    parsedCronItems: CRON_ITEMS,
    noHandleSignals: true,
    events,
    logger: log.library,
    preset: {
      worker: {
        concurrentJobs: concurrency,
        pollInterval: POLL_MS,
        // One shared fetch, because separate fetches of the workers would block each other on the named queues.
        localQueue: { size: concurrency },
        // Without these settings the library would not wait for a job's end to be recorded, and a failure would end the process.
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
      },
    },
  });
}

const REPEATING = new Set(CRON_ITEMS.map(({ task }) => task));

const toTaskList = (pg: pg.Pool, tasks: Partial<Tasks>): TaskList =>
  Object.fromEntries(
    Object.entries(tasks).map(([kind, task]) => [
      kind,
      async (payload, { job }) => {
        // The library types payloads as JSON; only addJobs writes them, and it is typed by Jobs.
        await task(payload as never, { id: job.id, attempt: job.attempts, maxAttempts: job.max_attempts });
        if (REPEATING.has(kind)) await forgetGivenUp(pg, kind);
      },
    ]),
  );

/** The number of heartbeats that are recorded, without a fetch in between, until the runner is replaced. */
const BEATS_WITHOUT_FETCH = 2;

/**
 * Called after each heartbeat that was recorded, so the database is there. Replaces a runner that fetches no jobs nevertheless: the library
 * reads the ids of its tasks with the first fetch, and keeps the failure of that statement for as long as the runner lives.
 */
function endOutage(state: State, log: QueueLog): void {
  if (!state.poolId) return;
  // It fetches jobs once per second, so the last fetch has worked.
  if (log.msSinceFetchFailed() > 2 * POLL_MS) {
    state.beatsWithoutFetch = 0;
    log.worked();
    return;
  }
  state.beatsWithoutFetch += 1;
  if (state.beatsWithoutFetch < BEATS_WITHOUT_FETCH) return;
  state.beatsWithoutFetch = 0;
  state.restart();
}

/** A provider of PostgreSQL may not allow its functions. If the database is unavailable, the worker keeps its memory. */
const lookAtServer = (pg: pg.Pool, { seen }: State): Promise<SeenServer | undefined> =>
  followServer(pg, seen).catch(() => seen);

function startHeartbeat({ pg, heartbeatSeconds, log }: Running, state: State): NodeJS.Timeout {
  /** The number of heartbeats in a row that were recorded in time. */
  let steadyBeats = 0;
  let lastAtMs = Date.now();
  const inspect = async () => {
    const seen = await lookAtServer(pg, state);
    await beat(pg, state);
    // The heartbeat is committed after the position, so a synchronous standby has both.
    state.seen = seen;
    // Not the monotonic clock, which stands while a machine is suspended.
    const now = Date.now();
    steadyBeats = now - lastAtMs < 2_000 * heartbeatSeconds ? steadyBeats + 1 : 0;
    lastAtMs = now;
    // Others have had time to record theirs after an outage, or after a pause of the whole machine.
    if (steadyBeats >= MISSED_HEARTBEATS) await recover();
    if (((await readPause(pg)) !== undefined) !== state.isPaused) state.restart();
    endOutage(state, log);
  };
  const recover = async () => {
    const crashed = await recoverJobs(pg, heartbeatSeconds);
    if (crashed > 0)
      log.write({ level: 'warning', text: `Recovered the jobs of ${crashed} crashed workers.` });
  };
  const tick = () => {
    inspect().catch((error: unknown) => {
      steadyBeats = 0;
      log.failed(`The heartbeat failed: ${String(error)}`);
    });
  };
  return setInterval(tick, heartbeatSeconds * 1_000).unref();
}
