import { readFileSync } from 'node:fs';

/** The transactions of a process. */
export type Transactions = {
  /** How many wait for a connection. */
  countWaiting(): number;
  /** How many have been started since the process began. */
  countStarted(): number;
};

export type Pressure = {
  /** Whether light requests wait, for a connection or because the thread that serves them waits for a processor. */
  isHigh(): boolean;
  stop(): void;
};

const INTERVAL_MS = 100;
/** The share of its time that the thread waits for a processor. Without bulk work it is a few percent. */
const MAX_WAITING_SHARE = 0.1;
/** Below 30 transactions per second nobody notices that the thread waits. */
const MIN_STARTED = 3;

/**
 * Watches whether light requests wait (decision 0048).
 *
 * @param readWaitedMs how long the thread has waited for a processor; undefined where the system does not tell it
 */
export function watchPressure(
  { countWaiting, countStarted }: Transactions,
  readWaitedMs: () => number | undefined = waitedForProcessorMs,
): Pressure {
  const read = () => ({ waitedMs: readWaitedMs() ?? 0, started: countStarted(), atMs: performance.now() });
  let last = read();
  let isLate = false;
  const timer = setInterval(() => {
    const now = read();
    const share = (now.waitedMs - last.waitedMs) / (now.atMs - last.atMs);
    isLate = share > MAX_WAITING_SHARE && now.started - last.started >= MIN_STARTED;
    last = now;
  }, INTERVAL_MS);
  timer.unref();
  return { isHigh: () => isLate || countWaiting() > 0, stop: () => clearInterval(timer) };
}

/** Linux counts for each thread how long it could have run but another one did. */
function waitedForProcessorMs(): number | undefined {
  try {
    const [, waitedNs] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ');
    return Number(waitedNs) / 1e6;
  } catch {
    return undefined;
  }
}
