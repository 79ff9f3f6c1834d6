import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { readConfig } from '../src/config.js';
import { openDb } from '../src/db/open.js';
import { prepareDatabase } from '../src/db/prepare.js';
import { announce, countPrealerts, logIn } from './support/client.js';
import { endProcesses, freePort, makeFolder, removeFolders, run, startReplica } from './support/processes.js';
import { statusOf, until, type Replica } from './support/processes.js';
import { startOwnServer, type OwnServer } from './support/postgres.js';

const LIMIT_MS = 60_000;
// an operator's own database: no superuser, but the owner, who may make the roles that the migrations need
const OWNER = { user: 'operator', password: 'operator-password' };

let folder: string | undefined;
let server: OwnServer | undefined;

afterEach(endProcesses, LIMIT_MS);

afterAll(async () => {
  await server?.stop();
  await removeFolders();
}, LIMIT_MS);

describe('on the embedded server', () => {
  test(
    'the first start migrates, loads the demo data, serves, and says what to try next',
    async () => {
      const replica = await startHere();
      expect(replica.output()).toMatch(/Creating the database cluster/);
      expect(replica.output()).toMatch(/Applied migrations: \d+/);
      expect(replica.output()).toMatch(/Loaded the demo data\./);
      await until(async () => replica.output().includes('Ctrl-C stops'));
      expect(replica.output()).toContain(`Crossdock is serving ${replica.url}\n`);
      expect(replica.output()).toContain(`${replica.url}/docs`);

      expect(await logIn(replica.url)).toMatch(/^\S+\.\S+\.\S+$/);
      expect(await announce(replica.url, 'HELLO-1')).toBe(201);
      const page = await fetch(`${replica.url}/docs`);
      expect(page.status).toBe(200);
      expect(page.headers.get('content-type')).toMatch(/^text\/html/);
      expect(await replica.stop()).toEqual({ code: 0, signal: null });
      expect(await isServerRunning()).toBe(false);
    },
    LIMIT_MS,
  );

  test(
    'a second start keeps what the first has stored, and loads nothing again',
    async () => {
      const first = await startHere();
      expect(await announce(first.url, 'KEPT-BY-A-RESTART')).toBe(201);
      await first.stop();

      const second = await startHere();
      expect(await countPrealerts(second.url, 'KEPT-BY-A-RESTART')).toBe(1);
      expect(second.output()).not.toMatch(/Applied|Loaded|Creating/);
      await second.stop('SIGINT');
      expect(await isServerRunning()).toBe(false);
    },
    LIMIT_MS,
  );

  test(
    'a killed service is started again on the server that it left, with all that it had acknowledged',
    async () => {
      const killed = await startHere();
      expect(await announce(killed.url, 'KEPT-BY-A-KILL')).toBe(201);
      expect(await killed.stop('SIGKILL')).toMatchObject({ signal: 'SIGKILL' });
      expect(await isServerRunning()).toBe(true);

      const next = await startHere();
      expect(next.output()).toMatch(/PostgreSQL adopted/);
      expect(await countPrealerts(next.url, 'KEPT-BY-A-KILL')).toBe(1);
      expect(await next.stop()).toEqual({ code: 0, signal: null });
      expect(await isServerRunning()).toBe(false);
    },
    LIMIT_MS,
  );

  test(
    'a port that is taken gives one line and exit status 1, and leaves no database server behind',
    async () => {
      const squatter = createServer().listen(0, '127.0.0.1');
      await once(squatter, 'listening');
      const address = squatter.address();
      const port = String(typeof address === 'object' ? address?.port : undefined);
      const refused = run('src/main.js', { ...(await settings()), PORT: port });
      expect(await refused.ended).toEqual({ code: 1, signal: null });
      squatter.close();

      const said = refused.output().trimEnd().split('\n');
      expect(said.filter((line) => !line.startsWith('PostgreSQL started'))).toEqual([
        expect.stringMatching(new RegExp(`^Cannot listen on 127.0.0.1:${port}: .* Set HOST or PORT\\.$`)),
      ]);
      expect(await isServerRunning()).toBe(false);
    },
    LIMIT_MS,
  );

  test(
    'a signal during the start, or one that comes twice, ends it all the same and stops the server',
    async () => {
      const early = run('src/main.js', { ...(await settings()), PORT: '0', LOG_LEVEL: 'error' });
      await until(async () => /PostgreSQL started/.test(early.output()));
      early.child.kill('SIGINT');
      early.child.kill('SIGINT');
      expect(await early.ended).toEqual({ code: 0, signal: null });
      expect(early.output()).not.toContain('is serving');

      const twice = await startHere();
      twice.child.kill('SIGINT');
      await until(async () => (await statusOf(`${twice.url}/health`)) !== 200);
      expect(await twice.stop('SIGINT')).toEqual({ code: 0, signal: null });
      expect(await isServerRunning()).toBe(false);
    },
    LIMIT_MS,
  );
});

