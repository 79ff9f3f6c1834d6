import { setTimeout as sleep } from 'node:timers/promises';
import { Agent } from 'node:http';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { rounds } from '../../support/harness/effort.js';
import {
  ask,
  askSteadily,
  codeOf,
  isGoodbye,
  isServed,
  listOf,
  logIn,
  prealertOf,
  type Outcome,
} from '../../support/service/client.js';
import { demoDatabase, type TestDatabase } from '../../support/service/database.js';
import { endProcesses, freePort, run, statusOf, until } from '../../support/service/processes.js';
import { childrenOf, commandOf, openLines, startServer } from '../../support/fixture/server-processes.js';

const LIMIT_MS = 120_000;
let database: TestDatabase;
let owner: pg.Client;
const agents: Agent[] = [];

beforeAll(async () => {
  database = await demoDatabase();
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
}, LIMIT_MS);

afterEach(async () => {
  for (const agent of agents.splice(0)) agent.destroy();
  await endProcesses();
}, LIMIT_MS);

afterAll(async () => {
  await owner.end();
  await database.drop();
}, LIMIT_MS);

const start = (env: Record<string, string> = {}) => startServer({ DATABASE_URL: database.ownerUrl, ...env });

function makeAgent(maxSockets: number): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets });
  agents.push(agent);
  return agent;
}

test(
  'both processes serve on one port, another one runs the jobs, and the addresses are logged once',
  async () => {
    const server = await start({ RUN_WORKER: 'true' });
    const lines = await openLines(server);
    expect(lines.map(({ pid }) => pid).toSorted()).toEqual(childrenOf(server, 'api').toSorted());
    expect(childrenOf(server, 'jobs')).toHaveLength(1);
    expect(server.output().match(/Server listening at/g)).toHaveLength(1);
    expect(server.output().match(/Crossdock is serving/g)).toHaveLength(1);
    for (const line of lines) line.close();
  },
  LIMIT_MS,
);

test(
  'a start that is refused prints one line, also while the other processes load',
  async () => {
    const url = Object.assign(new URL(database.ownerUrl), { pathname: '/no_such_database' }).href;
    for (let n = 0; n < rounds(4, 12); n += 1) {
      const refused = run('src/main.js', { DATABASE_URL: url, API_PROCESSES: '2' });
      // The output ends with the last process.
      expect(await refused.ended).toEqual({ code: 1, signal: null });
      expect(refused.output()).toMatch(/^DATABASE_(OWNER_)?URL: [^\n]*does not exist[^\n]*\n$/);
    }
  },
  LIMIT_MS,
);

test(
  'the processes share POOL_SIZE connections',
  async () => {
    const server = await start({ POOL_SIZE: '5', RUN_WORKER: 'true' });
    const agent = makeAgent(64);
    const token = await logIn(server.url);
    let most = 0;
    let isOver = false;
    const load = askSteadily(
      100,
      () => isOver,
      async () => void (await ask(server.url, listOf(token), agent).catch(codeOf)),
    );
    for (let n = 0; n < 40; n += 1) {
      const { rows } = await owner.query<{ count: number }>(
        `select count(*)::int as count from pg_stat_activity
         where datname = current_database() and application_name = 'crossdock'`,
      );
      most = Math.max(most, rows[0]?.count ?? 0);
      await sleep(25);
    }
    isOver = true;
    await load;
    // The jobs have as many, and four for the queue.
    expect(most).toBeLessThanOrEqual(5 + 5 + 4);
    // Connections of both processes were open: three and two.
    expect(most).toBeGreaterThanOrEqual(4);
  },
  LIMIT_MS,
);

test(
  'a process that is killed is started again, and no acknowledged pre-alert is lost',
  async () => {
    const server = await start();
    const [victim = 0, other = 0] = childrenOf(server, 'api');
    const agent = makeAgent(16);
    const acknowledged: string[] = [];
    let isOver = false;
    const load = askSteadily(
      rounds(100, 200),
      () => isOver,
      async (n) => {
        const number = `KILLED-${n}`;
        const outcome = await ask(server.url, prealertOf(number), agent).catch(codeOf);
        if (isServed(outcome)) acknowledged.push(number);
      },
    );
    await until(async () => acknowledged.length >= 50);
    process.kill(victim, 'SIGKILL');
    await until(async () => {
      const now = childrenOf(server, 'api');
      return now.length === 2 && !now.includes(victim);
    });
    expect(childrenOf(server, 'api')).toContain(other);
    isOver = true;
    await load;
    // Both serve again.
    const lines = await openLines(server);
    expect(lines.map(({ pid }) => pid).toSorted()).toEqual(childrenOf(server, 'api').toSorted());
    for (const line of lines) line.close();
    const { rows } = await owner.query<{ number: string }>(
      "select tracking_number as number from prealerts where tracking_number like 'KILLED-%'",
    );
    const stored = new Set(rows.map(({ number }) => number));
    expect(acknowledged.filter((number) => !stored.has(number))).toEqual([]);
    const report = server
      .output()
      .split('\n')
      .find((line) => line.includes('process.ended'));
    expect(JSON.parse(report ?? '{}')).toMatchObject({
      level: 50,
      childPid: victim,
      role: 'api',
      signal: 'SIGKILL',
    });
  },
  LIMIT_MS,
);

