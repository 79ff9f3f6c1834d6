import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { REPLICA_OUTCOMES, type Replica } from '../db/connections/replica.js';

/** Registers the metrics of the replica that serves reports. */
export function watchReplica(registry: Registry, replica: Replica): void {
  const registers = [registry];
  const reports = new Counter({
    name: 'crossdock_replica_reports_total',
    help: 'Reports that the replica served, and that the primary served because the replica was behind, failed or was avoided.',
    labelNames: ['outcome'],
    registers,
  });
  // A series that begins with 1 has no increase.
  for (const outcome of REPLICA_OUTCOMES) reports.inc({ outcome }, 0);
  const waits = new Histogram({
    name: 'crossdock_replica_wait_seconds',
    help: 'Time that reports waited until the replica had replayed what was committed before.',
    buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 5],
    registers,
  });
  const up = new Gauge({
    name: 'crossdock_replica_up',
    help: '1 if the replica answered the last query, otherwise 0.',
    registers,
  });
  new Gauge({
    name: 'crossdock_replica_delay_seconds',
    help: 'Age of the last transaction that the replica has replayed. Workers write at least every 15 seconds.',
    registers,
    async collect() {
      const seconds = await replica.readDelaySeconds();
      up.set(seconds === undefined ? 0 : 1);
      if (seconds !== undefined) this.set(seconds);
    },
  });
  replica.recordOutcomes((outcome, waitedMs) => {
    reports.inc({ outcome });
    if (outcome === 'served' || outcome === 'behind') waits.observe(waitedMs / 1_000);
  });
}
