import type pg from 'pg';
import type { Registry } from 'prom-client';
import { REPLICA_OUTCOMES, type Replica } from '../db/connections/replica.js';
import type { DatabaseHealth } from '../db/health.js';
import type { ConnectionShares } from '../limits/connection-shares.js';
import { instrumentsOf } from './instruments.js';

/**
 * A pool, its shares if transactions acquire one before they take a connection, and what errors have shown about its database.
 */
export type WatchedPool = { pool: pg.Pool; connectionShares?: ConnectionShares; health?: DatabaseHealth };

/** Registers the metrics of connection pools and their databases. Returns the function that adds a pool. */
export function watchPools(registry: Registry): (name: string, watched: WatchedPool) => void {
  const { counter, gauge, histogram } = instrumentsOf(registry);
  const pools = new Map<string, WatchedPool>();
  const poolGauge = (
    name: string,
    help: string,
    valuesOf: (watched: WatchedPool) => [Record<string, string>, number][],
  ) =>
    gauge(`pool_${name}`, help, {
      labelNames: ['pool', 'state'],
      collect() {
        for (const [pool, watched] of pools)
          for (const [labels, value] of valuesOf(watched)) this.set({ pool, ...labels }, value);
      },
    });
  poolGauge('connections', 'Database connections.', ({ pool }) => [
    [{ state: 'idle' }, pool.idleCount],
    [{ state: 'busy' }, pool.totalCount - pool.idleCount],
  ]);
  poolGauge('connections_max', 'Maximum number of database connections.', ({ pool }) => [
    [{}, pool.options.max],
  ]);
  // Transactions wait for their share first. There are as many shares as connections, so few wait in the pool itself.
  poolGauge('waiting', 'Requests that wait for a database connection.', ({ pool, connectionShares }) => [
    [{}, pool.waitingCount + (connectionShares?.countWaiting() ?? 0)],
  ]);
  poolGauge('standing_queues', 'Queues for a connection that do not empty.', ({ connectionShares }) => [
    [{}, connectionShares?.delay?.countStanding() ?? 0],
  ]);
  counter('pool_refused_total', 'Requests that were refused because their queue does not empty.', {
    labelNames: ['pool'],
    collect() {
      this.reset();
      for (const [pool, { connectionShares }] of pools)
        this.inc({ pool }, connectionShares?.delay?.countRefused() ?? 0);
    },
  });
  gauge(
    'database_writable',
    '0 while the database stores nothing, for example because its disk is full, otherwise 1.',
    {
      labelNames: ['pool'],
      collect() {
        for (const [pool, { health }] of pools) {
          if (!health) continue;
          this.set({ pool }, health.writeFailure() === undefined ? 1 : 0);
          // For the next scrape: a trial may take longer than a scrape.
          void health.findWriteFailure();
        }
      },
    },
  );
  counter(
    'database_damage_total',
    'Requests and jobs that failed because PostgreSQL could not read stored data.',
    {
      labelNames: ['pool'],
      collect() {
        this.reset();
        for (const [pool, { health }] of pools) if (health) this.inc({ pool }, health.damageCount());
      },
    },
  );
  const waited = histogram('pool_wait_seconds', 'Time that transactions waited for a database connection.', {
    labelNames: ['pool'],
    buckets: [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2],
  });
  return (name, watched) => {
    pools.set(name, watched);
    watched.connectionShares?.recordWaits((waitedMs) => waited.observe({ pool: name }, waitedMs / 1000));
  };
}

/** Registers the metrics of the replica that serves reports. */
export function watchReplica(registry: Registry, replica: Replica): void {
  const { counter, gauge, histogram } = instrumentsOf(registry);
  const reports = counter(
    'replica_reports_total',
    'Reports that the replica served, and that the primary served because the replica was behind, failed or was avoided.',
    { labelNames: ['outcome'] },
  );
  // A series that begins with 1 has no increase.
  for (const outcome of REPLICA_OUTCOMES) reports.inc({ outcome }, 0);
  const waits = histogram(
    'replica_wait_seconds',
    'Time that reports waited until the replica had replayed what was committed before.',
    { buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 5] },
  );
  const up = gauge('replica_up', '1 if the replica answered the last query, otherwise 0.');
  gauge(
    'replica_delay_seconds',
    'Age of the last transaction that the replica has replayed. Workers write at least every 15 seconds.',
    {
      async collect() {
        const seconds = await replica.readDelaySeconds();
        up.set(seconds === undefined ? 0 : 1);
        if (seconds !== undefined) this.set(seconds);
      },
    },
  );
  replica.recordOutcomes((outcome, waitedMs) => {
    reports.inc({ outcome });
    if (outcome === 'served' || outcome === 'behind') waits.observe(waitedMs / 1_000);
  });
}
