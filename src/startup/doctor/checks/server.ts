import { OLDEST_VERSION } from '../../../platform/db/connections/roles.js';
import { readRow, readValue, readValues } from '../../../platform/db/connections/rows.js';
import { ok, orOk, problem, warning, type Finding } from '../../shared-checks/finding.js';
import type { Connected } from './subject.js';

/** Examines the PostgreSQL server: version, standby, read-only mode. */
export async function checkServer({ client }: Connected): Promise<Finding[]> {
  const server = await readRow<{ version: string; major: number; standby: boolean; readonly: boolean }>(
    client,
    `select current_setting('server_version') as version, current_setting('server_version_num')::int / 10000 as major,
       pg_is_in_recovery() as standby, current_setting('default_transaction_read_only') = 'on' as readonly`,
  );
  return orOk(
    [
      server.major < OLDEST_VERSION &&
        problem(`PostgreSQL is version ${server.version}.`, `Upgrade to version ${OLDEST_VERSION} or later.`),
      server.standby &&
        problem(
          'DATABASE_URL leads to a standby, which accepts no writes.',
          'Use the address of the primary, or promote the standby.',
        ),
      server.readonly &&
        !server.standby &&
        problem(
          'default_transaction_read_only is on, so nothing can be written.',
          'Reset it for the server, the database and the login.',
        ),
    ],
    `PostgreSQL ${server.version} accepts reads and writes.`,
  );
}

const CLOCK_WARNING_SECONDS = 2;
const CLOCK_PROBLEM_SECONDS = 30;

/** Tokens, sessions and retention compare the clock of this host with that of the database. */
export async function checkClock({ client, now }: Connected): Promise<Finding> {
  const before = now().getTime();
  const at = await readValue<Date>(client, 'select clock_timestamp()');
  const middle = (before + now().getTime()) / 2;
  const seconds = Math.abs(middle - at.getTime()) / 1_000;
  if (seconds < CLOCK_WARNING_SECONDS) return ok('The clocks of this host and of the database agree.');
  const finding = seconds < CLOCK_PROBLEM_SECONDS ? warning : problem;
  return finding(
    `The clocks of this host and of the database differ by ${Math.round(seconds)} s.`,
    'Synchronise both with NTP.',
  );
}

const EXTENSIONS = ['pg_trgm', 'btree_gist', 'fuzzystrmatch'];

/** Examines what the migrations have installed beside tables. */
export async function checkExtensions({ client }: Connected): Promise<Finding[]> {
  const installed = await readValues<string>(client, 'select extname from pg_extension');
  return orOk(
    EXTENSIONS.filter((name) => !installed.includes(name)).map((name) =>
      problem(
        `The extension ${name} is not installed in this database.`,
        `Run create extension ${name} as the owner. Its package is postgresql-contrib.`,
      ),
    ),
    'The extensions are installed.',
  );
}

/** Reads the defaults of the login. The service sets UTC itself; the operator's statements and dumps do not. */
export async function checkTimeZone({ client }: Connected): Promise<Finding> {
  const { zone, database } = await readRow<{ zone: string; database: string }>(
    client,
    "select current_setting('TimeZone') as zone, current_database() as database",
  );
  if (['UTC', 'Etc/UTC', 'GMT'].includes(zone)) return ok('The time zone of the database is UTC.');
  return warning(
    `The time zone of the database is ${zone}, so statements of operators show local times.`,
    `Run alter database "${database}" set timezone = 'UTC'.`,
  );
}

/** Without autovacuum tables grow without limit, and plans become slow. */
export async function checkAutovacuum({ client }: Connected): Promise<Finding[]> {
  const settings = await readValues<string>(
    client,
    `select name from pg_settings where name in ('autovacuum', 'track_counts') and setting = 'off'`,
  );
  const tables = await readValues<string>(
    client,
    `select relname from pg_class where relnamespace = 'public'::regnamespace
       and reloptions @> array['autovacuum_enabled=false'] order by relname`,
  );
  return orOk(
    [
      ...settings.map((name) =>
        problem(`${name} is off.`, `Run alter system set ${name} = on and select pg_reload_conf().`),
      ),
      ...tables.map((name) =>
        warning(
          `Autovacuum is off for the table ${name}.`,
          `Run alter table ${name} reset (autovacuum_enabled) as the owner.`,
        ),
      ),
    ],
    'Autovacuum is on.',
  );
}
