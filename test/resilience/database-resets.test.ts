import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';
import { DEMO } from '../../fixtures/demo/seed.js';
import {
  ask,
  isServed,
  isUnavailable,
  listOf,
  logIn,
  prealertOf,
  type Outcome,
  type Question,
} from '../support/service/client.js';
import { demoDatabase, type TestDatabase } from '../support/service/database.js';
import { endProcesses, startReplica, until, type Replica } from '../support/service/processes.js';

// The network between the service and PostgreSQL resets the connections while requests wait for the database. Node reports this
// with the same code, ECONNRESET, as a client that disconnects while it sends its body.

const LIMIT_MS = 60_000;
let database: TestDatabase;
let owner: pg.Client;
let network: Network;
let replica: Replica;
let token: string;

beforeAll(async () => {
  database = await demoDatabase();
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  network = await startNetwork(new URL(database.ownerUrl));
  replica = await startReplica({ DATABASE_URL: network.url });
}, LIMIT_MS);

afterAll(async () => {
  await endProcesses();
  await network.close();
  await owner.end();
  await database.drop();
}, LIMIT_MS);

beforeEach(async () => {
  token = await logIn(replica.url);
});

afterEach(() => owner.query('rollback'));

const manage = (path: string, body: object): Question => ({
  method: 'POST',
  path,
  headers: { authorization: `Bearer ${token}` },
  body,
});
const courier = { courier_id: DEMO.couriers.IEX, user_code: 'IEX-1001' };
/** Returns the function that counts the rows of the request, or of the one that `changed` made of it. */
const countOf =
  (table: string, column: string, value: string) =>
  async (suffix?: string): Promise<number> => {
    const { rows } = await owner.query<{ n: number }>(
      `select count(*)::int as n from ${table} where ${column} = $1`,
      [suffix ? `${value}-${suffix}` : value],
    );
    return rows[0]?.n ?? 0;
  };

/** The same request for another record. */
const changed = (question: Question, suffix: string): Question => ({
  ...question,
  body:
    question.body &&
    JSON.parse(
      JSON.stringify(question.body).replace(/RESET-\d|Reset Cargo/, (value) => `${value}-${suffix}`),
    ),
});

const nameOf = ({ ownerUrl }: TestDatabase) => new URL(ownerUrl).pathname.slice(1);

/** One request of each way to the database. `table` is the table whose lock it waits for. */
const REQUESTS: {
  what: string;
  table: string;
  question: () => Question;
  count?: (suffix?: string) => Promise<number>;
}[] = [
  {
    what: 'a pipelined write',
    table: 'prealerts',
    question: () => prealertOf('RESET-0'),
    count: countOf('prealerts', 'tracking_number', 'RESET-0'),
  },
  {
    what: 'a write in a transaction',
    table: 'prealerts',
    question: () =>
      manage('/api/ManagePrealerts.php', { tracking_number: 'RESET-1', vendor: 'Example', ...courier }),
    count: countOf('prealerts', 'tracking_number', 'RESET-1'),
  },
  {
    what: 'an intake',
    table: 'packages',
    question: () =>
      manage('/api/ReceivePackage.php', { tracking_number: 'RESET-2', weight: 1.5, ...courier }),
    count: countOf('packages', 'tracking_number', 'RESET-2'),
  },
  {
    what: 'a write with a model',
    table: 'carriers',
    question: () => manage('/api/ManageCarriers.php', { action: 'create', name: 'Reset Cargo' }),
    count: countOf('carriers', 'name', 'Reset Cargo'),
  },
  { what: 'a page', table: 'prealerts', question: () => listOf(token) },
];

test.each(REQUESTS)(
  '$what that needs a new connection, which is reset, gets 503',
  async ({ question }) => {
    network.resetAll();
    network.isBroken = true;
    const responses = await Promise.all(Array.from({ length: 20 }, () => ask(replica.url, question())));
    network.isBroken = false;
    const others = responses.filter((response: Outcome) => !isUnavailable(response));
    expect(others.map(({ text }) => text)).toEqual([]);
    await until(async () => isServed(await ask(replica.url, listOf(token))), 10_000);
  },
  LIMIT_MS,
);