describe('on the PostgreSQL of DATABASE_URL', () => {
  test(
    'of 2 replicas that start together 1 migrates and 1 loads the demo data, as an owner who is no superuser',
    async () => {
      const DATABASE_URL = await makeDatabase('together');
      const replicas = await Promise.all([startReplica({ DATABASE_URL }), startReplica({ DATABASE_URL })]);
      const said = replicas.map((replica) => replica.output()).join('\n');
      expect(said.match(/Applied migrations/g)).toHaveLength(1);
      expect(said.match(/Loaded the demo data/g)).toHaveLength(1);

      const [first, second] = replicas;
      expect(await announce(first.url, 'SEEN-BY-BOTH')).toBe(201);
      expect(await countPrealerts(second.url, 'SEEN-BY-BOTH')).toBe(1);
      const endings = await Promise.all(replicas.map((replica) => replica.stop()));
      expect(endings.map(({ code }) => code)).toEqual([0, 0]);
    },
    LIMIT_MS,
  );

  test(
    'in development the owner serves in the role that owns nothing and that row-level security binds',
    async () => {
      const config = readConfig({ DATABASE_URL: await makeDatabase('stepped_down') });
      const { url, assumeRole = '' } = await prepareDatabase(config, () => undefined);
      const db = openDb({ url, size: 1, assumeRole, onError: () => undefined });
      const { rows } = await db.pool.query(
        'select session_user, current_user, (select count(*)::int from users)',
      );
      await db.close();
      expect(rows).toEqual([{ session_user: OWNER.user, current_user: 'crossdock_app', count: 0 }]);
    },
    LIMIT_MS,
  );

  test(
    'without the database /ready is 503 in the envelope, and 200 within 2 s of its return',
    async () => {
      const DATABASE_URL = await makeDatabase('away');
      const replica = await startReplica({ DATABASE_URL });
      await server?.shutDown();
      await until(async () => (await statusOf(`${replica.url}/ready`)) === 503);
      const away = await fetch(`${replica.url}/ready`);
      expect(await away.json()).toMatchObject({
        status: 'error',
        code: 'unavailable',
        request_id: away.headers.get('x-request-id'),
        timestamp: expect.any(Number),
      });
      expect(Number(away.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await statusOf(`${replica.url}/health`)).toBe(200);

      await server?.restart();
      await until(async () => (await statusOf(`${replica.url}/ready`)) === 200, 2_000);
      expect(await announce(replica.url, 'AFTER-THE-RETURN')).toBe(201);
      await replica.stop();
    },
    LIMIT_MS,
  );

  test('a database that nobody serves gives one line without the password, and exit status 1', async () => {
    const port = await freePort();
    const url = `postgres://somebody:secret-word@127.0.0.1:${port}/nowhere`;
    const refused = run('src/main.js', { DATABASE_URL: url });
    expect(await refused.ended).toEqual({ code: 1, signal: null });
    expect(refused.output()).toMatch(/^DATABASE_URL: .*ECONNREFUSED.*\n$/);
    expect(refused.output()).not.toContain('secret-word');
  });
});

async function settings(): Promise<Record<string, string>> {
  folder ??= await makeFolder();
  return { DATA_DIR: folder };
}

const startHere = async (): Promise<Replica> => startReplica(await settings());

/** PostgreSQL removes the file when it stops in order; the test folder is where root's account can enter it. */
async function isServerRunning(): Promise<boolean> {
  const { DATA_DIR = '' } = await settings();
  return existsSync(join(DATA_DIR, 'postgres', 'postmaster.pid'));
}

async function makeDatabase(name: string): Promise<string> {
  if (!server) {
    server = await startOwnServer();
    await server.query(`create role ${OWNER.user} login nosuperuser createrole password '${OWNER.password}'`);
  }
  await server.query(`create database ${name} owner ${OWNER.user}`);
  return server.urlOf(name, OWNER);
}
