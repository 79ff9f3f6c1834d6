import type pg from 'pg';
import { Gauge, type Registry } from 'prom-client';

/** Gauges of connection pools, and the function that adds one to them. */
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
  gauge('connections', 'Connections to the database.', (pool) => [
    [{ state: 'idle' }, pool.idleCount],
    [{ state: 'busy' }, pool.totalCount - pool.idleCount],
  ]);
  gauge('connections_max', 'How many connections to the database there may be.', (pool) => [
    [{}, pool.options.max],
  ]);
  gauge('waiting', 'How many wait for a connection to the database.', (pool) => [[{}, pool.waitingCount]]);
  return (name, pool) => void pools.set(name, pool);
}
