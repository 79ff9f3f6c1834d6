import { readFileSync } from 'node:fs';

/** CPU time of this thread in milliseconds. Other threads and programs do not count. */
export const workedMs = (): number =>
  Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;

/** Returns the longest time in milliseconds that the event loop was blocked by its own work. */
export async function longestBlockMs(work: () => Promise<unknown>): Promise<number> {
  let [before, longest] = [workedMs(), 0];
  const tick = setInterval(() => {
    const now = workedMs();
    [before, longest] = [now, Math.max(longest, now - before)];
  }, 2);
  await work();
  clearInterval(tick);
  return Math.max(longest, workedMs() - before);
}
