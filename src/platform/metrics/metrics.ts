import { collectDefaultMetrics, Registry } from 'prom-client';
import { packageVersion } from '../../config/project-root.js';
import { countLostLines } from '../logging/log-stream.js';
import type { Replica } from '../db/connections/replica.js';
import type { ReadBacklog } from './backlog.js';
import { makeBacklogGauges } from './backlog-gauges.js';
import { countOutbound, type OutboundMetrics } from './outbound.js';
import { watchPools, watchReplica, type WatchedPool } from './databases.js';
import { instrumentsOf } from './instruments.js';
import { renderMerged, type MetricObject } from './merge.js';
import { countRequests, type RequestMetrics } from './requests.js';

/**
 * The metrics of a process. Every label has a small fixed set of values. Tenants, couriers, addresses and persons are never
 * labels: they would create too many time series, and some are personal data.
 */
export type Metrics = RequestMetrics &
  OutboundMetrics & {
    /** Adds a pool to the metrics of connections, and its database to those of writes. */
    watchPool(
      name: 'service' | `service-${string}` | 'worker' | 'queue' | 'replica',
      watched: WatchedPool,
    ): void;
    /** Adds the replica that serves reports, and its pool. */
    watchReplica(replica: Replica): void;
    /** Records how many protections the database lacks, as the last comparison of this process found them. */
    protectionFaults(count: number): void;
    /** Counts that the primary process of the server has ceased to answer this one. */
    primarySilent(): void;
    /** Returns the metrics of this process, for the primary process. */
    collect(): Promise<MetricObject[]>;
    /** Returns all metrics in the Prometheus text format. */
    render(): Promise<string>;
  };

export const METRICS_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

/** @param readOthers in a server of several processes: returns the metrics of the child processes */
export function makeMetrics(readBacklog: ReadBacklog, readOthers?: () => Promise<MetricObject[][]>): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const { counter, gauge } = instrumentsOf(registry);
  gauge('build_info', 'Always 1. The label is the version.', { labelNames: ['version'] }).set(
    { version: packageVersion() },
    1,
  );
  const databaseUp = gauge('database_up', '1 if the last backlog query succeeded, otherwise 0.');
  const databaseReadOnly = gauge(
    'database_read_only',
    '1 if the last backlog query found a standby or default_transaction_read_only, otherwise 0.',
  );
  const protectionFaults = gauge(
    'protection_faults',
    'Protections that the database or its login has lost, by the last comparison of this process.',
  );
  const protectionsCompared = gauge(
    'protections_compared_timestamp_seconds',
    'Time of the last comparison of the protections in this process, 0 before the first.',
  );
  const primarySilent = counter(
    'primary_silent_total',
    'Times that a process of the server has got no answer of the primary process.',
  );
  counter('log_lines_lost_total', 'Lines of the log that could not be written.', {
    collect() {
      this.reset();
      this.inc(countLostLines());
    },
  });
  const backlogGauges = makeBacklogGauges();
  const watchPool = watchPools(registry);
  return {
    ...countRequests(registry),
    ...countOutbound(registry),
    watchPool,
    watchReplica(replica) {
      watchPool('replica', replica);
      watchReplica(registry, replica);
    },
    protectionFaults(count) {
      protectionFaults.set(count);
      protectionsCompared.setToCurrentTime();
    },
    primarySilent: () => primarySilent.inc(),
    collect: () => registry.getMetricsAsJSON(),
    async render() {
      const backlog = await readBacklog();
      databaseUp.set(backlog ? 1 : 0);
      databaseReadOnly.set(backlog?.is_read_only ? 1 : 0);
      const own = readOthers
        ? await renderMerged([await registry.getMetricsAsJSON(), ...(await readOthers())])
        : await registry.metrics();
      return backlog ? own + (await backlogGauges.render(backlog)) : own;
    },
  };
}
