import { readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { request, type ClientRequest } from 'node:http';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { childrenOf, openLines, startServer } from '../../support/fixture/server-processes.js';
import { ask, logIn, prealertOf } from '../../support/service/client.js';
import { demoDatabase, type TestDatabase } from '../../support/service/database.js';
import {
  endProcesses,
  makeFolder,
  removeFolders,
  startReplica,
  until,
  type Replica,
} from '../../support/service/processes.js';

const LIMIT_MS = 120_000;
const ID = '01890000-0000-7000-8000-000000000000';

let database: TestDatabase;
let folder: string;
const uploads: ClientRequest[] = [];

beforeAll(async () => {
  database = await demoDatabase();
  folder = await makeFolder();
}, LIMIT_MS);

afterEach(async () => {
  for (const upload of uploads.splice(0)) upload.destroy();
  await endProcesses();
}, LIMIT_MS);

afterAll(async () => {
  await removeFolders();
  await database.drop();
}, LIMIT_MS);

const settings = () => ({ DATABASE_URL: database.ownerUrl, TMPDIR: folder });

const spooled = () => readdirSync(folder).filter((name) => name.startsWith('crossdock-'));

/** Begins an upload whose body never ends. Returns when a file of it is on disk. */
async function beginUpload({ url }: Replica): Promise<string> {
  const token = await logIn(url, 'iex');
  const upload = request(new URL('/api/UploadCustomers.php', url), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'multipart/form-data; boundary=part',
      'content-length': '100000',
    },
  });
  uploads.push(upload);
  upload.on('error', () => undefined);
  upload.write(
    `--part\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n${'x'.repeat(50_000)}`,
  );
  await until(async () => spooled().length > 0);
  return spooled()[0] ?? '';
}

test(
  'the primary process deletes the uploads of a child process that was killed',
  async () => {
    const server = await startServer(settings());
    const name = await beginUpload(server);
    const pid = Number(name.split('-')[1]);
    expect(childrenOf(server, 'api')).toContain(pid);
    process.kill(pid, 'SIGKILL');
    await until(async () => spooled().length === 0);
    expect(spooled()).toEqual([]);
  },
  LIMIT_MS,
);

test(
  'the next start deletes the uploads of a server that was killed, and none of a process that runs or may run',
  async () => {
    const server = await startReplica(settings());
    const left = await beginUpload(server);
    await server.stop('SIGKILL');
    expect(spooled()).toEqual([left]);
    const running = `crossdock-${process.pid}-${ID}`;
    const recent = `${left.slice(0, -1)}${left.endsWith('0') ? '1' : '0'}`;
    for (const name of [running, recent]) writeFileSync(join(folder, name), '');
    const yesterday = Date.now() / 1000 - 86_400;
    for (const name of [running, left]) utimesSync(join(folder, name), yesterday, yesterday);
    await startReplica(settings());
    expect(spooled().sort()).toEqual([running, recent].sort());
  },
  LIMIT_MS,
);

test(
  'child processes go on with limits of their own while the primary process is stopped, and say so',
  async () => {
    const server = await startServer({ ...settings(), RATE_LIMIT_PER_MINUTE: '40', PASSWORD_HASH_COST: '4' });
    const lines = await openLines(server);
    const [line] = lines;
    if (!line) throw new Error('There are two.');
    const pid = server.child.pid ?? 0;
    process.kill(pid, 'SIGSTOP');
    try {
      const startMs = performance.now();
      // It waits for the primary process until that is known to be silent.
      expect((await line.ask(prealertOf('STOPPED-1'))).status).toBe(201);
      expect(performance.now() - startMs).toBeLessThan(8_000);
      await until(async () => server.output().split('primary.silent').length > 2);
      const nextMs = performance.now();
      expect((await line.ask(prealertOf('STOPPED-2'))).status).toBe(201);
      expect(await logIn(server.url)).toMatch(/^ey/);
      expect(performance.now() - nextMs).toBeLessThan(2_000);
      // The limits hold in each process.
      const statuses: number[] = [];
      for (let n = 0; n < 60; n += 1)
        statuses.push(
          (
            await line.ask({
              method: 'POST',
              path: '/api/Prealert.php',
              headers: { 'x-api-key': DEMO.apiKeys.HRB },
              body: {},
            })
          ).status,
        );
      expect(statuses.filter((status) => status === 400)).toHaveLength(40);
      expect(statuses.filter((status) => status === 429)).toHaveLength(20);
      expect((await ask(server.url, { path: '/ready' })).status).toBe(200);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await until(async () => server.output().split('primary.answers').length > 2);
    // What the primary process gave too late has been given back: logins are not stuck.
    for (let n = 0; n < 4; n += 1) expect(await logIn(server.url)).toMatch(/^ey/);
    for (const each of lines) each.close();
  },
  LIMIT_MS,
);

test(
  'a child process that is told to stop does so while the primary process is stopped',
  async () => {
    const server = await startServer(settings());
    const pid = server.child.pid ?? 0;
    const [victim = 0, ...others] = childrenOf(server, 'api');
    process.kill(pid, 'SIGSTOP');
    try {
      await until(async () => server.output().split('primary.silent').length > 2);
      process.kill(victim, 'SIGTERM');
      // Its parent is stopped, so that it stays in the table as a zombie.
      await until(async () => childrenOf(server, 'api').join() === others.join(), 15_000);
      expect(childrenOf(server, 'api')).toEqual(others);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  },
  LIMIT_MS,
);
