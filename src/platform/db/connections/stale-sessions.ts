/**
 * Behind a pooler a session outlives our connection, so closing ours does not end one that began while default_transaction_read_only was
 * set for the database or the login. This expression ends the session that executes it, if a new one would accept writes. The statement
 * then fails with 57P01, which is a 503, and nothing of its transaction is stored. The catalogue is read only where the setting is on.
 * A setting in postgresql.conf needs none of this: reloading it reaches every session.
 */
export const END_STALE_SESSION = `case when current_setting('default_transaction_read_only')::boolean and not pg_is_in_recovery()
    and (select source in ('database', 'user', 'database user', 'global', 'session') from pg_settings
      where name = 'default_transaction_read_only')
    and not coalesce((select option.option_value::boolean from pg_db_role_setting setting,
        pg_options_to_table(setting.setconfig) option
      where option.option_name = 'default_transaction_read_only'
        and setting.setdatabase in (0, (select oid from pg_database where datname = current_database()))
        and setting.setrole in (0, (select oid from pg_roles where rolname = session_user))
      order by setting.setrole <> 0 desc, setting.setdatabase <> 0 desc limit 1), false)
  then pg_terminate_backend(pg_backend_pid()) end`;
