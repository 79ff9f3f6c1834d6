import { randomUUID } from 'node:crypto';
import { Agent } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { DEMO } from '../../fixtures/demo/seed.js';
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
import { rounds } from '../support/harness/effort.js';
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

const OUTAGES = [
  { what: 'a restart of PostgreSQL', prefix: 'RESTART', interrupt: () => server.shutDown() },
  { what: 'a crash of PostgreSQL', prefix: 'CRASH', interrupt: () => server.crash() },
  {
    what: 'the crash of one process of PostgreSQL',
    prefix: 'BACKEND',
    interrupt: () => server.crashBackend('crossdock'),
  },
];

test.each(OUTAGES)(
  '$what loses no acknowledged pre-alert, every response is 2xx or 503, and requests succeed within 2 s of the recovery',
  async ({ prefix, interrupt }) => {
    const requests: { n: number; atMs: number; outcome: Outcome }[] = [];
    let isOver = false;
    const load = askSteadily(
      rounds(50, 100),
      () => isOver,
      async (n) => {
        const atMs = performance.now();
        requests.push({
          n,
          atMs,
          outcome: await ask(replica.url, requestOf(n, prefix), agent).catch(codeOf),
        });
      },
    );
    await until(async () => requests.filter(({ outcome }) => isServed(outcome)).length >= 20);
    await interrupt();
    const before = requests.length;
    await until(async () => requests.length >= before + 25);
    await server.restart();
    const backMs = performance.now();
    await until(async () => requests.filter(({ atMs }) => atMs > backMs + 2_000).length >= 20);
    isOver = true;
    await load;

    expect(unexpectedOf(requests.map(({ outcome }) => outcome))).toEqual([]);
    const late = requests.filter(({ atMs, outcome }) => atMs > backMs + 2_000 && !isServed(outcome));
    expect(late).toEqual([]);
    expect(requests.filter(({ outcome }) => !isServed(outcome))).not.toEqual([]);

    const stored = await server.query(
      `select tracking_number from prealerts where tracking_number like '${prefix}-%'`,
      'crossdock',
    );
    const numbers = new Set(stored.map((row) => row['tracking_number']));
    const acknowledged = requests.filter(({ n, outcome }) => n % 4 < 2 && isServed(outcome));
    expect(acknowledged.filter(({ n }) => !numbers.has(`${prefix}-${n}`))).toEqual([]);
    expect(acknowledged.length).toBeGreaterThan(50);
  },
  LIMIT_MS,
);

test(
  'while 8 requests use all connections of one tenant, 492 others get 503 after about 2 s, and then all requests succeed again',
  async () => {
    // What 500 requests take that wait for nothing.
    const beforeMs = performance.now();
    await Promise.all(Array.from({ length: 500 }, () => ask(replica.url, { path: '/health' }, agent)));
    const burstMs = performance.now() - beforeMs;
    const owner = await lockPrealerts();
    const startMs = performance.now();
    const answered: { outcome: Outcome; tookMs: number }[] = [];
    const outcomes = Array.from({ length: 500 }, async (_, n) => {
      const outcome = await ask(replica.url, withOwnTransaction(requestOf(n, 'POOL')), agent).catch(codeOf);
      answered.push({ outcome, tookMs: performance.now() - startMs });
      return outcome;
    });
    try {
      await until(async () => answered.length >= 492, 30_000);
    } finally {
      await owner.end();
    }
    const refused = answered.slice(0, 492);
    expect(refused.filter(({ outcome }) => !isUnavailable(outcome))).toEqual([]);
    const times = refused.map(({ tookMs }) => tookMs);
    expect(Math.min(...times)).toBeGreaterThan(1_500);
    expect(Math.max(...times)).toBeLessThan(4_000 + 5 * burstMs);

    const last = await Promise.all(outcomes);
    expect(last.filter(isServed)).toHaveLength(8);
    const after = await Promise.all(
      Array.from({ length: 50 }, (_, n) => ask(replica.url, requestOf(n, 'AFTER'), agent).catch(codeOf)),
    );
    expect(after.filter((outcome) => !isServed(outcome))).toEqual([]);
  },
  LIMIT_MS,
);

/** Adds an Idempotency-Key to a pre-alert sent with an API key. Without it, requests of one key share a transaction (decision 0066). */
function withOwnTransaction(question: Question): Question {
  const isWithKey = question.path === '/api/Prealert.php';
  return isWithKey
    ? { ...question, headers: { ...question.headers, 'idempotency-key': randomUUID() } }
    : question;
}

/** Locks the pre-alerts until the connection ends. */
async function lockPrealerts(): Promise<pg.Client> {
  const owner = new pg.Client({ connectionString: server.urlOf('crossdock') });
  owner.on('error', () => undefined);
  await owner.connect();
  await owner.query('begin; lock table prealerts in access exclusive mode');
  return owner;
}

/**
 * Returns a pipelined write, a write through Prisma, a read or an intake in rotation, because each accesses
 * the database differently.
 */
function requestOf(n: number, prefix: string): Question {
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

/** Summarizes the outcomes that are neither a success nor the service's own 503. */
const unexpectedOf = (outcomes: Outcome[]) =>
  outcomes
    .filter((outcome) => !isServed(outcome) && !isUnavailable(outcome))
    .map((outcome) => (typeof outcome === 'string' ? outcome : `${outcome.status} ${outcome.text}`));
