/**
 * The SQL expression of the server and the timeline that a statement runs on, as text. Only on a primary. The first eight digits of
 * the name of the current WAL file are the timeline. pg_control_checkpoint() shows it only after the first checkpoint.
 */
export const SERVER = `(select system_identifier || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8) from pg_control_system())`;
