import { chown, copyFile, lstat, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import pg from 'pg';
import { startOwnServer, type OwnServer } from '../service/postgres.js';
import { until } from '../service/processes.js';
import type { DatabaseServer } from './installation.js';

/** Settings of a server that archives its WAL. */
export const archiving = (archive: string): Record<string, string> => ({
  wal_level: 'replica',
  full_page_writes: 'on',
  archive_mode: 'on',
  archive_command: `test ! -f ${archive}/%f && cp %p ${archive}/%f`,
});

/** What a restored server creates itself. */
const LEFT_OUT = new Set(['postmaster.pid', 'postmaster.opts', 'pg_replslot', 'pg_dynshmem', 'pg_stat_tmp']);

/** Copies the files of a running server with PostgreSQL's functions for that, as pg_basebackup does. Needs only SQL. */
export async function takeBaseBackup(server: DatabaseServer, folder: string): Promise<void> {
  // Both functions must be called in one session.
  const client = new pg.Client({ connectionString: server.urlOf('postgres') });
  await client.connect();
  await client.query("select pg_backup_start('rehearsal', fast => true)");
  const copy = join(folder, basename(server.cluster));
  await copyTree(server.cluster, copy);
  const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop()');
  await client.end();
  await writeFile(join(copy, 'backup_label'), rows[0]?.labelfile ?? '');
  const password = 'postgres.password';
  await copyFile(join(dirname(server.cluster), password), join(folder, password));
}

/** Copies files with their owner. The server may remove a file meanwhile; recovery restores or removes it too. */
async function copyTree(from: string, to: string): Promise<void> {
  const { uid, gid, mode } = await stat(from);
  await mkdir(to, { mode: mode & 0o777 });
  await chown(to, uid, gid);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    const isLeftOut = LEFT_OUT.has(entry.name);
    if (entry.isDirectory()) await copyTreeOf(source, target, isLeftOut || entry.name === 'pg_wal');
    else if (!isLeftOut) await copyIfPresent(source, target);
  }
}

/** Copies a folder, or creates it empty, with the folders in it. */
async function copyTreeOf(source: string, target: string, isEmpty: boolean): Promise<void> {
  if (!isEmpty) return copyTree(source, target);
  const { uid, gid, mode } = await stat(source);
  await mkdir(target, { mode: mode & 0o777 });
  await chown(target, uid, gid);
}

async function copyIfPresent(source: string, target: string): Promise<void> {
  try {
    const { uid, gid } = await lstat(source);
    await copyFile(source, target);
    await chown(target, uid, gid);
  } catch (error) {
    if (String(Reflect.get(Object(error), 'code')) !== 'ENOENT') throw error;
  }
}

/** Starts a new server on a base backup, which recovers with the archived WAL up to a time. Resolves when it accepts writes. */
export async function restoreTo(time: string, folder: string, archive: string): Promise<OwnServer> {
  const signal = join(folder, 'postgres', 'recovery.signal');
  await writeFile(signal, '');
  const { uid, gid } = await stat(join(folder, 'postgres'));
  for (const file of [signal, join(folder, 'postgres', 'backup_label'), join(folder, 'postgres.password')])
    await chown(file, uid, gid);
  const server = await startOwnServer(folder, {
    restore_command: `cp ${archive}/%f %p`,
    recovery_target_time: time,
    recovery_target_action: 'promote',
  });
  await until(async () => {
    const [row] = await server.query('select pg_is_in_recovery() as recovers');
    return row?.['recovers'] === false;
  }, 120_000);
  return server;
}

/** Completes the current WAL file and waits until the archive has it, as a server with a timeout for its archive does in time. */
export async function archiveNow(server: DatabaseServer): Promise<void> {
  const [row] = await server.query('select pg_walfile_name(pg_switch_wal()) as name');
  await until(async () => {
    const [archived] = await server.query('select last_archived_wal as name from pg_stat_archiver');
    return isText(archived?.['name']) && isText(row?.['name']) && archived['name'] >= row['name'];
  });
}

const isText = (value: unknown): value is string => typeof value === 'string';