test(
  'SIGTERM under load loses no accepted request, and all processes end',
  async () => {
    const server = await start();
    const children = [...childrenOf(server, 'api'), ...childrenOf(server, 'jobs')];
    const agent = makeAgent(32);
    const token = await logIn(server.url);
    const outcomes: Outcome[] = [];
    const reset: string[] = [];
    let isOver = false;
    const load = askSteadily(
      200,
      () => isOver,
      async (n) => {
        const request = n % 2 ? listOf(token) : prealertOf(`TERM-${n}`);
        const outcome = await ask(server.url, request, agent).catch(codeOf);
        outcomes.push(outcome);
        if (outcome === 'ECONNRESET') reset.push(`TERM-${n}`);
      },
    );
    await until(async () => outcomes.length >= 200);
    const signalMs = performance.now();
    expect(await server.stop()).toEqual({ code: 0, signal: null });
    expect(performance.now() - signalMs).toBeLessThan(10_000);
    isOver = true;
    await load;
    // A connection that arrives after the last process has stopped accepting, and before the primary process has closed the port, is
    // reset. On a busy machine this takes a moment. Its request was not executed.
    const notAccepted: unknown[] = ['ECONNREFUSED', 'ECONNRESET'];
    const lost = outcomes.filter(
      (outcome) => !isServed(outcome) && !isGoodbye(outcome) && !notAccepted.includes(outcome),
    );
    expect(lost).toEqual([]);
    const { rows } = await owner.query(
      'select tracking_number from prealerts where tracking_number = any($1)',
      [reset],
    );
    expect(rows).toEqual([]);
    expect(outcomes).toContain('ECONNREFUSED');
    expect(children.map(commandOf)).toEqual(children.map(() => ''));
  },
  LIMIT_MS,
);

test(
  '/ready fails in every process before one of them stops listening, if a balancer asked any of them',
  async () => {
    const server = await start();
    const [first, second] = await openLines(server);
    expect((await first?.ask({ path: '/ready' }))?.status).toBe(200);
    // The question is reported to the primary process.
    await sleep(200);
    server.child.kill('SIGTERM');
    const statuses = async () => [
      (await first?.ask({ path: '/ready' }))?.status,
      (await second?.ask({ path: '/ready' }))?.status,
      await statusOf(`${server.url}/health`),
    ];
    await until(async () => (await statuses()).join() === '503,503,200');
    expect(await server.ended).toEqual({ code: 0, signal: null });
  },
  LIMIT_MS,
);

test(
  'a single process that gets SIGTERM completes its requests and is replaced',
  async () => {
    const server = await start();
    const [stopped = 0] = childrenOf(server, 'api');
    process.kill(stopped, 'SIGTERM');
    await until(async () => {
      const now = childrenOf(server, 'api');
      return now.length === 2 && !now.includes(stopped);
    });
    expect(await statusOf(`${server.url}/ready`)).toBe(200);
    expect(server.output()).toContain('"code":0');
  },
  LIMIT_MS,
);

test(
  'when the primary process is killed, the others complete their requests and end, and the port is free',
  async () => {
    const server = await start({ RUN_WORKER: 'true' });
    await until(async () => childrenOf(server, 'jobs').length === 1);
    const children = [...childrenOf(server, 'api'), ...childrenOf(server, 'jobs')];
    expect(children).toHaveLength(3);
    await owner.query('begin; lock table prealerts in exclusive mode');
    const accepted = ask(server.url, prealertOf('ORPHANED'));
    await until(async () => {
      const { rows } = await owner.query(
        'select from pg_locks where not granted and relation = $1::regclass',
        ['prealerts'],
      );
      return rows.length > 0;
    });
    server.child.kill('SIGKILL');
    const { port } = new URL(server.url);
    await until(async () => {
      const rival = createServer();
      const listening = once(rival, 'listening').then(
        () => true,
        () => false,
      );
      rival.listen(Number(port), '127.0.0.1');
      const isFree = await listening;
      rival.close();
      return isFree;
    });
    await owner.query('rollback');
    expect((await accepted).status).toBe(201);
    await until(async () => children.every((pid) => commandOf(pid) === ''), 12_000);
  },
  LIMIT_MS,
);

test(
  'a wrong setting, and a port that is taken, end the start in one line with status 1',
  async () => {
    const faulty = run('fixtures/clone.js', { API_PROCESSES: '3', POOL_SIZE: '2' });
    expect(await faulty.ended).toEqual({ code: 1, signal: null });
    expect(faulty.output()).toBe(
      'POOL_SIZE must be at least API_PROCESSES, which is 3: each process needs a connection\n',
    );

    const rival = createServer().listen(0, '127.0.0.1');
    await once(rival, 'listening');
    const address = rival.address();
    const PORT = String(typeof address === 'object' ? address?.port : '');
    const taken = run('fixtures/clone.js', {
      API_PROCESSES: '2',
      DATABASE_URL: database.ownerUrl,
      PORT,
    });
    expect(await taken.ended).toEqual({ code: 1, signal: null });
    rival.close();
    expect(taken.output()).toBe(
      `Cannot listen on 127.0.0.1:${PORT}: bind EADDRINUSE 127.0.0.1:${PORT}. Set HOST or PORT.\n`,
    );
  },
  LIMIT_MS,
);

test(
  'a database that is away ends the start with status 1 and leaves no process',
  async () => {
    const server = run('fixtures/clone.js', {
      API_PROCESSES: '2',
      DATABASE_URL: `postgres://nobody@127.0.0.1:${await freePort()}/none`,
    });
    expect(await server.ended).toEqual({ code: 1, signal: null });
    expect(server.output()).toMatch(
      /^(DATABASE_(OWNER_)?URL: [^\n]* Trying again for 20 seconds\.\n)+DATABASE_URL: [^\n]*ECONNREFUSED[^\n]*\n$/,
    );
  },
  LIMIT_MS,
);

test('the program of the child processes says that it is none of its own', async () => {
  const child = run('src/child.js', {});
  expect(await child.ended).toEqual({ code: 1, signal: null });
  expect(child.output()).toBe(
    'This program is a part of crossdock serve, which starts it. Run crossdock serve.\n',
  );
});
