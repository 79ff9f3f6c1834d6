import { chown, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startOwnServer, type OwnServer } from '../service/postgres.js';
import { makeFolder, until } from '../service/processes.js';
import { takeBaseBackup } from './backup.js';
import type { DatabaseServer } from './installation.js';

/** Settings of a server that standbys follow. It keeps enough WAL for one that was away. */
export const REPLICATING = { wal_level: 'replica', wal_keep_size: '512MB', full_page_writes: 'on' };

/** Starts a standby with streaming replication on a copy of a running server. Resolves when it streams. */
export async function startStandby(
  primary: DatabaseServer,
  settings: Record<string, string> = {},
): Promise<OwnServer> {
  const folder = await makeFolder();
  await takeBaseBackup(primary, folder);
  const signal = join(folder, 'postgres', 'standby.signal');
  await writeFile(signal, '');
  const { uid, gid } = await stat(join(folder, 'postgres'));
  for (const file of [signal, join(folder, 'postgres', 'backup_label'), join(folder, 'postgres.password')])
    await chown(file, uid, gid);
  const { hostname, port, username, password } = new URL(primary.urlOf('postgres'));
  const standby = await startOwnServer(folder, {
    ...REPLICATING,
    primary_conninfo: `host=${hostname} port=${port} user=${username} password=${password} application_name=standby`,
    // The standby must notice soon that the primary is back.
    wal_retrieve_retry_interval: '200ms',
    ...settings,
  });
  await until(async () => {
    const rows = await primary.query("select from pg_stat_replication where state = 'streaming'");
    return rows.length > 0;
  });
  return standby;
}

/** Lets the primary acknowledge a commit only when the standby has it on its disk. */
export async function replicateSynchronously(primary: DatabaseServer): Promise<void> {
  await primary.query("alter system set synchronous_standby_names = 'standby'");
  await primary.query('select pg_reload_conf()');
  await until(async () => {
    const rows = await primary.query("select from pg_stat_replication where sync_state = 'sync'");
    return rows.length > 0;
  });
}
