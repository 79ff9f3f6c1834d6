/**
 * How many seconds after a failed attempt the next one is due; undefined when there is none.
 *
 * @param attempts how many there have been, this one included
 */
export function retryAfterSeconds(schedule: number[], origin: string, attempts: number): number | undefined {
  // who asks for a test waits for its result
  return origin === 'test' ? undefined : schedule[attempts - 1];
}
