import { fork, type ChildProcess } from 'node:child_process';
import { pbkdf2 } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  makeOutboundClient,
  type OutboundClient,
  type OutboundRequest,
} from '../../../src/platform/outbound/client.js';
import { expectSuccess } from '../../support/assertions/scenario.js';
import { startDns, type DnsServer } from '../../support/receivers/dns.js';
import { closeReceivers, startReceiver, startWire } from '../../support/receivers/receivers.js';
import { makeFolder, removeFolders, until } from '../../support/service/processes.js';

/** A client with a name server of its own. */
type Site = { client: OutboundClient; dns: DnsServer };

/** Checks that wait for a limit of the client. All start before the tests, and each test awaits its own. */
const WAITS = {
  unresponsiveAddress,
  silentNameServer,
  silentNameServerOfMany,
  idleConnection,
  hangingRequests,
  keptConnection,
};
const waits = new Map<string, Promise<void>>();
const sites: Site[] = [];
const children: ChildProcess[] = [];

beforeAll(async () => {
  for (const [name, check] of Object.entries(WAITS)) {
    const site = await openSite();
    const wait = check(site);
    wait.catch(() => {});
    waits.set(name, wait);
  }
});

afterAll(async () => {
  await Promise.allSettled(waits.values());
  for (const child of children) child.kill('SIGKILL');
  for (const { client, dns } of sites) {
    await client.close();
    await dns.stop();
  }
  await closeReceivers();
  await removeFolders();
}, 60_000);

async function openSite(): Promise<Site> {
  const dns = await startDns();
  const site = { dns, client: makeOutboundClient({ allowLoopback: true, dnsServers: [dns.address] }) };
  sites.push(site);
  return site;
}

const waitFor = (name: keyof typeof WAITS) => expectSuccess(waits.get(name));

const send = ({ client }: Site, url: string, request: Partial<OutboundRequest> = {}) =>
  client.send({ method: 'GET', url, headers: {}, timeoutMs: 5000, maxBytes: 1000, ...request });

describe('a host name', () => {
  // On other systems 127.0.0.2 is not local, and a full backlog accepts.
  (process.platform === 'linux' ? test : test.skip)(
    'with an unresponsive address is tried at the next one before the timeout',
    () => waitFor('unresponsiveAddress'),
  );

  test('whose name server is silent is looked up twice and then unreachable, or times out before', () =>
    waitFor('silentNameServer'));

  test('whose name server is silent blocks no thread of the pool that hashes passwords', () =>
    waitFor('silentNameServerOfMany'));
});

describe('connections', () => {
  test('are reused, and closed after five idle seconds whatever Keep-Alive header the server sends', () =>
    waitFor('idleConnection'));

  test('are not limited: 200 hanging requests do not delay another one to the same origin', () =>
    waitFor('hangingRequests'));
});

test('DNS rebinding does not affect a kept connection, and the next connection resolves the name again', () =>
  waitFor('keptConnection'));

async function unresponsiveAddress(site: Site): Promise<void> {
  if (process.platform !== 'linux') return;
  const { port } = await startReceiver((_request, response) => void response.end('ok'));
  await startUnresponsive('127.0.0.2', port);
  site.dns.say('deaf.example.com', ['127.0.0.2', '127.0.0.1']);
  // The timer of the attempt must not be lost to the garbage collector.
  const collecting = setInterval(collectGarbage, 500);
  const reply = await send(site, `http://deaf.example.com:${port}/`, { timeoutMs: 10_000 });
  clearInterval(collecting);
  expect(reply).toMatchObject({ outcome: 'answered', status: 200 });
  expect(reply.durationMs).toBeGreaterThan(2000);
  expect(await send(site, `http://127.0.0.2:${port}/`, { timeoutMs: 500 })).toMatchObject({
    outcome: 'timeout',
    error: 'no connection within 0.5 s',
  });
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc()');
}

/**
 * Opens a port that accepts no connection and whose backlog is full, so that connecting to it gets no
 * response.
 */
