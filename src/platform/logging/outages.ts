/** How often the log repeats a failure that lasts. What fails is tried about once per second. */
const REPEAT_MS = 60_000;

/** Writes the lines of an outage. */
export type OutageLines<Failure> = {
  /** @param count the failures since the line before, this one included */
  failed(failure: Failure, count: number): void;
  /** @param count the failures since the first line of the outage */
  ended(count: number): void;
};

/**
 * Returns a function that takes the outcome of each attempt: a failure, or undefined. It writes a line for the first failure, for one with
 * another reason than the one before, once per minute while the failures last, and for the end.
 *
 * @param now the time in milliseconds, from any beginning
 */
export function recordOutages<Failure extends { reason: string }>(
  lines: OutageLines<Failure>,
  now = () => performance.now(),
): (outcome: Failure | undefined) => void {
  let reason: string | undefined;
  let loggedAtMs = -Infinity;
  let sinceLine = 0;
  let sinceStart = 0;

  function end(): void {
    if (reason === undefined) return;
    reason = undefined;
    lines.ended(sinceStart);
    sinceLine = sinceStart = 0;
  }

  return (outcome) => {
    if (!outcome) {
      end();
      return;
    }
    sinceLine += 1;
    sinceStart += 1;
    if (outcome.reason === reason && now() < loggedAtMs + REPEAT_MS) return;
    ({ reason } = outcome);
    loggedAtMs = now();
    lines.failed(outcome, sinceLine);
    sinceLine = 0;
  };
}
