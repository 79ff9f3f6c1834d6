import { Agent } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { ask, logIn, type Answer } from '../../support/service/client.js';
import { demoDatabase, type TestDatabase } from '../../support/service/database.js';
import { endProcesses, until, type Replica } from '../../support/service/processes.js';
import { startServer } from '../../support/fixture/server-processes.js';

// A caller sees the same limits from a server of two processes as from one of one process (docs/limits.md).

const LIMIT_MS = 120_000;
const PER_MINUTE = 300;
const CHANGES = 20;
const CONNECTIONS = 60;
const FAILURES_OF_ADDRESS = 50;

let database: TestDatabase;
let server: Replica;
/** Enough connections that both processes serve many callers at the same time. */
const agent = new Agent({ keepAlive: true, maxSockets: 40 });

beforeAll(async () => {
  database = await demoDatabase();
  server = await startServer({
    DATABASE_URL: database.ownerUrl,
    LOG_LEVEL: 'error',
    PASSWORD_HASH_COST: '4',
    RATE_LIMIT_PER_MINUTE: String(PER_MINUTE),
    CUSTOMER_CHANGES_PER_DAY: String(CHANGES),
    MAX_CONNECTIONS_PER_ADDRESS: String(CONNECTIONS),
  });
}, LIMIT_MS);

afterAll(async () => {
  agent.destroy();
  await endProcesses();
  await database.drop();
}, LIMIT_MS);

const manyTimes = (count: number, call: (n: number) => Promise<Answer>): Promise<Answer[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => call(n)));

/** Returns how many answers have each status. */
function tally(answers: Answer[]): Record<string, number> {
  const statuses = answers.map(({ status }) => String(status));
  return Object.fromEntries(
    [...new Set(statuses)].map((each) => [each, statuses.filter((s) => s === each).length]),
  );
}

const logInWrongly = (username: string) =>
  ask(
    server.url,
    {
      method: 'POST',
      path: '/api/login.php',
      body: { action: 'login', username, password: 'wrong-password' },
    },
    agent,
  );

test(
  `of 500 requests of one key, ${PER_MINUTE} are served in a minute, and the header counts them`,
  async () => {
    const empty = { method: 'POST', path: '/api/Prealert.php', body: {} };
    const announce = () => ask(server.url, { ...empty, headers: { 'x-api-key': DEMO.apiKeys.HRB } }, agent);
    // A busy machine may refuse some at first.
    const answers = await manyTimes(500, async () => {
      let answer = await announce();
      while (answer.status === 503) answer = await announce();
      return answer;
    });
    // An empty pre-alert is invalid, and counts.
    expect(tally(answers)).toEqual({ 400: PER_MINUTE, 429: 500 - PER_MINUTE });
    const remaining = answers
      .filter(({ status }) => status === 400)
      .map(({ headers }) => Number(/"requests";r=(\d+)/.exec(String(headers['ratelimit']))?.[1]));
    expect(remaining.toSorted((a, b) => a - b)).toEqual(Array.from({ length: PER_MINUTE }, (_, n) => n));
  },
  LIMIT_MS,
);

test(
  `of 60 customers created at the same time, the quota of ${CHANGES} admits ${CHANGES}`,
  async () => {
    const authorization = `Bearer ${await logIn(server.url, 'iex')}`;
    const create = async (n: number): Promise<Answer> => {
      const answer = await ask(
        server.url,
        {
          method: 'POST',
          path: '/api/ManageCustomers.php',
          headers: { authorization },
          body: { user_code: `SPREAD-${n}`, first_name: 'A', last_name: 'B' },
        },
        agent,
      );
      // No connection became free in time.
      return answer.status === 503 ? create(n) : answer;
    };
    const answers = await manyTimes(60, create);
    expect(tally(answers)).toEqual({ 200: CHANGES, 429: 60 - CHANGES });
  },
  LIMIT_MS,
);

test(
  'five wrong passwords lock a name in every process, and 50 failures an address',
  async () => {
    const sameName = await manyTimes(30, () => logInWrongly('manager'));
    const { 401: wrong, 429: locked = 0, 503: full = 0 } = tally(sameName);
    expect(wrong).toBe(5);
    expect(locked + full).toBe(25);

    const names: Answer[] = [];
    // In groups, because more would find a full queue. Each group uses both processes.
    for (let group = 0; group < 10; group += 1)
      names.push(...(await manyTimes(8, (n) => logInWrongly(`nobody-${group}-${n}`))));
    expect(tally(names)).toEqual({ 401: FAILURES_OF_ADDRESS - 5, 429: 80 - (FAILURES_OF_ADDRESS - 5) });
  },
  LIMIT_MS,
);

test(
  `an address has ${CONNECTIONS} connections to both processes together`,
  async () => {
    agent.destroy();
    const { hostname, port } = new URL(server.url);
    const sockets: Socket[] = [];
    let closed = 0;
    for (let n = 0; n < CONNECTIONS + 20; n += 1) {
      const socket = connect(Number(port), hostname, () =>
        socket.write('GET /health HTTP/1.1\r\nHost: service\r\n\r\n'),
      );
      // One response may come before the process knows that the address has too many.
      socket.on('data', () => undefined).on('error', () => undefined);
      socket.once('close', () => (closed += 1));
      sockets.push(socket);
    }
    await until(async () => closed >= 20);
    const left = sockets.filter(({ destroyed }) => !destroyed).length;
    expect(left).toBeLessThanOrEqual(CONNECTIONS);
    // Some of the connections of the tests before may still be open.
    expect(left).toBeGreaterThan(CONNECTIONS / 2);

    // Places that become free are given to new connections, whichever process gets them.
    for (const socket of sockets) socket.destroy();
    const again = new Agent({ keepAlive: true, maxSockets: CONNECTIONS / 2 });
    await until(async () => {
      const answers = await manyTimes(CONNECTIONS / 2, () =>
        ask(server.url, { path: '/health' }, again),
      ).catch(() => []);
      return answers.length === CONNECTIONS / 2;
    });
    again.destroy();
  },
  LIMIT_MS,
);
