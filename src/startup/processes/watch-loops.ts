import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Child } from './fork.js';

const INTERVAL_MS = 5_000;
/** As long as an orchestrator repeats a health check that fails, three times ten seconds. */
const LIMIT_MS = 30_000;

/**
 * Kills child processes whose event loop does not turn for 30 seconds. Health checks would not find them, because other processes answer
 * them.
 *
 * @returns stops it
 */
export function watchLoops(children: () => Child[], log: Pick<Logger, 'error'>): () => void {
  const waiting = new Set<Child>();
  async function check(child: Child): Promise<void> {
    if (!child.isServing() || waiting.has(child)) return;
    waiting.add(child);
    const answer = child.ping().then(
      () => true,
      () => true,
    );
    const isTurning = await Promise.race([answer, sleep(LIMIT_MS, false, { ref: false })]);
    waiting.delete(child);
    if (isTurning) return;
    log.error(
      { event: 'process.stuck', childPid: child.pid },
      'a process of the server is stuck and is killed',
    );
    child.kill();
  }
  const timer = setInterval(() => children().forEach((child) => void check(child)), INTERVAL_MS).unref();
  return () => clearInterval(timer);
}
