import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expectSuccess } from '../../support/assertions/scenario.js';
import { until } from '../../support/service/processes.js';
import {
  startService,
  untilAdmitted,
  type Service,
  type ServiceOptions,
} from '../../support/service/service.js';
import { openSocket, receive, talk } from '../../support/service/wire.js';

/** A service with the limits of production. */
let defaultService: Service;
const services: Service[] = [];
const sockets: Socket[] = [];
const usual = { headersMs: 5_000, requestMs: 10_000 };
/** Closes a connection whose response stays unread for a second. */
const IMPATIENT: ServiceOptions = { demo: false, timeouts: { ...usual, unread: { stalledMs: 1_000 } } };
const MAX_UNREAD_BYTES = 512 * 1024;
const OVERLOADED = { stalledMs: 60_000, overloadedStalledMs: 300, bufferedBytes: MAX_UNREAD_BYTES };
const FEW_CONNECTIONS = { MAX_CONNECTIONS_PER_ADDRESS: '10' };

type Wait = [check: (service: Service) => Promise<void>, options: ServiceOptions];

/** Slow checks: each starts before the tests with a service of its own, and its test awaits it. */
const WAITS = {
  halfOpenClient: [halfOpenClient, { demo: false }],
  slowHandler: [slowHandler, { timeouts: { ...usual, unread: { stalledMs: 300 } } }],
  unreadResponses: [unreadResponses, IMPATIENT],
  sendingClient: [sendingClient, IMPATIENT],
  slowClient: [slowClient, IMPATIENT],
  limitedAddress: [limitedAddress, { demo: false, env: FEW_CONNECTIONS }],
  trustedProxy: [trustedProxy, { demo: false, env: { ...FEW_CONNECTIONS, TRUST_PROXY: '127.0.0.0/8' } }],
} satisfies Record<string, Wait>;
const waits = new Map<string, Promise<void>>();

beforeAll(async () => {
  defaultService = await startService();
  // Started before anything is timed.
  const started: [name: string, check: Wait[0], service: Service][] = [];
  for (const [name, [check, options]] of Object.entries(WAITS))
    started.push([name, check, await start(options)]);
  for (const [name, check, service] of started) {
    const wait = check(service);
    wait.catch(() => {});
    waits.set(name, wait);
  }
}, 60_000);

const waitFor = (name: keyof typeof WAITS) => expectSuccess(waits.get(name));

afterAll(async () => {
  await Promise.allSettled(waits.values());
  for (const socket of sockets) socket.destroy();
  for (const service of [...services, defaultService]) await service.stop();
}, 60_000);

async function start(options: ServiceOptions): Promise<Service> {
  const service = await startService(options);
  services.push(service);
  return service;
}

const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;
const CLOSE = 'Connection: close\r\n';

/** Opens a connection that sends `bytes` and reads nothing. */
async function openUnread(url: string, bytes: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).pause();
  sockets.push(socket.on('error', () => {}));
  await new Promise((resolve) => socket.once('connect', resolve));
  socket.write(bytes);
  return socket;
}

const connections = ({ app }: Service) =>
  new Promise<number>((resolve, reject) =>
    app.server.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  );

describe('unread responses', () => {
  test('close their connection after the time limit', () => waitFor('unreadResponses'));

  test('close it even if the client continues to send', () => waitFor('sendingClient'));

  // It needs most of the CPU, so it does not run in parallel to the others.
  test('that exceed the memory limit together close the longest unread connections first', async () => {
    await Promise.allSettled(waits.values());
    await overload(await start({ timeouts: { ...usual, unread: OVERLOADED } }));
  });
});

describe('slow clients', () => {
  test('receive a whole document slowly, although it takes longer than the limit for unread responses', () =>
    waitFor('slowClient'));

  test('are not disconnected while a handler runs', () => waitFor('slowHandler'));
});

describe('pipelined requests', () => {
  test('get their responses in order, up to 100 after the first', async () => {
    const paths = Array.from({ length: 100 }, (_, n) => (n % 3 === 0 ? '/nowhere' : '/health'));
    const replies = await talk(
      defaultService.url,
      paths.map((path) => get(path)).join('') + get('/health', CLOSE),
    );
    expect(replies.map(({ status }) => status)).toEqual([
      ...paths.map((path) => (path === '/health' ? 200 : 404)),
      200,
    ]);
  });

  test('get their responses in order when they have bodies and arrive in many packets', async () => {
    const body = JSON.stringify({ action: 'login', username: '', password: '' });
    const post =
      `POST /api/login.php HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${body.length}\r\n\r\n${body}`;
    const bytes = (get('/health') + post + get('/openapi.json')).repeat(25) + get('/health', CLOSE);
    const socket = await openSocket(defaultService.url);
    const replies = receive(socket);
    for (let start = 0; start < bytes.length; start += 700) {
      socket.write(bytes.slice(start, start + 700));
      await sleep(1);
    }
    const statuses = (await replies).map(({ status }) => status);
    expect(statuses).toEqual([...Array(25).fill([200, 422, 200]).flat(), 200]);
  });

  test('close the connection if more than 100 follow the first in one packet', async () => {
    const replies = await talk(defaultService.url, get('/ready').repeat(500));
    expect(replies.length).toBeLessThan(101);
    expect(await defaultService.call('getHealth')).toMatchObject({ status: 200 });
  });

  test('are executed one at a time: the second does not overtake the first', async () => {
    const client = await defaultService.owner.connect();
    try {
      await client.query('begin; lock table packages in access exclusive mode');
      const token = await defaultService.tokenOf('admin');
      const list = get(
        '/api/GetManifest.php?id=01930a3e-7c1d-7e11-9c5a-2f4b8d6e0c01',
        `Authorization: Bearer ${token}\r\n`,
      );
      const socket = await openSocket(defaultService.url);
      let received = '';
      socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
      sockets.push(socket);
      socket.write(list + get('/health'));
      await sleep(500);
      await client.query('rollback');
      await until(async () => received.includes('Alive.'));
      expect(received.indexOf('manifest_not_found')).toBeLessThan(received.indexOf('Alive.'));
    } finally {
      client.release();
    }
  });

  test('get their responses before invalid bytes after them are rejected', async () => {
    const bytes = `${get('/ready')}${get('/openapi.json')}GARBAGE\r\n\r\n`;
    const replies = await talk(defaultService.url, bytes);
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 400]);
    expect(replies[1]?.text.startsWith('{')).toBe(true);
  });
});

