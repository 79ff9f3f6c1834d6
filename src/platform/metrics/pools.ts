import type pg from 'pg';
import { Gauge, type Registry } from 'prom-client';

/** Registers gauges for connection pools. Returns the function that adds a pool. */
export function watchPools(registry: Registry): (name: string, pool: pg.Pool) => void {
  const pools = new Map<string, pg.Pool>();
  const gauge = (
    name: string,
    help: string,
    valuesOf: (pool: pg.Pool) => [Record<string, string>, number][],
  ) =>
    new Gauge({
      name: `crossdock_pool_${name}`,
      help,
      labelNames: ['pool', 'state'],
      registers: [registry],
      collect() {
        for (const [poolName, pool] of pools)
          for (const [labels, value] of valuesOf(pool)) this.set({ pool: poolName, ...labels }, value);
      },
    });
  gauge('connections', 'Database connections.', (pool) => [
    [{ state: 'idle' }, pool.idleCount],
    [{ state: 'busy' }, pool.totalCount - pool.idleCount],
  ]);
  gauge('connections_max', 'Maximum number of database connections.', (pool) => [[{}, pool.options.max]]);
  gauge('waiting', 'Requests that wait for a database connection.', (pool) => [[{}, pool.waitingCount]]);
  return (name, pool) => void pools.set(name, pool);
}
