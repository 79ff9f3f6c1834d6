import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { packageVersion } from '../../config/project-root.js';
import type { DatabaseHealth } from '../db/health.js';
import type { Replica } from '../db/connections/replica.js';
import type { ReadBacklog } from './backlog.js';
import { makeBacklogGauges } from './backlog-gauges.js';
import { countOutbound, type OutboundMetrics } from './outbound.js';
import { watchHealth } from './health.js';
import { watchPools, type WatchedPool } from './pools.js';
import { watchReplica } from './replica.js';
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
      watched: WatchedPool & { health?: DatabaseHealth },
    ): void;
    /** Adds the replica that serves reports, and its pool. */
    watchReplica(replica: Replica): void;
    /** Records how many protections the database lacks, as the last comparison of this process found them. */
    protectionFaults(count: number): void;
    /** Returns all metrics in the Prometheus text format. */
    render(): Promise<string>;
  };

export const METRICS_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

export function makeMetrics(readBacklog: ReadBacklog): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  registerBuildInfo(registry);
  const databaseUp = new Gauge({
    name: 'crossdock_database_up',
    help: '1 if the last backlog query succeeded, otherwise 0.',
    registers: [registry],
  });
  const protectionFaults = new Gauge({
    name: 'crossdock_protection_faults',
    help: 'Protections that the database or its login has lost, by the last comparison of this process.',
    registers: [registry],
  });
  const protectionsCompared = new Gauge({
    name: 'crossdock_protections_compared_timestamp_seconds',
    help: 'Time of the last comparison of the protections in this process, 0 before the first.',
    registers: [registry],
  });
  const backlogGauges = makeBacklogGauges();
  const watchPool = watchPools(registry);
  const addDatabase = watchHealth(registry);
  return {
    ...countRequests(registry),
    ...countOutbound(registry),
    watchPool(name, watched) {
      watchPool(name, watched);
      if (watched.health) addDatabase(name, watched.health);
    },
    watchReplica(replica) {
      watchPool('replica', replica);
      watchReplica(registry, replica);
    },
    protectionFaults(count) {
      protectionFaults.set(count);
      protectionsCompared.setToCurrentTime();
    },
    async render() {
      const backlog = await readBacklog();
      databaseUp.set(backlog ? 1 : 0);
      const own = await registry.metrics();
      return backlog ? own + (await backlogGauges.render(backlog)) : own;
    },
  };
}

function registerBuildInfo(registry: Registry): void {
  const version = packageVersion();
  const info = { name: 'crossdock_build_info', help: 'Always 1. The label is the version.' };
  new Gauge({ ...info, labelNames: ['version'], registers: [registry] }).set({ version }, 1);
}
