import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../../src/development/embedded-postgres/embedded-server.js';
import { makeFolder, until } from './processes.js';

/** A PostgreSQL server that only one test uses and may crash. */
export type OwnServer = {
  /** The folder of its data. */
  cluster: string;
  /** Returns the URL of a database, by default with the superuser's login. */
  urlOf(database: string, login?: { user: string; password: string }): string;
  query(text: string, database?: string): Promise<Record<string, unknown>[]>;
  /** Kills the server with SIGKILL. */
  crash(): Promise<void>;
  /** Kills the process of one connection. PostgreSQL then ends all connections and recovers. */
  crashBackend(database: string): Promise<void>;
  /** Stops the server in fast mode, which closes all connections. */
  shutDown(): Promise<void>;
  /** Lets the server refuse new connections, until the last one that exists has ended. Then it stops. */
  closeDoors(): Promise<void>;
  /** Starts the server again on the same port if it does not run. Resolves when it accepts queries. */
  restart(): Promise<void>;
  stop(): Promise<void>;
};

/**
 * @param folder one that contains a restored cluster; a new one by default
 * @param extra settings of PostgreSQL
 */
export async function startOwnServer(
  folder?: string,
  extra: Record<string, string> = {},
): Promise<OwnServer> {
  return startOn(folder ?? (await makeFolder()), { fsync: 'off', full_page_writes: 'off', ...extra });
}

async function startOn(folder: string, settings: Record<string, string>): Promise<OwnServer> {
  const embedded = await startEmbeddedPostgres({ dataDir: folder, database: 'postgres', log() {}, settings });
  const cluster = embedded.dataDir;
  const server: OwnServer = {
    cluster,
    urlOf(database, login) {
      const url = new URL(embedded.url);
      url.pathname = `/${database}`;
      return login ? Object.assign(url, { username: login.user, password: login.password }).href : url.href;
    },
    query: (text, database = 'postgres') => query(server.urlOf(database), text),
    crash: () => end(cluster, 'SIGKILL'),
    async crashBackend(database) {
      const [backend] = await server.query(
        `select pid from pg_stat_activity where datname = '${database}' and pid <> pg_backend_pid() limit 1`,
      );
      process.kill(Number(backend?.['pid']), 'SIGKILL');
    },
    shutDown: () => end(cluster, 'SIGINT'),
    async closeDoors() {
      const pid = await postmasterOf(cluster);
      if (pid !== undefined) process.kill(pid, 'SIGTERM');
    },
    async restart() {
      if ((await postmasterOf(cluster)) === undefined) await spawnAgain(cluster);
      await until(() => query(embedded.url, 'select 1').then(Boolean, () => false));
    },
    async stop() {
      await embedded.stop();
      // embedded.stop() does not stop a server that was started again.
      await end(cluster, 'SIGINT');
    },
  };
  return server;
}

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    // `text` must be one statement: for several, pg returns an array of results.
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

async function end(cluster: string, signal: NodeJS.Signals): Promise<void> {
  const pid = await postmasterOf(cluster);
  if (pid === undefined) return;
  process.kill(pid, signal);
  await until(async () => !isAlive(pid));
}

async function postmasterOf(cluster: string): Promise<number | undefined> {
  const file = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number(file.split('\n')[0]);
  return pid > 0 && isAlive(pid) ? pid : undefined;
}

/** Starts the server with the command that PostgreSQL stored in postmaster.opts. */
async function spawnAgain(cluster: string): Promise<void> {
  const command = await readFile(join(cluster, 'postmaster.opts'), 'utf8');
  const [, program = ''] = /^(.*?) "/.exec(command) ?? [];
  const args = [...command.matchAll(/"([^"]*)"/g)].map(([, value = '']) => value);
  const { uid, gid } = await stat(cluster);
  const account = process.getuid?.() === 0 ? { uid, gid } : {};
  // Processes of the killed server may still use its shared memory. Then the start fails and is repeated.
  await until(async () => {
    const child = spawn(program, args, { ...account, cwd: '/', env: { LC_ALL: 'C' }, stdio: 'ignore' });
    child.unref();
    await once(child, 'spawn');
    await until(async () => child.exitCode !== null || (await postmasterOf(cluster)) === child.pid);
    return child.exitCode === null;
  });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
