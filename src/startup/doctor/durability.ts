import { orOk, warning, type Finding } from './checks/finding.js';
import type { Connected } from './checks/subject.js';

type Settings = { fsync: string; pages: string; commit: string; standbys: string };

const SYNCHRONOUS =
  'Remove it from the server, the database and the login: alter system, alter database or alter role ... reset synchronous_commit. Then select pg_reload_conf().';

/** Examines whether what was committed survives a crash of the server, or of its machine. */
export async function checkDurability({ client }: Connected): Promise<Finding[]> {
  const { rows } = await client.query<Settings>(
    `select current_setting('fsync') as fsync, current_setting('full_page_writes') as pages,
       current_setting('synchronous_commit') as commit, current_setting('synchronous_standby_names') as standbys`,
  );
  const [settings] = rows;
  if (!settings) return [];
  return orOk(
    [...findUnsafeFiles(settings), ...findUnsafeCommits(settings)],
    'What is committed survives a crash of the server.',
  );
}

function findUnsafeFiles({ fsync, pages }: Settings): Finding[] {
  const findings: Finding[] = [];
  if (fsync === 'off')
    findings.push(
      warning(
        'fsync is off, so a crash of the machine can damage the whole database.',
        'Run alter system set fsync = on and select pg_reload_conf(). Then take a new base backup.',
      ),
    );
  if (pages === 'off')
    findings.push(
      warning(
        'full_page_writes is off, so a crash of the machine can leave pages that are half written.',
        'Run alter system set full_page_writes = on and select pg_reload_conf(), unless the file system writes pages atomically.',
      ),
    );
  return findings;
}

function findUnsafeCommits({ commit, standbys }: Settings): Finding[] {
  if (commit === 'off')
    return [
      warning(
        'synchronous_commit is off, so a crash loses what was confirmed in the last moments, for example intakes and payments.',
        SYNCHRONOUS,
      ),
    ];
  if (commit !== 'local' || standbys.trim() === '') return [];
  return [
    warning(
      'synchronous_commit is local although synchronous_standby_names is set, so a failover loses what the standby has not received.',
      SYNCHRONOUS,
    ),
  ];
}
