import { readValue, type Queryable } from './rows.js';

/**
 * The SQL expression of the server and the timeline that a statement runs on, as text. Only on a primary. The first eight digits of
 * the name of the current WAL file are the timeline. pg_control_checkpoint() shows it only after the first checkpoint.
 */
export const SERVER = `(select system_identifier || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8) from pg_control_system())`;

/**
 * The SQL expression of the database that a statement runs on, and of the deployments that have used it, as text. A standby has the
 * same as its primary. Another database of the server, and a copy that another deployment uses, have others.
 */
export const DATABASE = `(select d.oid || ' ' || coalesce(
    (select md5(string_agg(concat_ws(' ', name, app_env, fingerprints), ',' order by name, app_env)) from installation.deployments), '')
  from pg_database d where d.datname = current_database())`;

/** Returns which database a connection leads to: the same for a primary and its standbys, before the migrations too. */
export const readDatabaseIdentity = (client: Queryable): Promise<string> =>
  readValue(
    client,
    `select system_identifier || '/' || d.oid from pg_control_system(), pg_database d
     where d.datname = current_database()`,
  );

/** Returns which running server and database a connection leads to. A restored copy has another, unlike with `readDatabaseIdentity`. */
export const readRunningDatabase = (client: Queryable): Promise<string> =>
  readValue(client, `select extract(epoch from pg_postmaster_start_time()) || '/' || current_database()`);
