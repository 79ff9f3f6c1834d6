/** Other requests of the process wait at most about this long for loops. */
const TURN_MS = 4;

/** The loops that wait for a turn of the event loop. */
const waiting: (() => void)[] = [];
/** When loops began to use the present turn of the event loop. Undefined if none has. */
let sinceMs: number | undefined;

/**
 * To be awaited in each round of a loop over a caller's items. It gives up the turn of the event loop when loops have used it for a few
 * milliseconds, whatever the items cost. All loops of the process share this time: many requests at once would otherwise each use it.
 */
export function pauseWhenDue(): Promise<void> | undefined {
  const nowMs = performance.now();
  if (sinceMs === undefined) begin(nowMs);
  else if (nowMs - sinceMs >= TURN_MS) return pause();
  return undefined;
}

/** Waits for a turn in any case, for loops whose rounds take a millisecond or more. The loop that waits longest is next. */
export function pause(): Promise<void> {
  if (sinceMs === undefined) begin(performance.now());
  return new Promise((resolve) => waiting.push(resolve));
}

function begin(nowMs: number): void {
  sinceMs = nowMs;
  // It runs after the requests that the event loop has received meanwhile.
  setImmediate(startNext);
}

function startNext(): void {
  sinceMs = undefined;
  const resume = waiting.shift();
  if (!resume) return;
  begin(performance.now());
  resume();
}
