import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from '@jest/globals';
import { announce, countPrealerts, logIn } from '../support/service/client.js';
import { endProcesses, makeFolder, removeFolders, run, startReplica } from '../support/service/processes.js';
import { statusOf, until, type Replica } from '../support/service/processes.js';

const LIMIT_MS = 60_000;
const OF_THE_FIRST_START = ['Creating the database cluster', 'Applied migrations: ', 'Loaded the demo data.'];

let folder: string | undefined;

afterEach(endProcesses, LIMIT_MS);

afterAll(removeFolders, LIMIT_MS);

test(
  'before the first start, npm run doctor says that there is nothing to examine',
  async () => {
    expect(await doctor()).toEqual({
      code: 2,
      output: expect.stringMatching(/^There is nothing to examine: .*Run npm start once\.$/m),
    });
  },
  LIMIT_MS,
);

test(
  'the first start migrates, loads the demo data, serves, and prints the next steps',
  async () => {
    const replica = await startHere();
    for (const line of OF_THE_FIRST_START) expect(replica.output()).toContain(line);
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
  'a second start keeps the stored data and loads nothing again; after a kill, the next one adopts the running server',
  async () => {
    // The first start announced this parcel.
    const killed = await startHere();
    expect(await countPrealerts(killed.url, 'HELLO-1')).toBe(1);
    for (const line of OF_THE_FIRST_START) expect(killed.output()).not.toContain(line);
    expect(await announce(killed.url, 'KEPT-BY-A-KILL')).toBe(201);
    expect(await killed.stop('SIGKILL')).toMatchObject({ signal: 'SIGKILL' });
    expect(await isServerRunning()).toBe(true);

    const next = await startHere();
    expect(next.output()).toMatch(/PostgreSQL adopted/);
    expect(await countPrealerts(next.url, 'KEPT-BY-A-KILL')).toBe(1);
    expect(await next.stop('SIGINT')).toEqual({ code: 0, signal: null });
    expect(await isServerRunning()).toBe(false);
  },
  LIMIT_MS,
);

test(
  'an occupied port gives one error line and exit status 1, and leaves no database server running',
  async () => {
    const otherServer = createServer().listen(0, '127.0.0.1');
    await once(otherServer, 'listening');
    const address = otherServer.address();
    const port = String(typeof address === 'object' ? address?.port : undefined);
    const refused = run('fixtures/clone.js', { ...(await settings()), PORT: port });
    expect(await refused.ended).toEqual({ code: 1, signal: null });
    otherServer.close();

    const lines = refused.output().trimEnd().split('\n');
    expect(lines.filter((line) => !line.startsWith('PostgreSQL started'))).toEqual([
      expect.stringMatching(new RegExp(`^Cannot listen on 127.0.0.1:${port}: .* Set HOST or PORT\\.$`)),
    ]);
    expect(await isServerRunning()).toBe(false);
  },
  LIMIT_MS,
);

test.each(['1', '2'])(
  'a second start on the port of the first one names its process and the data folder, with API_PROCESSES=%s',
  async (API_PROCESSES) => {
    const first = await startHere();
    const own = await settings();
    const PORT = new URL(first.url).port;
    const second = run('fixtures/clone.js', { ...own, PORT, API_PROCESSES, POOL_SIZE: '10' });
    expect(await second.ended).toEqual({ code: 1, signal: null });
    const { pid } = first.child;
    expect(second.output()).toContain(`EADDRINUSE`);
    expect(second.output()).toContain(
      ` The process ${pid} already serves the data folder ${own['DATA_DIR']}: end it with kill ${pid}. Set HOST or PORT.\n`,
    );
    expect(await statusOf(`${first.url}/ready`)).toBe(200);
    expect(await first.stop()).toEqual({ code: 0, signal: null });
    expect(await isServerRunning()).toBe(false);
  },
  LIMIT_MS,
);

test(
  'a signal during the start ends the process and stops the server',
  async () => {
    const early = run('fixtures/clone.js', { ...(await settings()), PORT: '0', LOG_LEVEL: 'error' });
    await until(async () => /PostgreSQL started/.test(early.output()));
    early.child.kill('SIGINT');
    early.child.kill('SIGINT');
    expect(await early.ended).toEqual({ code: 0, signal: null });
    expect(early.output()).not.toContain('is serving');
    expect(await isServerRunning()).toBe(false);
  },
  LIMIT_MS,
);

test(
  'npm run doctor examines the server while it runs and afterwards, and a repeated signal still stops it',
  async () => {
    const twice = await startHere();
    const meanwhile = await doctor();
    twice.child.kill('SIGINT');
    await until(async () => (await statusOf(`${twice.url}/health`)) !== 200);
    expect(await twice.stop('SIGINT')).toEqual({ code: 0, signal: null });
    expect(await isServerRunning()).toBe(false);
    const afterwards = await doctor();
    expect([meanwhile.code, afterwards.code]).toEqual([0, 0]);
    expect(afterwards.output).toMatch(/^ok +rights +The login has the rights that it needs/m);
  },
  LIMIT_MS,
);

async function settings(): Promise<Record<string, string>> {
  folder ??= await makeFolder();
  return { DATA_DIR: folder };
}

async function doctor() {
  const program = run('src/commands/doctor.js', await settings());
  const { code } = await program.ended;
  return { code, output: program.output() };
}

const startHere = async (): Promise<Replica> => startReplica(await settings());

/** PostgreSQL removes this file on an orderly stop. The unprivileged account can access the test folder. */
async function isServerRunning(): Promise<boolean> {
  const { DATA_DIR = '' } = await settings();
  return existsSync(join(DATA_DIR, 'postgres', 'postmaster.pid'));
}
