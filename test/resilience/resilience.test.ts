import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { DEMO } from '../../src/development/demo/seed.js';
import {
  ask,
  askSteadily,
  codeOf,
  isServed,
  isUnavailable,
  listOf,
  logIn,
} from '../support/service/client.js';
import { prealertOf, type Outcome, type Question } from '../support/service/client.js';
import { startOwnServer, type OwnServer } from '../support/service/postgres.js';
import {
  endProcesses,
  removeFolders,
  startReplica,
  until,
  type Replica,
} from '../support/service/processes.js';

const LIMIT_MS = 60_000;
const agent = new Agent({ keepAlive: true, maxSockets: 600 });
let server: OwnServer;
let replica: Replica;
let token: string;

beforeAll(async () => {
  server = await startOwnServer();
  await server.query('create database crossdock');
  replica = await startReplica({ DATABASE_URL: server.urlOf('crossdock'), POOL_SIZE: '10' });
  token = await logIn(replica.url);
}, LIMIT_MS);

afterAll(async () => {
  agent.destroy();
  await endProcesses();
  await server.stop();
  await removeFolders();
}, LIMIT_MS);

const BREAKS = [
  { what: 'a restart of PostgreSQL', prefix: 'RESTART', breakIt: () => server.shutDown() },
  { what: 'a crash of PostgreSQL', prefix: 'CRASH', breakIt: () => server.crash() },
  {
    what: 'the crash of one process of PostgreSQL',
    prefix: 'BACKEND',
    breakIt: () => server.crashBackend('crossdock'),
  },
];

test.each(BREAKS)(
  '$what costs no acknowledged pre-alert; replies are 2xx or 503, and 2xx within 2 s of its return',
  async ({ prefix, breakIt }) => {
    const asked: { n: number; atMs: number; outcome: Outcome }[] = [];
    let isOver = false;
    const load = askSteadily(
      100,
      () => isOver,
      async (n) => {
        const atMs = performance.now();
        asked.push({ n, atMs, outcome: await ask(replica.url, questionOf(n, prefix), agent).catch(codeOf) });
      },
    );
    await sleep(1_000);
    await breakIt();
    await sleep(500);
    await server.restart();
    const backMs = performance.now();
    await sleep(3_000);
    isOver = true;
    await load;

    expect(strangeOf(asked.map(({ outcome }) => outcome))).toEqual([]);
    const late = asked.filter(({ atMs, outcome }) => atMs > backMs + 2_000 && !isServed(outcome));
    expect(late).toEqual([]);
    expect(asked.some(({ outcome }) => !isServed(outcome))).toBe(true);

    const stored = await server.query(
      `select tracking_number from prealerts where tracking_number like '${prefix}-%'`,
      'crossdock',
    );
    const numbers = new Set(stored.map((row) => row['tracking_number']));
    const acknowledged = asked.filter(({ n, outcome }) => n % 4 < 2 && isServed(outcome));
    expect(acknowledged.filter(({ n }) => !numbers.has(`${prefix}-${n}`))).toEqual([]);
    expect(acknowledged.length).toBeGreaterThan(50);
  },
  LIMIT_MS,
);

test(
  'with 8 requests holding the connections that a tenant of several may have, 492 more are told 503 after about 2 s; then all is served again',
  async () => {
    const owner = await lockPrealerts();
    const startMs = performance.now();
    const answered: { outcome: Outcome; tookMs: number }[] = [];
    const outcomes = Array.from({ length: 500 }, async (_, n) => {
      const outcome = await ask(replica.url, questionOf(n, 'POOL'), agent).catch(codeOf);
      answered.push({ outcome, tookMs: performance.now() - startMs });
      return outcome;
    });
    await until(async () => answered.length >= 492, 10_000).finally(() => owner.end());
    const refused = answered.slice(0, 492);
    expect(refused.filter(({ outcome }) => !isUnavailable(outcome))).toEqual([]);
    const times = refused.map(({ tookMs }) => tookMs);
    expect(Math.min(...times)).toBeGreaterThan(1_500);
    expect(Math.max(...times)).toBeLessThan(5_000);

    const last = await Promise.all(outcomes);
    expect(last.filter(isServed)).toHaveLength(8);
    const after = await Promise.all(
      Array.from({ length: 50 }, (_, n) => ask(replica.url, questionOf(n, 'AFTER'), agent).catch(codeOf)),
    );
    expect(after.filter((outcome) => !isServed(outcome))).toEqual([]);
  },
  LIMIT_MS,
);

/** Until the connection ends, whatever touches a pre-alert waits. */
async function lockPrealerts(): Promise<pg.Client> {
  const owner = new pg.Client({ connectionString: server.urlOf('crossdock') });
  owner.on('error', () => undefined);
  await owner.connect();
  await owner.query('begin; lock table prealerts in access exclusive mode');
  return owner;
}

/** A pipelined write, a write through Prisma, a read and an intake, in turn: each talks to the database its own way. */
function questionOf(n: number, prefix: string): Question {
  const number = `${prefix}-${n}`;
  const headers = { authorization: `Bearer ${token}` };
  const courier = { courier_id: DEMO.couriers.IEX, user_code: 'IEX-1001' };
  switch (n % 4) {
    case 0:
      return prealertOf(number);
    case 1:
      return {
        method: 'POST',
        path: '/api/ManagePrealerts.php',
        headers,
        body: { tracking_number: number, vendor: 'Example Shoes', ...courier },
      };
    case 2:
      return listOf(token);
    default:
      return {
        method: 'POST',
        path: '/api/ReceivePackage.php',
        headers,
        body: { tracking_number: number, weight: 1.5, ...courier },
      };
  }
}

/** What is neither served nor a 503 of ours, in short. */
const strangeOf = (outcomes: Outcome[]) =>
  outcomes
    .filter((outcome) => !isServed(outcome) && !isUnavailable(outcome))
    .map((outcome) => (typeof outcome === 'string' ? outcome : `${outcome.status} ${outcome.text}`));
