import { setImmediate as nextTurn } from 'node:timers/promises';

/** Other requests of the process wait at most about this long for a loop. */
const TURN_MS = 4;

/**
 * Returns a function to await in each round of a loop over a caller's items. It gives up the turn of the event loop when the loop
 * has used it for a few milliseconds, whatever the items cost.
 */
export function makePauseWhenDue(): () => Promise<void> | undefined {
  let sinceMs = performance.now();
  return () => {
    if (performance.now() - sinceMs < TURN_MS) return undefined;
    return nextTurn().then(() => {
      sinceMs = performance.now();
    });
  };
}
