import type pg from 'pg';
import { Gauge, Histogram, type Registry } from 'prom-client';
import type { ConnectionShares } from '../limits/connection-shares.js';

/** A pool, and its shares if transactions acquire one before they take a connection. */
export type WatchedPool = { pool: pg.Pool; connectionShares?: ConnectionShares };

/** Registers the metrics of connection pools. Returns the function that adds a pool. */
export function watchPools(registry: Registry): (name: string, watched: WatchedPool) => void {
  const pools = new Map<string, WatchedPool>();
  const gauge = (
    name: string,
    help: string,
    valuesOf: (watched: WatchedPool) => [Record<string, string>, number][],
  ) =>
    new Gauge({
      name: `crossdock_pool_${name}`,
      help,
      labelNames: ['pool', 'state'],
      registers: [registry],
      collect() {
        for (const [poolName, watched] of pools)
          for (const [labels, value] of valuesOf(watched)) this.set({ pool: poolName, ...labels }, value);
      },
    });
  gauge('connections', 'Database connections.', ({ pool }) => [
    [{ state: 'idle' }, pool.idleCount],
    [{ state: 'busy' }, pool.totalCount - pool.idleCount],
  ]);
  gauge('connections_max', 'Maximum number of database connections.', ({ pool }) => [[{}, pool.options.max]]);
  // Transactions wait for their share first. There are as many shares as connections, so few wait in the pool itself.
  gauge('waiting', 'Requests that wait for a database connection.', ({ pool, connectionShares }) => [
    [{}, pool.waitingCount + (connectionShares?.countWaiting() ?? 0)],
  ]);
  const waited = new Histogram({
    name: 'crossdock_pool_wait_seconds',
    help: 'Time that transactions waited for a database connection.',
    labelNames: ['pool'],
    buckets: [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2],
    registers: [registry],
  });
  return (name, watched) => {
    pools.set(name, watched);
    watched.connectionShares?.recordWaits((waitedMs) => waited.observe({ pool: name }, waitedMs / 1000));
  };
}
