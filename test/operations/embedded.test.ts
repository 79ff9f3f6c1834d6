import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { developmentConfig } from '../support/staging/development.js';
import {
  startEmbeddedPostgres,
  type EmbeddedServer,
} from '../../src/development/embedded-postgres/embedded-server.js';
import { prepareDatabase } from '../../src/startup/prepare-database.js';

// Plain node runs the built file, because these guarantees need a separate process.
const BUILT = new URL('../../dist/src/development/embedded-postgres/embedded-server.js', import.meta.url)
  .href;
const LIMIT_MS = 60_000;

const servers: EmbeddedServer[] = [];
const children: ChildProcess[] = [];
const folders: string[] = [];
/** A data folder whose cluster several tests start and stop one after another, because initdb takes seconds. */
let shared: string;

beforeAll(async () => {
  shared = await makeFolder(0o755);
});

afterEach(async () => {
  for (const child of children.splice(0)) await kill(child);
  for (const server of servers.splice(0)) await server.stop();
}, LIMIT_MS);

afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
}, LIMIT_MS);

async function makeFolder(mode: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'crossdock-embedded-'));
  folders.push(folder);
  await chmod(folder, mode);
  return folder;
}

async function start(dataDir: string, lines: string[] = []): Promise<EmbeddedServer> {
  const log = (line: string) => void lines.push(line);
  const server = await startEmbeddedPostgres({
    dataDir,
    database: 'crossdock',
    log,
    settings: { work_mem: '5MB' },
  });
  servers.push(server);
  return server;
}

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query({ text, rowMode: 'array' })).rows.flat();
  } finally {
    await client.end();
  }
}

/**
 * Starts the server from a separate node process, which then waits. A line `stop` on its stdin stops the
 * server.
 */
