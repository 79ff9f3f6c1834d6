/**
 * Returns the seconds between a failed attempt and the next one, or undefined if there is none.
 * @param attempts the number of attempts so far, including the failed one
 */
export function retryAfterSeconds(schedule: number[], origin: string, attempts: number): number | undefined {
  // A test is not retried, because its sender waits for the result.
  return origin === 'test' ? undefined : schedule[attempts - 1];
}
