import { runMigrations } from 'graphile-worker';
import type pg from 'pg';
import { APP_ROLE } from '../connections/roles.js';
import { queueLogger } from '../../queue/log.js';

/**
 * Migrates graphile-worker's tables to the library's version and grants the application's role access. The tables contain
 * only job kinds, ids and times, no tenant data.
 *
 * @param url for the library, which opens a connection of its own
 * @param client a connection of the same role, the schema's owner
 */
export async function installQueue(url: string, client: pg.ClientBase): Promise<void> {
  await runMigrations({ connectionString: url, logger: queueLogger(() => undefined) });
  await client.query(GRANTS);
  await client.query(POLICIES);
}

const GRANTS = `
  grant usage on schema graphile_worker to ${APP_ROLE};
  grant select, insert, update, delete on all tables in schema graphile_worker to ${APP_ROLE};
  grant usage on all sequences in schema graphile_worker to ${APP_ROLE};
  revoke insert, update, delete on graphile_worker.migrations from ${APP_ROLE}`;

// The library enables row-level security without policies, so only the tables' owner has access.
const POLICIES = `do $$
declare
  name text;
begin
  for name in select relname from pg_class
    where relnamespace = 'graphile_worker'::regnamespace and relkind = 'r' and relrowsecurity
      and not exists (select from pg_policy where polrelid = pg_class.oid and polname = 'service')
  loop
    execute format('create policy service on graphile_worker.%I to ${APP_ROLE} using (true) with check (true)', name);
  end loop;
end $$`;
