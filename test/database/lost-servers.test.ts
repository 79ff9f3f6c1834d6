import { DEVELOPMENT_KEYS } from '../../src/config/config.js';
import { MissingKeyError, openSecrets } from '../../src/platform/access/secrets.js';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type pg from 'pg';
import { limitSilence } from '../../src/platform/db/connections/lost-servers.js';
import { createPool } from '../../src/platform/db/connections/pool.js';
import { apiErrorOfViolation } from '../../src/platform/db/violations.js';
import { freshDatabase, type TestDatabase } from '../support/service/database.js';

// A pool leaves a server that is read-only or that no longer responds. See also resilience/database-resets.test.ts.

const LIMIT_MS = 30_000;

let database: TestDatabase;

beforeAll(async () => {
  database = await freshDatabase();
}, LIMIT_MS);

afterAll(() => database.drop());

const open = (url: string, options: Partial<Parameters<typeof createPool>[0]> = {}): pg.Pool =>
  createPool({ url, size: 2, onError: () => undefined, ...options });

const outcomeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'done',
    (error: unknown) => error,
  );

test('a connection whose session has become read-only fails one write with 503, and is not used again', async () => {
  const pool = open(database.ownerUrl, { size: 1 });
  const pid = async () => (await pool.query('select pg_backend_pid() as pid')).rows[0]?.pid;
  const before = await pid();
  await pool.query('set default_transaction_read_only = on');
  const refused = await outcomeOf(pool.query('create table kept (id int)'));
  expect(apiErrorOfViolation(refused)).toMatchObject({
    code: 'unavailable',
    detail: { retryAfterSeconds: 2 },
  });
  await pool.query('create table kept (id int)');
  expect(await pid()).not.toBe(before);
  await pool.end();
});

test.each(['EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', '08004', '08007', '25006', '57P01', '57P03'])(
  'the error %s of a database that is away becomes 503',
  (code) => {
    expect(apiErrorOfViolation(Object.assign(new Error('A test.'), { code }))).toMatchObject({
      httpStatus: 503,
    });
  },
);

test('errors of pgbouncer without a server become 503, and its code alone does not', () => {
  const of = (message: string) => apiErrorOfViolation(Object.assign(new Error(message), { code: '08P01' }));
  for (const message of [
    'server conn crashed?',
    'query_wait_timeout',
    'server login has been failing, try again later (server_login_retry)',
    'pgbouncer cannot connect to server',
    'SASL authentication failed',
    'password authentication failed',
    'server login failed: FATAL: password authentication failed for user "crossdock_login"',
    'no such user: crossdock_login',
    'no such database: crossdock',
    'no more connections allowed (max_client_conn)',
    'database "crossdock" is disabled',
    'pgbouncer is shutting down',
  ])
    expect(of(message)).toMatchObject({ httpStatus: 503 });
  expect(of('bind message supplies 1 parameters, but prepared statement "" requires 2')).toBeUndefined();
  expect(apiErrorOfViolation(new Error('auth failed'))).toBeUndefined();
});

test('a version of ENCRYPTION_KEYS that the process does not have becomes 503, and its message says what to do', () => {
  const secrets = openSecrets(DEVELOPMENT_KEYS);
  const context = { tenantId: 'a', rowId: 'b', field: 'api_key' } as const;
  const decrypt = () => secrets.decrypt('v9.AAAA', context);
  expect(decrypt).toThrow(/version 9 is configured\. If ENCRYPTION_KEYS was changed, restart/);
  expect(apiErrorOfViolation(new MissingKeyError('9'))).toMatchObject({ httpStatus: 503 });
  expect(apiErrorOfViolation(new MissingKeyError(''))).toBeUndefined();
});

