import { Fault } from '../errors.js';

export type Turns = {
  /**
   * Runs `work` when a place is free, first come first served.
   *
   * @throws Fault overloaded when too many wait already, or no place came free in time
   */
  inTurn<Result>(work: () => Promise<Result>): Promise<Result>;
};

/** So many at once and a short queue before them. What waits holds nothing but its request. */
export function makeTurns(places: number, maxWaiting: number, maxWaitMs: number): Turns {
  let taken = 0;
  const waiting: (() => void)[] = [];

  function take(): Promise<void> {
    if (taken < places) {
      taken += 1;
      return Promise.resolve();
    }
    if (waiting.length === maxWaiting) return Promise.reject(overloaded());
    return new Promise((resolve, reject) => {
      const start = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(start), 1);
        reject(overloaded());
      }, maxWaitMs);
      waiting.push(start);
    });
  }

  /** The place goes to the next in the queue, or is free. */
  function giveBack(): void {
    const next = waiting.shift();
    if (next) next();
    else taken -= 1;
  }

  return {
    async inTurn(work) {
      await take();
      try {
        return await work();
      } finally {
        giveBack();
      }
    },
  };
}

const overloaded = () => new Fault('overloaded', undefined, { retryAfterSeconds: 5 });
