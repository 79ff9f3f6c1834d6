import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '../../support/service/processes.js';
import { startService, type Service, type ServiceOptions } from '../../support/service/service.js';
import { openSocket, receive, talk } from '../../support/service/wire.js';

/** With the limits of production. */
let usualService: Service;
/** Cuts a reply that has stayed unread for a second. */
let hasty: Service;
const services: Service[] = [];
const sockets: Socket[] = [];
/** What waits for seconds: begun beforehand, each with a service of its own, and awaited by its test. */
const WAITS = { keptOpen, atWork };
const waits = new Map<keyof typeof WAITS, Promise<void>>();

beforeAll(async () => {
  usualService = await startService();
  hasty = await startService({ demo: false, timeouts: { ...usual, unread: { stalledMs: 1_000 } } });
  // started before anything is timed
  const theirs = {
    keptOpen: await start({ demo: false }),
    atWork: await start({ timeouts: { ...usual, unread: { stalledMs: 300 } } }),
  };
  for (const name of ['keptOpen', 'atWork'] as const) {
    const wait = WAITS[name](theirs[name]);
    wait.catch(() => {});
    waits.set(name, wait);
  }
}, 60_000);

afterAll(async () => {
  await Promise.allSettled(waits.values());
  for (const socket of sockets) socket.destroy();
  for (const service of [...services, usualService, hasty]) await service.stop();
}, 60_000);

async function start(options: ServiceOptions): Promise<Service> {
  const service = await startService(options);
  services.push(service);
  return service;
}

const usual = { headersMs: 5_000, requestMs: 10_000 };
const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;
const CLOSE = 'Connection: close\r\n';

/** A connection that sends `bytes` and reads nothing. */
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

