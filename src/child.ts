import type { Config } from './config/config.js';
import type { Metrics } from './platform/metrics/metrics.js';
import { runChild, type ChildWork } from './startup/processes/child.js';
import type { Role } from './startup/processes/channel.js';
import type { Membership } from './startup/processes/membership.js';

const LOADS: Record<Role, () => Promise<ChildWork>> = {
  async api() {
    const { serveFrom } = await import('./serve.js');
    return async (database, config, stop, membership) =>
      serveFrom(database, config, stop, {
        membership,
        metrics: await openMetrics(config, membership),
      });
  },
  async jobs() {
    const { runJobs } = await import('./run-jobs.js');
    return async (database, config, stop, membership) =>
      runJobs(database, config, stop, {
        metrics: await openMetrics(config, membership),
        onStart: () => membership.reportStart(),
      });
  },
};

// Entry point of the child processes of a server (decision 0099). Only the primary process starts it.
await runChild((role) => LOADS[role]());

/** Returns metrics that the primary process serves, with those of the other processes. It reads the backlog. */
async function openMetrics(config: Config, membership: Membership): Promise<Metrics | undefined> {
  if (!config.metrics) return undefined;
  const { makeMetrics } = await import('./platform/metrics/metrics.js');
  const metrics = makeMetrics(() => Promise.resolve(undefined));
  membership.offerMetrics(metrics.collect);
  membership.onPrimaryChange((isAnswering) => {
    if (!isAnswering) metrics.primarySilent();
  });
  return metrics;
}