/** Starts a relay in front of the database that can hold back everything that follows a login. */
async function relay() {
  const { hostname, port } = new URL(database.ownerUrl);
  const sockets: Socket[] = [];
  const state = { holdsChecks: false };
  const waiting: (() => void)[] = [];
  const network = createServer((near) => {
    const far = connect(Number(port), hostname);
    sockets.push(near, far);
    for (const socket of [near, far]) socket.on('error', () => undefined);
    let isReady = false;
    near.on('data', (chunk) => far.write(chunk));
    far.on('data', (chunk: Buffer) => {
      const pass = () => near.write(chunk);
      if (isReady && state.holdsChecks) waiting.push(pass);
      else pass();
      // The message ReadyForQuery ends the login.
      isReady ||= chunk.includes('Z\0\0\0\u0005');
    });
  }).listen(0, '127.0.0.1');
  await once(network, 'listening');
  const { port: relayed } = network.address() as AddressInfo;
  return {
    url: Object.assign(new URL(database.ownerUrl), { port: String(relayed) }).href,
    hold: () => (state.holdsChecks = true),
    release() {
      state.holdsChecks = false;
      for (const pass of waiting.splice(0)) pass();
    },
    isHolding: () => waiting.length > 0,
    close() {
      for (const socket of sockets) socket.destroy();
      network.close();
    },
  };
}

test.concurrent(
  'a request that stops waiting while a new connection is checked does not take the connection with it',
  async () => {
    const network = await relay();
    const pool = open(network.url, { size: 1 });
    const first = await pool.connect();
    network.hold();
    const waiting = outcomeOf(pool.connect());
    // Its wait ends half a second after the connection that replaces the first one is begun.
    await sleep(1_500);
    first.release(true);
    expect(String(await waiting)).toContain('timeout exceeded when trying to connect');
    expect(network.isHolding()).toBe(true);
    network.release();
    await pool.query('select 1');
    expect(pool.totalCount).toBe(1);
    await pool.end();
    network.close();
  },
  LIMIT_MS,
);

test.concurrent(
  'a server that falls silent before a new connection is checked keeps no request and no place in the pool',
  async () => {
    const network = await relay();
    network.hold();
    const pool = open(network.url, { size: 1 });
    const startMs = performance.now();
    expect(apiErrorOfViolation(await outcomeOf(pool.query('select 1')))).toMatchObject({ httpStatus: 503 });
    expect(performance.now() - startMs).toBeLessThan(5_000);
    network.release();
    await pool.query('select 1');
    expect(pool.totalCount).toBe(1);
    await pool.end();
    network.close();
  },
  LIMIT_MS,
);

test.concurrent(
  'a statement on a server that falls silent ends, and a connection that only listens stays open',
  async () => {
    const { hostname, port } = new URL(database.ownerUrl);
    const sockets: Socket[] = [];
    let isSilent = false;
    const network = createServer((near) => {
      const far = connect(Number(port), hostname);
      sockets.push(near, far);
      for (const socket of [near, far]) socket.on('error', () => undefined);
      near.on('data', (chunk) => isSilent || far.write(chunk));
      far.on('data', (chunk) => isSilent || near.write(chunk));
    }).listen(0, '127.0.0.1');
    await once(network, 'listening');
    // The server's address is one.
    const { port: relayed } = network.address() as AddressInfo;
    const url = Object.assign(new URL(database.ownerUrl), { port: String(relayed) }).href;
    const service = open(url);
    const queue = open(url, { isPipelined: false });
    const listening = await queue.connect();
    await listening.query('listen test');
    const [used, worker] = [await service.connect(), await queue.connect()];
    // The shortest limit, so that the test is short.
    for (const client of [used, worker, listening]) limitSilence(client, 0);
    isSilent = true;
    const waiting = [used, worker].map((client) => outcomeOf(client.query('select 1')));
    for (const outcome of await Promise.all(waiting)) {
      expect(String(outcome)).toMatch(/connection terminated/i);
      expect(apiErrorOfViolation(outcome)).toMatchObject({ httpStatus: 503 });
    }
    isSilent = false;
    await listening.query('select 1');
    for (const client of [used, worker, listening]) client.release(true);
    await Promise.all([service.query('select 1'), queue.query('select 1')]);
    await Promise.all([service.end(), queue.end()]);
    for (const socket of sockets) socket.destroy();
    network.close();
  },
  LIMIT_MS,
);