async function startInChild(dataDir: string): Promise<{ child: ChildProcess; server: EmbeddedServer }> {
  const script = `
    const { startEmbeddedPostgres } = await import(${JSON.stringify(BUILT)});
    const options = { dataDir: ${JSON.stringify(dataDir)}, database: 'crossdock', log() {} };
    const server = await startEmbeddedPostgres(options);
    console.log(JSON.stringify(server));
    process.stdin.once('data', () => server.stop().then(() => process.exit()));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.push(child);
  const lines = createInterface({ input: child.stdout });
  const [line] = await Promise.race([once(lines, 'line'), once(lines, 'close').then(() => [])]);
  if (typeof line !== 'string') throw new Error('The child process ended without a server.');
  return { child, server: JSON.parse(line) };
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

async function stopChild(child: ChildProcess): Promise<void> {
  child.stdin?.write('stop\n');
  await once(child, 'exit');
}

describe('startEmbeddedPostgres', () => {
  test('initialises a cluster and serves the database', async () => {
    const server = await start(shared);

    expect(server).toMatchObject({ started: true, dataDir: join(shared, 'postgres') });
    expect((await stat(join(shared, 'postgres.password'))).mode & 0o777).toBe(0o600);
    const [version, database, lower, encoding, workMem, sockets] = await query(
      server.url,
      `select current_setting('server_version_num')::int / 10000, current_database(), lower('É'),
              current_setting('server_encoding'), current_setting('work_mem'),
              current_setting('unix_socket_directories')`,
    );
    expect({ version, database, lower, encoding, workMem, sockets }).toEqual({
      version: 18,
      database: 'crossdock',
      lower: 'é',
      encoding: 'UTF8',
      workMem: '5MB',
      sockets: '',
    });
    const guess = server.url.replace(/:[^:@]+@/, ':guess@');
    await expect(query(guess, 'select 1')).rejects.toMatchObject({ code: '28P01' });
  }, 60_000);

  test('stopping ends the server, and a second start keeps the data', async () => {
    const first = await start(shared);
    await query(first.url, 'create table kept as select 42 as answer');
    await Promise.all([first.stop(), first.stop()]);
    await expect(query(first.url, 'select 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });

    const second = await start(shared);
    expect(second.started).toBe(true);
    expect(await query(second.url, 'select answer from kept')).toEqual([42]);
  }, 60_000);

  test('the server of a killed process is adopted and stopped by the process that adopted it', async () => {
    const { child, server: orphan } = await startInChild(shared);
    await kill(child);

    const adopted = await start(shared);
    expect(adopted).toMatchObject({ started: false, url: orphan.url });
    await adopted.stop();
    await expect(query(orphan.url, 'select 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  }, 60_000);

  test('stopping does not stop the server of another running process', async () => {
    const { child, server: owned } = await startInChild(shared);

    const guest = await start(shared);
    expect(guest).toMatchObject({ started: false, url: owned.url });
    await guest.stop();
    expect(await query(owned.url, 'select 1')).toEqual([1]);
    await stopChild(child);
    await expect(query(owned.url, 'select 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  }, 60_000);

  test('a stale lock, a stale postmaster.pid and an incomplete cluster do not prevent a start', async () => {
    const first = await start(shared);
    await first.stop();
    // This process's id with another start time, as a restarted container leaves behind.
    await writeFile(join(shared, 'start.lock'), `${process.pid} 1`);
    await writeFile(join(shared, 'owner.pid'), `${process.pid} 1`);
    await writeFile(
      join(shared, 'postgres', 'postmaster.pid'),
      `${process.pid}\n${shared}\n1\n${first.port}\n\n\n`,
    );
    await mkdir(join(shared, 'postgres.init-half'));

    const second = await start(shared);
    expect(second.started).toBe(true);
    expect(await query(second.url, 'select 1')).toEqual([1]);
    expect(await readdir(shared)).not.toContain('postgres.init-half');
  }, 60_000);

  test('4 processes that start in parallel share one server, which 1 of them starts', async () => {
    const folder = await makeFolder(0o755);
    const all = await Promise.all([1, 2, 3, 4].map(() => startInChild(folder)));

    expect(new Set(all.map(({ server }) => server.url)).size).toBe(1);
    expect(all.filter(({ server }) => server.started)).toHaveLength(1);
    const owner = all.find(({ server }) => server.started);
    if (owner) await stopChild(owner.child);
  }, 120_000);

  const asRoot = process.getuid?.() === 0 ? test : test.skip;
  asRoot(
    'root gets a server for a data folder that the service account cannot access',
    async () => {
      const folder = join(await makeFolder(0o700), 'data');
      const lines: string[] = [];
      const first = await start(folder, lines);
      folders.push(dirname(first.dataDir));
      expect(first.dataDir).toMatch(/^\/var\/lib\/crossdock\/[0-9a-f]{16}\/postgres$/);
      expect(lines.join('\n')).toContain(first.dataDir);
      await query(first.url, 'create table kept as select 42 as answer');
      await first.stop();

      // The data stay in the other folder even if this one becomes accessible.
      await chmod(dirname(folder), 0o755);
      const second = await start(folder);
      expect(second.dataDir).toBe(first.dataDir);
      expect(await query(second.url, 'select answer from kept')).toEqual([42]);
    },
    60_000,
  );
});

describe("the service's login on the embedded server", () => {
  const prepare = async (DATA_DIR: string) =>
    prepareDatabase(developmentConfig({ DATA_DIR }), () => undefined, true);
  const secretIn = async (folder: string, name: string) =>
    (await readFile(join(folder, `${name}.password`), 'utf8')).trim();
  const as = (url: string, username: string, password: string) =>
    Object.assign(new URL(url), { username, password }).href;

  test("has a random password that differs from the superuser's", async () => {
    const folder = await makeFolder(0o755);
    const database = await prepare(folder);
    const login = new URL(database.url);
    const superuser = await secretIn(folder, 'postgres');
    expect(login.password).toMatch(/^[\w-]{32}$/);
    expect(login.password).not.toBe(superuser);
    expect((await stat(join(folder, 'service.password'))).mode & 0o777).toBe(0o600);
    await expect(query(as(database.url, 'postgres', login.password), 'select 1')).rejects.toMatchObject({
      code: '28P01',
    });
    const rights = `select rolsuper or rolbypassrls or rolcreaterole or rolcreatedb or rolreplication
      from pg_roles where rolname = current_user`;
    expect(await query(database.url, rights)).toEqual([false]);
    await database.stop();

    // An older version left the superuser's password on this login and no separate password file.
    const older = await start(folder);
    await query(older.url, `alter role crossdock_service password '${superuser}'`);
    await rm(join(folder, 'service.password'));
    await query(older.url, 'create table kept as select 42 as answer');
    await older.stop();

    const upgraded = await prepare(folder);
    const fresh = new URL(upgraded.url).password;
    expect([superuser, login.password]).not.toContain(fresh);
    expect(await query(upgraded.url, 'select count(*)::int from graphile_worker.jobs')).toEqual([0]);
    expect(await query(as(upgraded.url, 'postgres', superuser), 'select answer from kept')).toEqual([42]);
    await expect(query(as(upgraded.url, 'crossdock_service', superuser), 'select 1')).rejects.toMatchObject({
      code: '28P01',
    });

    // Processes that share the server share the login.
    const others = await Promise.all([1, 2, 3].map(() => prepare(folder)));
    for (const { url } of others) expect(url).toBe(upgraded.url);
    expect(await query(upgraded.url, 'select 1')).toEqual([1]);
    for (const { stop } of [...others, upgraded]) await stop();
  }, 120_000);
});
