import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { freePort, until } from '../service/processes.js';
import type { DatabaseServer } from './installation.js';

const VERSIONS = '/usr/lib/postgresql';

/** The folder of Debian's programs of the newest version that has a server and pg_dump, or undefined. */
export const DEBIAN: string | undefined = (existsSync(VERSIONS) ? readdirSync(VERSIONS) : [])
  .sort((a, b) => Number(b) - Number(a))
  .map((version) => join(VERSIONS, version, 'bin'))
  .find((bin) =>
    ['initdb', 'postgres', 'pg_dump', 'pg_dumpall', 'pg_restore', 'psql'].every((name) =>
      existsSync(join(bin, name)),
    ),
  );

/** Returns the account postgres, because PostgreSQL refuses to run as root. */
function account(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const [, uid, gid] = /^postgres:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8')) ?? [];
  if (!uid || !gid) throw new Error('/etc/passwd has no account postgres.');
  return { uid: Number(uid), gid: Number(gid) };
}

/** Creates a cluster in the empty folder, which `stop` removes, and starts it. */
export async function startDebianServer(bin: string, folder: string): Promise<DatabaseServer> {
  const [cluster, password] = [join(folder, 'cluster'), randomBytes(16).toString('hex')];
  const { uid, gid } = account();
  writeFileSync(join(folder, 'password'), password);
  chmodSync(folder, 0o755);
  if (uid !== undefined && gid !== undefined)
    for (const path of [folder, join(folder, 'password')]) chownSync(path, uid, gid);
  const login = ['--username=postgres', '--auth=scram-sha-256', `--pwfile=${join(folder, 'password')}`];
  runAs(join(bin, 'initdb'), ['-D', cluster, '--encoding=UTF8', '--locale=C.UTF-8', ...login], folder);
  const port = String(await freePort());
  const settings = { port, listen_addresses: '127.0.0.1', unix_socket_directories: '', fsync: 'off' };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = spawn(join(bin, 'postgres'), ['-D', cluster, ...args], {
    ...account(),
    cwd: folder,
    stdio: 'ignore',
  });
  const ended = once(child, 'close');
  const urlOf: DatabaseServer['urlOf'] = (
    database,
    { user, password: own } = { user: 'postgres', password },
  ) => `postgres://${user}:${own}@127.0.0.1:${port}/${database}`;
  const query: DatabaseServer['query'] = async (text, database = 'postgres') => {
    const client = new pg.Client({ connectionString: urlOf(database) });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(text)).rows;
    } finally {
      await client.end();
    }
  };
  await until(() => query('select 1').then(Boolean, () => false));
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await ended;
  };
  return {
    cluster,
    urlOf,
    query,
    crash: () => end('SIGKILL'),
    async stop() {
      await end('SIGINT');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Runs a program to its end with PostgreSQL's account. Returns its output. */
function runAs(program: string, args: string[], cwd: string, env: Record<string, string> = {}): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    ...account(),
    cwd,
    env: { PATH: process.env['PATH'], LC_ALL: 'C.UTF-8', ...env },
    encoding: 'utf8',
    maxBuffer: 64e6,
  });
  if (error) throw error;
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`);
  return stdout;
}

/** Writes a dump of the database in PostgreSQL's own format, and the roles with their passwords beside it. */
export async function dumpTo(bin: string, server: DatabaseServer, file: string): Promise<void> {
  const dump = spawnSync(
    join(bin, 'pg_dump'),
    ['--format=custom', `--file=${file}`, server.urlOf('crossdock')],
    {
      encoding: 'utf8',
    },
  );
  if (dump.status !== 0) throw new Error(dump.stderr);
  const roles = runAs(join(bin, 'pg_dumpall'), ['--roles-only', `--dbname=${server.urlOf('postgres')}`], '/');
  writeFileSync(`${file}.roles`, roles);
}

/** Creates the roles of the dump and the database on an empty server, and loads the dump. */
export function restoreDump(bin: string, server: DatabaseServer, file: string): void {
  restoreRoles(bin, server, file);
  runTool(bin, 'pg_restore', [
    '--create',
    '--exit-on-error',
    '--jobs=2',
    `--dbname=${server.urlOf('postgres')}`,
    file,
  ]);
}

/** Loads the dump into a database that belongs to the superuser. */
export async function restoreWithoutOwner(bin: string, server: DatabaseServer, file: string): Promise<void> {
  restoreRoles(bin, server, file);
  await server.query('create database crossdock');
  runTool(bin, 'pg_restore', ['--exit-on-error', '--jobs=2', `--dbname=${server.urlOf('crossdock')}`, file]);
}

function restoreRoles(bin: string, server: DatabaseServer, file: string): void {
  // The superuser exists already, with the password of its new server.
  const roles = readFileSync(`${file}.roles`, 'utf8')
    .split('\n')
    .filter((line) => !/^(create|alter) role postgres\b/i.test(line));
  writeFileSync(`${file}.roles.new`, roles.join('\n'));
  runTool(bin, 'psql', ['-v', 'ON_ERROR_STOP=1', '-q', '-f', `${file}.roles.new`, server.urlOf('postgres')]);
}

function runTool(bin: string, program: string, args: string[]): void {
  const { status, stderr } = spawnSync(join(bin, program), args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program}: ${stderr}`);
}
