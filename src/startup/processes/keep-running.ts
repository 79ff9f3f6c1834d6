import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { ConfigError } from '../../config/config.js';
import type { StartOrder, StopOrder } from './channel.js';
import { describe, type Child, type Ending } from './fork.js';

/** A place of the server that always has a child process. */
export type Kept = {
  /** Runs until `stop`. @throws ConfigError if no process of the server serves, and none can be started */
  running: Promise<void>;
  child(): Child;
  /** Tells the process to stop, and resolves when it has ended. */
  stop(order: StopOrder): Promise<void>;
};

export type KeptOptions = {
  first: Child;
  fork(): Child;
  order(): StartOrder;
  /** Whether another process of the same role serves. */
  hasOthers(): boolean;
  log: Pick<Logger, 'error' | 'info'>;
};

const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 30_000;
/** A process that ran for this long has not failed to start. */
const STEADY_MS = 60_000;
/** With the pauses between them, this takes four seconds and the starts. */
const MAX_FAILURES = 5;
/** Before the primary process itself must end. */
const KILL_MS = 9_000;

/** Starts a child process again when it ends, after a pause that doubles with each failure. */
export function keepRunning({ first, fork, order, hasOthers, log }: KeptOptions): Kept {
  const stopping = new AbortController();
  const isStopping = () => stopping.signal.aborted;
  let child = first;
  let failures = 0;

  async function run(): Promise<void> {
    for (;;) {
      const startedMs = performance.now();
      const ending = await child.ended;
      if (isStopping()) return;
      failures = performance.now() - startedMs > STEADY_MS ? 1 : failures + 1;
      if (failures >= MAX_FAILURES && !child.hasStarted() && !hasOthers()) throw hopeless(ending);
      const pauseMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1));
      // Status 0: somebody told the process to stop, and perhaps the whole server.
      if (ending.code !== 0) report(ending, pauseMs);
      await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (isStopping()) return;
      if (ending.code === 0) report(ending, pauseMs);
      child = fork();
      child.start(order());
    }
  }

  function report(ending: Ending, pauseMs: number): void {
    const { pid, role } = child;
    const level = ending.code === 0 ? 'info' : 'error';
    log[level](
      { event: 'process.ended', childPid: pid, role, ...ending, pauseMs },
      `a process of the server ended with ${describe(ending)}, another one is started`,
    );
  }

  return {
    running: run(),
    child: () => child,
    async stop(given) {
      stopping.abort();
      child.stop(given);
      const timer = setTimeout(() => {
        log.error({ childPid: child.pid }, 'a process of the server does not end in time and is killed');
        child.kill();
      }, KILL_MS);
      await child.ended;
      clearTimeout(timer);
    },
  };
}

const hopeless = (ending: Ending) =>
  new ConfigError([
    `No process of the server serves, and ${MAX_FAILURES} could not be started again. The last one ended with ${describe(ending)}.`,
  ]);
