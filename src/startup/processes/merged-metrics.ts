import { setTimeout as sleep } from 'node:timers/promises';
import { growingOf, mergeMetrics, type MetricObject } from '../../platform/metrics/merge.js';
import type { Child } from './fork.js';

export type MergedMetrics = {
  /** Adds a child process until it ends. */
  add(child: Child): void;
  /** Returns the metrics of all child processes, and what those that have ended have counted. */
  read(): Promise<MetricObject[][]>;
};

/** Shorter than the 5 s that a scrape may take. */
const READ_MS = 2_000;

/**
 * Collects the metrics of child processes. Counters never fall when a process ends: what was last read of it stays. A process that does
 * not answer in time has its last values.
 */
export function openMergedMetrics(): MergedMetrics {
  const children = new Set<Child>();
  let ofEnded = Promise.resolve<MetricObject[]>([]);

  async function refresh(child: Child): Promise<void> {
    const late = sleep(READ_MS, undefined, { ref: false });
    const read = child.readMetrics().catch(() => undefined);
    child.metrics = (await Promise.race([read, late])) ?? child.metrics;
  }

  return {
    add(child) {
      children.add(child);
      void child.ended.then(() => {
        children.delete(child);
        ofEnded = ofEnded.then((sum) => mergeMetrics([sum, growingOf(child.metrics)]));
      });
    },
    async read() {
      await Promise.all([...children].filter((child) => child.hasStarted()).map(refresh));
      // Another process may end while the sum is made. It would be counted twice, or not at all.
      for (let sum = ofEnded; ; sum = ofEnded) {
        const ended = await sum;
        if (sum === ofEnded) return [ended, ...[...children].map(({ metrics }) => metrics)];
      }
    },
  };
}
