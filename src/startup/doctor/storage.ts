import type { Config } from '../../config/config.js';
import { writeAndRollBack } from '../../platform/db/health.js';
import { readRow, readValue } from '../../platform/db/connections/rows.js';
import { meaningOfError, sqlStateOf } from '../../platform/db/violations.js';
import { messageOf, ok, orOk, problem, warning, type Finding } from '../shared-checks/finding.js';
import type { Connected } from './checks/subject.js';

const READ_ONLY = '25006';
const NO_RIGHT = '42501';

/** Writes 4 MB and rolls back. SQL cannot show how much space is left on the disk. */
export async function checkStorage({ client }: Pick<Connected, 'client'>): Promise<Finding[]> {
  try {
    await writeAndRollBack(client);
    return [ok('The database stores data.')];
  } catch (error) {
    const code = sqlStateOf(error);
    // The check of the server names the reason.
    if (code === READ_ONLY) return [];
    if (code === NO_RIGHT && meaningOfError(error) === 'defect')
      return [
        warning(
          'The login may create no temporary table, so /ready and this check cannot try to write.',
          `Run as a superuser: ${await statementFor(client)}`,
        ),
      ];
    if (meaningOfError(error) !== 'unwritable')
      return [
        problem(
          `Whether the database stores data could not be examined: ${messageOf(error)}.`,
          'Correct the other problems first, and repeat.',
        ),
      ];
    return [
      problem(
        `The database stores nothing: ${messageOf(error)}.`,
        'Free space on the disk of the database server, or enlarge it. See DatabaseNotWritable in docs/operations.md.',
      ),
    ];
  }
}

const statementFor = (client: Connected['client']): Promise<string> =>
  readValue(
    client,
    "select format('grant temporary on database %I to %I;', current_database(), session_user)",
  );

type Settings = {
  fsync: string;
  pages: string;
  commit: string;
  standbys: string;
  archives: boolean;
  /** Whether archive_command or archive_library is set. */
  has_archive: boolean;
  /** The file and the time of the last failure, if nothing was archived since then. */
  failed_file: string | null;
  failed_at: Date | null;
  /** When the server last archived a file. The server keeps it over a restart. */
  archived_at: Date | null;
  started_at: Date;
};

/** Any login may read this view. current_setting() hides archive_command while archive_mode is off, but reset_val does not. */
const ARCHIVE = `select current_setting('archive_mode') <> 'off' as archives,
    exists (select from pg_settings where name in ('archive_command', 'archive_library') and reset_val <> '') as has_archive,
    case when fails then last_failed_wal end as failed_file, case when fails then last_failed_time end as failed_at,
    last_archived_time as archived_at, pg_postmaster_start_time() as started_at
  from pg_stat_archiver, lateral (select last_failed_time > coalesce(last_archived_time, '-infinity') as fails) f`;

const SYNCHRONOUS =
  'Remove it from the server, the database and the login: alter system, alter database or alter role ... reset synchronous_commit. Then select pg_reload_conf().';

/** Examines whether what was committed survives a crash of the server, or of its machine. */
export async function checkDurability({ client, config }: Connected): Promise<Finding[]> {
  const settings = await readRow<Settings>(
    client,
    `select current_setting('fsync') as fsync, current_setting('full_page_writes') as pages,
       current_setting('synchronous_commit') as commit, current_setting('synchronous_standby_names') as standbys, a.*
     from (${ARCHIVE}) a`,
  );
  const { fsync, pages, commit, standbys } = settings;
  return orOk(
    [
      fsync === 'off' &&
        warning(
          'fsync is off, so a crash of the machine can damage the whole database.',
          'Run alter system set fsync = on and select pg_reload_conf(). Then take a new base backup.',
        ),
      pages === 'off' &&
        warning(
          'full_page_writes is off, so a crash of the machine can leave pages that are half written.',
          'Run alter system set full_page_writes = on and select pg_reload_conf(), unless the file system writes pages atomically.',
        ),
      commit === 'off' &&
        warning(
          'synchronous_commit is off, so a crash loses what was confirmed in the last moments, for example intakes and payments.',
          SYNCHRONOUS,
        ),
      commit === 'local' &&
        standbys.trim() !== '' &&
        warning(
          'synchronous_commit is local although synchronous_standby_names is set, so a failover loses what the standby has not received.',
          SYNCHRONOUS,
        ),
      findUnsafeArchive(settings, config),
    ],
    `What is committed survives a crash of the server. ${describeArchive(settings)}`,
  );
}

/** Returns what is known of the archive if there is no fault. archive_mode changes only with a start, and nothing records that it was off. */
function describeArchive({ archives, archived_at: at }: Settings): string {
  if (!archives) return 'The server archives no WAL, so a restore ends with the last backup.';
  return at ? `The last file of WAL was archived at ${at.toISOString()}.` : '';
}

/** Without the archive, a restore has nothing that was written after the last base backup. */
function findUnsafeArchive(settings: Settings, { appEnv }: Config): Finding | undefined {
  const { archives, has_archive: hasArchive, failed_file: file, failed_at: failedAt } = settings;
  const { archived_at: at, started_at: started } = settings;
  if (!archives && hasArchive)
    return warning(
      'archive_mode is off although an archive is configured, so no WAL is archived, and a restore ends with the last base backup.',
      'Run alter system set archive_mode = on, restart PostgreSQL, and take a base backup as docs/restore.md describes.',
    );
  if (archives && !hasArchive)
    return warning(
      'archive_mode is on, and neither archive_command nor archive_library is set, so WAL is kept until the disk is full.',
      'Set archive_command as docs/restore.md describes, or archive_mode = off.',
    );
  // A test installation may do without.
  if (!archives && appEnv === 'production')
    return warning(
      'The server archives no WAL, so a restore ends with the last backup, and what was done after it is lost.',
      'Archive the WAL as step 1 of docs/restore.md describes, and take a base backup. If something else receives the WAL, such as pg_receivewal, nothing needs to be done.',
    );
  if (!archives) return undefined;
  if (!failedAt && (!at || at < started))
    return warning(
      `No WAL was archived since PostgreSQL started at ${started.toISOString()}, so whether the archive works is not known yet.`,
      'Run select pg_switch_wal(), and repeat. If archive_mode was off before, take a base backup as docs/restore.md describes.',
    );
  if (!failedAt) return undefined;
  return warning(
    `The archive of WAL fails: ${file} could not be archived at ${failedAt.toISOString()}, and nothing was archived since. A restore would lack what came after it, and WAL is kept until the disk is full.`,
    'Read the log of PostgreSQL for the error of archive_command. If the archive has another file of this name, from a restore or another server, move that one away.',
  );
}
