import type { Service } from '../service/service.js';
import { IS_POOLED } from './pooled.js';
import { until } from '../service/processes.js';

/** Changes the time zone of the service's database, and waits until its pool has new connections. */
export async function moveDatabaseTo(zone: string, service: Service): Promise<void> {
  await alterDatabase(service, `timezone to '${zone}'`);
  // New connections use UTC, whatever the database's time zone. Behind a pooler only transactions do.
  await until(() =>
    service.db.pool.query('show timezone').then(
      ({ rows: [row] }) => IS_POOLED || row.TimeZone === 'UTC',
      () => false,
    ),
  );
}

/** Changes a setting of the service's database. Terminated connections leave the pool asynchronously. */
export async function alterDatabase({ owner }: Service, setting: string): Promise<void> {
  const { rows } = await owner.query('select current_database() as name');
  await owner.query(`alter database "${rows[0].name}" set ${setting}`);
  await owner.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );
}