test('a client that keeps its side open after a refusal is disconnected after five seconds', () =>
  waitFor('halfOpenClient'));

async function slowHandler(service: Service): Promise<void> {
  const client = await service.owner.connect();
  try {
    await client.query('begin; lock table packages in access exclusive mode');
    const reply = service.call('listPackages', { as: 'admin', body: { limit: 1 } });
    await sleep(1_500);
    await client.query('rollback');
    expect((await reply).status).toBe(200);
  } finally {
    client.release();
  }
}

async function halfOpenClient(service: Service): Promise<void> {
  const { hostname, port } = new URL(service.url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  sockets.push(socket.on('error', () => {}).resume());
  await new Promise((resolve) => socket.once('connect', resolve));
  socket.write('GARBAGE\r\n\r\n');
  await new Promise((resolve) => socket.once('end', resolve));
  expect(await connections(service)).toBe(1);
  await until(async () => (await connections(service)) === 0, 10_000);
}

describe('connections per address', () => {
  test('are limited by the setting, and each closed one makes room', () => waitFor('limitedAddress'));

  test('are not limited for a trusted proxy', () => waitFor('trustedProxy'));
});

async function unreadResponses(service: Service): Promise<void> {
  const bytes = get('/docs/static/scalar.js').repeat(5);
  let accepted = 0;
  service.app.server.server.on('connection', () => (accepted += 1));
  await Promise.all(Array.from({ length: 20 }, () => openUnread(service.url, bytes)));
  await until(async () => accepted === 20, 5_000);
  await until(async () => (await connections(service)) === 0, 10_000);
}

async function sendingClient(service: Service): Promise<void> {
  const accepted = once(service.app.server.server, 'connection');
  const socket = await openUnread(service.url, get('/docs/static/scalar.js').repeat(5));
  const drip = setInterval(() => socket.write('G'), 50);
  try {
    await accepted;
    await until(async () => (await connections(service)) === 0, 10_000);
  } finally {
    clearInterval(drip);
  }
}

async function overload(service: Service): Promise<void> {
  const body = JSON.stringify({ limit: 10_000 });
  const list =
    `POST /api/RetrievePackages.php HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n` +
    `Authorization: Bearer ${await service.tokenOf('admin')}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const { bytes } = await untilAdmitted(() =>
    service.call('listPackages', { as: 'admin', body: { limit: 10_000 } }),
  );
  // The kernel buffers some responses of each connection.
  for (let n = 0; n < 6; n += 1) await openUnread(service.url, list.repeat(60));
  const allowed = Math.floor(MAX_UNREAD_BYTES / bytes.length);
  expect(allowed).toBeLessThan(4);
  // The client's agent keeps one connection open.
  await until(async () => (await connections(service)) <= allowed + 1, 25_000);
  expect(await service.call('getHealth')).toMatchObject({ status: 200 });
}

async function slowClient(service: Service): Promise<void> {
  const path = '/docs/static/scalar.js';
  const whole = await service.request('GET', path);
  const socket = await openUnread(service.url, get(path, CLOSE));
  const chunks: Buffer[] = [];
  const startMs = performance.now();
  while (!socket.readableEnded && !socket.destroyed) {
    await sleep(40);
    const chunk = socket.read(Math.min(64 * 1024, socket.readableLength || 1)) as Buffer | null;
    if (chunk) chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString('latin1');
  expect(text.slice(text.indexOf('\r\n\r\n') + 4)).toHaveLength(whole.bytes.length);
  expect(performance.now() - startMs).toBeGreaterThan(1_500);
}

/** Opens connections, waits until only the expected number is left, and returns these. */
async function openSeveral(service: Service, count: number, expected: number): Promise<Socket[]> {
  const opened: Socket[] = [];
  for (let n = 0; n < count; n += 1) opened.push(await openUnread(service.url, ''));
  // A rejected connection has ended, which is noticed only by reading.
  for (const socket of opened) socket.resume();
  const left = () => opened.filter(({ destroyed }) => !destroyed);
  await until(async () => left().length === expected);
  return left();
}

async function limitedAddress(service: Service): Promise<void> {
  const first = await openSeveral(service, 25, 10);
  expect(await connections(service)).toBe(10);
  for (const socket of first.slice(0, 4)) socket.destroy();
  await until(async () => (await connections(service)) === 6);
  const second = await openSeveral(service, 10, 4);
  expect(await connections(service)).toBe(10);
  for (const socket of [...first, ...second]) socket.destroy();
  await until(async () => (await connections(service)) === 0);
  expect(await service.call('getHealth')).toMatchObject({ status: 200 });
}

async function trustedProxy(service: Service): Promise<void> {
  const opened = await openSeveral(service, 25, 25);
  // The server has accepted all of them, and rejected none.
  await until(async () => (await connections(service)) === 25);
  expect(opened.filter(({ destroyed }) => destroyed)).toEqual([]);
}
