import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../../src/development/embedded-postgres/embedded-server.js';
import { makeFolder, until } from './processes.js';

/** A PostgreSQL server of a test's own, which it may break. */
export type OwnServer = {
  /** Of a database on it, as the superuser unless another login is given. */
  urlOf(database: string, login?: { user: string; password: string }): string;
  query(text: string, database?: string): Promise<Record<string, unknown>[]>;
  /** Kills it as a power cut would. */
  crash(): Promise<void>;
  /** Kills a process that serves a connection to the database, upon which PostgreSQL ends them all and recovers. */
  crashBackend(database: string): Promise<void>;
  /** Stops it as an operator would, breaking what is connected. */
  shutDown(): Promise<void>;
  /** Starts it again on the same port unless it runs; resolves when it answers. */
  restart(): Promise<void>;
  stop(): Promise<void>;
};

export async function startOwnServer(): Promise<OwnServer> {
  const folder = await makeFolder();
  const settings = { fsync: 'off', full_page_writes: 'off' };
  const embedded = await startEmbeddedPostgres({ dataDir: folder, database: 'postgres', log() {}, settings });
  const cluster = embedded.dataDir;
  const server: OwnServer = {
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
    async restart() {
      if ((await postmasterOf(cluster)) === undefined) await spawnAgain(cluster);
      await until(() => query(embedded.url, 'select 1').then(Boolean, () => false));
    },
    async stop() {
      await embedded.stop();
      // one that was started again is not the embedded runner's
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
    // simple statements alone: several in one text answer an array
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

/** PostgreSQL keeps the command it was started with, so that the same server can be started again. */
async function spawnAgain(cluster: string): Promise<void> {
  const command = await readFile(join(cluster, 'postmaster.opts'), 'utf8');
  const [, program = ''] = /^(.*?) "/.exec(command) ?? [];
  const args = [...command.matchAll(/"([^"]*)"/g)].map(([, value = '']) => value);
  const { uid, gid } = await stat(cluster);
  const account = process.getuid?.() === 0 ? { uid, gid } : {};
  // the dead server's backends may still hold its memory for a moment: then it ends at once, and we try again
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
