import { readFileSync } from 'node:fs';

/** What this thread has worked so far, in milliseconds; other threads and other programs do not count. */
const workedMs = () =>
  Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;

/** The longest that the event loop was held by work of its own, in milliseconds. */
export async function heldMs(work: () => Promise<unknown>): Promise<number> {
  let [before, longest] = [workedMs(), 0];
  const tick = setInterval(() => {
    const now = workedMs();
    [before, longest] = [now, Math.max(longest, now - before)];
  }, 2);
  await work();
  clearInterval(tick);
  return Math.max(longest, workedMs() - before);
}
