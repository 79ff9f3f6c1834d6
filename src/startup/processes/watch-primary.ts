import type { Ask } from '../../platform/limits/shared/limits-of-primary.js';

export type PrimaryWatch = {
  /** Rejects at once while the primary process does not answer. A call that waits when it stops answering rejects, too. */
  ask: Ask;
};

const INTERVAL_MS = 1_000;
/** So many questions in a row without an answer. A primary process does little, so it answers at once. */
const MISSED = 3;

type Options = {
  ping(): Promise<void>;
  /** @param isAnswering whether the primary process answers again, or no longer */
  onChange(isAnswering: boolean): void;
};

/**
 * Asks the primary process each second whether it answers. A call to it may wait for long, for example for a permit, so that the call's
 * own time says nothing. A process that hangs keeps its channel open, unlike one that has ended.
 */
export function watchPrimary({ ping, onChange }: Options): PrimaryWatch {
  const waiting = new Set<() => void>();
  let missed = 0;
  let isAsked = false;
  let isAnswering = true;

  function note(answers: boolean): void {
    missed = answers ? 0 : missed;
    if (answers === isAnswering) return;
    isAnswering = answers;
    onChange(answers);
    if (answers) return;
    const giveUps = [...waiting];
    waiting.clear();
    for (const giveUp of giveUps) giveUp();
  }

  function tick(): void {
    if (isAsked) {
      // One per second at most, also if the event loop of this process was late.
      missed += 1;
      if (missed >= MISSED) note(false);
      return;
    }
    isAsked = true;
    // A channel that is closed rejects. The process ends then.
    ping().then(
      () => {
        isAsked = false;
        note(true);
      },
      () => stop(),
    );
  }

  const timer = setInterval(tick, INTERVAL_MS);
  timer.unref();
  const stop = () => clearInterval(timer);

  return {
    ask(call, onLate = () => undefined) {
      if (!isAnswering) return Promise.reject(new Error('The primary process does not answer.'));
      const answer = call();
      return new Promise((resolve, reject) => {
        let isGivenUp = false;
        const giveUp = () => {
          isGivenUp = true;
          reject(new Error('The primary process does not answer.'));
        };
        waiting.add(giveUp);
        answer
          .finally(() => waiting.delete(giveUp))
          .then((value) => (isGivenUp ? onLate(value) : resolve(value)))
          .catch(reject);
      });
    },
  };
}
