import { Counter, Gauge, type Registry } from 'prom-client';
import type { DatabaseHealth } from '../db/health.js';

/** Returns a function that adds a database to the metrics of writes and of damaged data. The labels are those of its pool. */
export function watchHealth(registry: Registry): (pool: string, health: DatabaseHealth) => void {
  const databases = new Map<string, DatabaseHealth>();
  const options = { labelNames: ['pool'], registers: [registry] };
  new Gauge({
    name: 'crossdock_database_writable',
    help: '0 while the database stores nothing, for example because its disk is full, otherwise 1.',
    ...options,
    collect() {
      for (const [pool, health] of databases) {
        this.set({ pool }, health.writeFailure() === undefined ? 1 : 0);
        // For the next scrape: a trial may take longer than a scrape.
        void health.findWriteFailure();
      }
    },
  });
  new Counter({
    name: 'crossdock_database_damage_total',
    help: 'Requests and jobs that failed because PostgreSQL could not read stored data.',
    ...options,
    collect() {
      this.reset();
      for (const [pool, health] of databases) this.inc({ pool }, health.damageCount());
    },
  });
  return (pool, health) => databases.set(pool, health);
}