test.each(REQUESTS)(
  '$what whose database connection is reset gets 503, and its repetition with the same key is executed once',
  async ({ table, question, count }) => {
    const key = { 'idempotency-key': randomUUID() };
    const send = () => {
      const asked = question();
      return ask(replica.url, count ? { ...asked, headers: { ...asked.headers, ...key } } : asked);
    };
    await owner.query(`begin; lock table ${table} in access exclusive mode`);
    const response = send();
    await until(async () => {
      const { rows } = await owner.query(
        `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return rows.length > 0;
    });
    network.resetAll();
    const interrupted = await response;
    await owner.query('rollback');
    expect({ ...interrupted, isUnavailable: isUnavailable(interrupted) }).toMatchObject({
      status: 503,
      isUnavailable: true,
    });

    await until(async () => isServed(await send()), 10_000);
    if (count) expect(await count()).toBe(1);
  },
  LIMIT_MS,
);

test.each(REQUESTS.filter(({ count }) => count))(
  '$what whose commit is executed while its answer is lost gets 503, and its repetition with the same key changes nothing',
  async ({ table, question, count }) => {
    const isThere = async () => (await count?.('LOST')) === 1;
    const asked = changed(question(), 'LOST');
    const headers = { ...asked.headers, 'idempotency-key': randomUUID() };
    const send = () => ask(replica.url, { ...asked, headers });
    network.resetAll();
    // Until the pool has noticed, a request would fail before its commit.
    await until(async () => isServed(await ask(replica.url, listOf(token))));
    network.loseCommitsOf = table;
    const response = send();
    try {
      await until(isThere);
    } finally {
      network.loseCommitsOf = undefined;
      network.resetAll();
    }
    expect(await response.then(isUnavailable)).toBe(true);

    await until(async () => isServed(await send()), 10_000);
    expect(await isThere()).toBe(true);
  },
  LIMIT_MS,
);

test.each(REQUESTS)(
  '$what on a server that has become read-only gets 503 unless it only reads, and the next one a good connection',
  async ({ question, count }) => {
    network.resetAll();
    await owner.query(`alter database "${nameOf(database)}" set default_transaction_read_only = on`);
    const refused = await ask(replica.url, changed(question(), 'READ-ONLY'));
    await owner.query(`alter database "${nameOf(database)}" reset default_transaction_read_only`);
    expect(count ? isUnavailable(refused) : isServed(refused)).toBe(true);
    expect(isServed(await ask(replica.url, changed(question(), 'READ-ONLY')))).toBe(true);
    if (count) expect(await count('READ-ONLY')).toBe(1);
  },
  LIMIT_MS,
);

type Network = {
  url: string;
  /** Whether new connections are reset. */
  isBroken: boolean;
  /** The table that is written. A connection that has sent a write to it gets no answer to its commit. */
  loseCommitsOf: string | undefined;
  resetAll(): void;
  close(): Promise<void>;
};

/** New connections send the text of each statement, because they have prepared none. */
const isCommitted = (sent: string, table: string): boolean =>
  new RegExp(`insert into\\W+(public\\W+)?${table}\\b.*commit`, 'is').test(sent);

/** Forwards TCP connections to PostgreSQL, and resets them on request. */
async function startNetwork(target: URL): Promise<Network> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    if (network.isBroken) {
      near.resetAndDestroy();
      return;
    }
    const far = connect(Number(target.port), target.hostname);
    for (const socket of [near, far]) socket.on('error', () => undefined);
    let sent = '';
    let isLost = false;
    near.on('data', (chunk) => {
      sent += chunk.toString('latin1');
      isLost = network.loseCommitsOf !== undefined && isCommitted(sent, network.loseCommitsOf);
      far.write(chunk);
    });
    far.on('data', (chunk) => isLost || near.write(chunk));
    near.on('close', () => {
      sockets.delete(near);
      far.destroy();
    });
    far.on('close', () => near.destroy());
    sockets.add(near);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(target);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const network: Network = {
    url: url.href,
    isBroken: false,
    loseCommitsOf: undefined,
    resetAll() {
      for (const socket of sockets) socket.resetAndDestroy();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return network;
}