describe('replies that nobody reads', () => {
  test('cost their connection after the time that they may stay', async () => {
    for (let n = 0; n < 20; n += 1)
      await openUnread(hasty.url, get('/docs/static/swagger-ui-bundle.js').repeat(5));
    await until(async () => (await connections(hasty)) === 20, 5_000);
    await until(async () => (await connections(hasty)) === 0, 10_000);
  });

  test('cost it although the client goes on sending', async () => {
    const socket = await openUnread(hasty.url, get('/docs/static/swagger-ui-bundle.js').repeat(5));
    const drip = setInterval(() => socket.write('G'), 50);
    try {
      await until(async () => (await connections(hasty)) === 1, 5_000);
      await until(async () => (await connections(hasty)) === 0, 10_000);
    } finally {
      clearInterval(drip);
    }
  });

  test('that hold too much together cost the longest unread connections at once', async () => {
    const unread = { stalledMs: 60_000, overloadedStalledMs: 300, bufferedBytes: 512 * 1024 };
    const service = await start({ timeouts: { ...usual, unread } });
    const body = JSON.stringify({ limit: 10_000 });
    const list =
      `POST /api/RetrievePackages.php HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n` +
      `Authorization: Bearer ${await service.tokenOf('admin')}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const { bytes } = await service.call('retrievePackages', { as: 'admin', body: { limit: 10_000 } });
    // the kernel takes some replies of each connection for itself
    for (let n = 0; n < 6; n += 1) await openUnread(service.url, list.repeat(60));
    const allowed = Math.floor(unread.bufferedBytes / bytes.length);
    expect(allowed).toBeLessThan(4);
    // the agent that has just asked keeps one open
    await until(async () => (await connections(service)) <= allowed + 1, 25_000);
    expect(await service.call('getHealth')).toMatchObject({ status: 200 });
  });
});

describe('clients that are only slow', () => {
  test('get a whole document, slice by slice, though it takes longer than a reply may stay unread', async () => {
    const path = '/docs/static/swagger-ui-bundle.js';
    const whole = await hasty.request('GET', path);
    const socket = await openUnread(hasty.url, get(path, CLOSE));
    const chunks: Buffer[] = [];
    const startMs = performance.now();
    while (!socket.readableEnded && !socket.destroyed) {
      await sleep(40);
      const chunk = socket.read(Math.min(32 * 1024, socket.readableLength || 1)) as Buffer | null;
      if (chunk) chunks.push(chunk);
    }
    const text = Buffer.concat(chunks).toString('latin1');
    expect(text.slice(text.indexOf('\r\n\r\n') + 4).length).toBe(whole.bytes.length);
    expect(performance.now() - startMs).toBeGreaterThan(1_500);
  });

  test('are not cut while a handler is at work', () => waits.get('atWork'));
});

describe('requests of one connection', () => {
  test('100 behind the first are answered, in order', async () => {
    const paths = Array.from({ length: 100 }, (_, n) => (n % 3 === 0 ? '/nowhere' : '/health'));
    const replies = await talk(
      usualService.url,
      paths.map((path) => get(path)).join('') + get('/health', CLOSE),
    );
    expect(replies.map(({ status }) => status)).toEqual([
      ...paths.map((path) => (path === '/health' ? 200 : 404)),
      200,
    ]);
  });

  test('are answered in order when they come packet by packet, bodies among them', async () => {
    const body = JSON.stringify({ action: 'login', username: '', password: '' });
    const post =
      `POST /api/login.php HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${body.length}\r\n\r\n${body}`;
    const bytes = (get('/health') + post + get('/openapi.json')).repeat(25) + get('/health', CLOSE);
    const socket = await openSocket(usualService.url);
    const replies = receive(socket);
    for (let start = 0; start < bytes.length; start += 700) {
      socket.write(bytes.slice(start, start + 700));
      await sleep(1);
    }
    const statuses = (await replies).map(({ status }) => status);
    expect(statuses).toEqual([...Array(25).fill([200, 422, 200]).flat(), 200]);
  });

  test('more than 100 behind the first, in one packet, cost the connection', async () => {
    const replies = await talk(usualService.url, get('/ready').repeat(500));
    expect(replies.length).toBeLessThan(101);
    expect(await usualService.call('getHealth')).toMatchObject({ status: 200 });
  });

  test('are begun one after the other: a second one does not overtake the first', async () => {
    const client = await usualService.owner.connect();
    try {
      await client.query('begin; lock table packages in access exclusive mode');
      const token = await usualService.tokenOf('admin');
      const list = get(
        '/api/GetManifest.php?id=01930a3e-7c1d-7e11-9c5a-2f4b8d6e0c01',
        `Authorization: Bearer ${token}\r\n`,
      );
      const socket = await openSocket(usualService.url);
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

  test('what is no request is refused after the replies to those before it', async () => {
    const bytes = `${get('/ready')}${get('/openapi.json')}GARBAGE\r\n\r\n`;
    const replies = await talk(usualService.url, bytes);
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 400]);
    expect(replies[1]?.text.startsWith('{')).toBe(true);
  });
});

test('a client that keeps its side open after a refusal is cut five seconds later', () =>
  waits.get('keptOpen'));

async function atWork(service: Service): Promise<void> {
  const client = await service.owner.connect();
  try {
    await client.query('begin; lock table packages in access exclusive mode');
    const reply = service.call('retrievePackages', { as: 'admin', body: { limit: 1 } });
    await sleep(1_500);
    await client.query('rollback');
    expect((await reply).status).toBe(200);
  } finally {
    client.release();
  }
}

async function keptOpen(service: Service): Promise<void> {
  const { hostname, port } = new URL(service.url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  sockets.push(socket.on('error', () => {}).resume());
  await new Promise((resolve) => socket.once('connect', resolve));
  socket.write('GARBAGE\r\n\r\n');
  await new Promise((resolve) => socket.once('end', resolve));
  expect(await connections(service)).toBe(1);
  await until(async () => (await connections(service)) === 0, 10_000);
}

describe('connections of one address', () => {
  /** Opens them, and answers those that stay open. */
  const open = async (service: Service, count: number): Promise<Socket[]> => {
    const opened: Socket[] = [];
    for (let n = 0; n < count; n += 1) opened.push(await openUnread(service.url, ''));
    await sleep(300);
    // one that was refused has ended; those that are read notice it
    for (const socket of opened) socket.resume();
    await sleep(200);
    return opened.filter(({ destroyed }) => !destroyed);
  };

  test('are as many as the setting allows, and each that closes makes room', async () => {
    const service = await start({ demo: false, env: { MAX_CONNECTIONS_PER_ADDRESS: '10' } });
    const first = await open(service, 25);
    expect(first).toHaveLength(10);
    for (const socket of first.slice(0, 4)) socket.destroy();
    await until(async () => (await connections(service)) === 6);
    const second = await open(service, 10);
    expect(second).toHaveLength(4);
    for (const socket of [...first, ...second]) socket.destroy();
    await until(async () => (await connections(service)) === 0);
    expect(await service.call('getHealth')).toMatchObject({ status: 200 });
  });

  test('are not limited for a trusted proxy', async () => {
    const env = { MAX_CONNECTIONS_PER_ADDRESS: '10', TRUST_PROXY: '127.0.0.0/8' };
    expect(await open(await start({ demo: false, env }), 25)).toHaveLength(25);
  });
});