async function startUnresponsive(address: string, port: number): Promise<void> {
  const file = join(await makeFolder(), 'deaf.mjs');
  await writeFile(
    file,
    `import { createServer } from 'node:net';
     createServer().listen({ host: '${address}', port: ${port}, backlog: 1 }, () => {
       process.send('listening', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
     });`,
  );
  const child = fork(file, { execArgv: [] });
  children.push(child);
  await once(child, 'message');
  for (let count = 0; count < 4; count += 1)
    connect(port, address)
      .on('error', () => {})
      .unref();
}

async function silentNameServer(site: Site): Promise<void> {
  site.dns.say('silent.example.com', 'silence');
  const [whole, short] = await Promise.all([
    send(site, 'https://silent.example.com/', { timeoutMs: 25_000 }),
    send(site, 'https://silent.example.com/', { timeoutMs: 300 }),
  ]);
  expect(whole).toMatchObject({ outcome: 'unreachable', error: 'the name could not be looked up' });
  expect(whole.durationMs).toBeLessThan(15_000);
  expect(short).toMatchObject({ outcome: 'timeout', error: 'no connection within 0.3 s' });
  expect(short.durationMs).toBeLessThan(2000);
  expect(site.dns.askedFor('silent.example.com')).toBe(4);
}

async function silentNameServerOfMany(site: Site): Promise<void> {
  site.dns.say('silent.example.com', 'silence');
  let ended = 0;
  const sends = Array.from({ length: 50 }, () =>
    send(site, 'https://silent.example.com/', { timeoutMs: 3000 }).then(() => (ended += 1)),
  );
  await until(async () => site.dns.askedFor('silent.example.com') >= 50);
  await Promise.all(Array.from({ length: 8 }, () => promisify(pbkdf2)('x', 'y', 1000, 32, 'sha256')));
  expect(ended).toBe(0);
  await Promise.all(sends);
}

async function idleConnection(site: Site): Promise<void> {
  const sockets = new Set<unknown>();
  let closedAt = 0;
  const { url, server } = await startReceiver((request, response) => {
    if (!sockets.has(request.socket)) request.socket.once('close', () => (closedAt = performance.now()));
    sockets.add(request.socket);
    response.setHeader('keep-alive', 'timeout=600').end('ok');
  });
  server.keepAliveTimeout = 600_000;
  for (let round = 0; round < 50; round += 1) await send(site, url);
  const idleSince = performance.now();
  // A connection is free only one iteration of the event loop after its response, so two may be open.
  expect(sockets.size).toBeLessThanOrEqual(2);
  await until(async () => closedAt > 0);
  expect(closedAt - idleSince).toBeGreaterThan(4000);
  expect(closedAt - idleSince).toBeLessThan(8000);
}

async function hangingRequests(site: Site): Promise<void> {
  const { url, open } = await startWire((socket) => {
    socket.once('data', (bytes: Buffer) => {
      if (bytes.includes('/quick')) socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
    });
  });
  const hanging = Array.from({ length: 200 }, () => send(site, url, { timeoutMs: 3000 }));
  await until(async () => open.size === 200);
  expect(await send(site, `${url}/quick`, { timeoutMs: 2000 })).toMatchObject({
    outcome: 'answered',
    status: 200,
  });
  const replies = await Promise.all(hanging);
  expect(replies.filter(({ outcome }) => outcome !== 'timeout')).toEqual([]);
}

/** Sends on a kept connection until it is too old. The name resolves to a private address by then. */
async function keptConnection(site: Site): Promise<void> {
  const { port } = await startReceiver((request, response) =>
    request.resume().on('end', () => response.end('here')),
  );
  site.dns.say('kept.example.com', ['127.0.0.1'], ['10.0.0.1']);
  const post = () => send(site, `http://kept.example.com:${port}/`, { method: 'POST', body: '{}' });
  const startedAt = performance.now();
  let last = await post();
  let answered = 0;
  while (last.outcome === 'answered' && performance.now() - startedAt < 20_000) {
    answered += 1;
    await sleep(100);
    last = await post();
  }
  expect(last.outcome).toBe('unsafe_target');
  expect(site.dns.askedFor('kept.example.com')).toBe(2);
  expect(answered).toBeGreaterThan(10);
  // The maximum age of a kept connection, with tolerance for a busy machine.
  expect(performance.now() - startedAt).toBeLessThan(15_000);
}
