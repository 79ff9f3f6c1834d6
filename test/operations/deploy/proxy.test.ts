import { once } from 'node:events';
import { spawnSync } from 'node:child_process';
import { readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import { request as requestHttps } from 'node:https';
import { createConnection } from 'node:net';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { projectRoot } from '../../../src/config/project-root.js';
import { findProgram, titleWith } from '../../support/harness/programs.js';
import {
  endProcesses,
  freePort,
  makeFolder,
  removeFolders,
  runProgram,
  until,
  type Running,
} from '../../support/service/processes.js';
import { matching } from '../../support/assertions/matching.js';

// haproxy with the files of deploy/proxy, as machines with systemd run it.

const LIMIT_MS = 60_000;
const haproxy = findProgram('haproxy');
const declare = (title: string, run: () => Promise<void>) =>
  (haproxy ? test : test.skip)(titleWith(title, [haproxy ? undefined : 'haproxy']), run, LIMIT_MS);

const servers: Server[] = [];

afterEach(async () => {
  await endProcesses();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

afterAll(removeFolders);

const read = (path: string) => readFileSync(resolve(projectRoot, path), 'utf8');

/** Starts haproxy with both files, and `more`. Only the ports of the replicas are replaced. */
async function startHaproxy(
  env: Record<string, string>,
  replicas: number[] = [],
  more: string[] = [],
): Promise<Running & { http: number; https: number }> {
  const folder = await makeFolder();
  const [http, https] = [await freePort(), await freePort()];
  const files = [...more, '10-frontend.cfg', '20-host.cfg'].map((name) => {
    const own = replicas.map((port) => `  server api-${port} 127.0.0.1:${port}\n`).join('');
    const config = read(`deploy/proxy/${name}`).replace(/(^ +server api-.*\n)+/m, own);
    writeFileSync(join(folder, name), config);
    return join(folder, name);
  });
  const pem = join(folder, 'tls.pem');
  const receivers = 'test/support/receivers';
  writeFileSync(pem, read(`${receivers}/localhost.pem`) + read(`${receivers}/localhost-key.pem`));
  const running = runProgram(haproxy ?? '', files.flatMap((file) => ['-f', file]).concat('-db'), {
    PATH: process.env['PATH'],
    HTTP_BIND: `127.0.0.1:${http}`,
    HTTPS_BIND: `127.0.0.1:${https}`,
    TLS_PEM: pem,
    // It belongs to the whole machine, where other tests run too.
    UNAVAILABLE_SOCKET: `crossdock-${http}`,
    ...env,
  });
  await until(async () => {
    const socket = createConnection({ port: https, host: '127.0.0.1' });
    const isOpen = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false);
    socket.destroy();
    return isOpen;
  });
  return { ...running, http, https };
}

type Answer = { status: number | undefined; location: string | undefined };

async function answerOf(sent: ReturnType<typeof get>): Promise<Answer> {
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  return { status: response.statusCode, location: response.headers.location };
}

const isRoot = process.getuid?.() === 0;
const hasAccount = /^haproxy:/m.test(read('/etc/passwd'));
const missing = [
  haproxy ? undefined : 'haproxy',
  isRoot ? undefined : 'root',
  hasAccount ? undefined : 'the account haproxy',
];
(missing.some(Boolean) ? test.skip : test)(
  titleWith('a haproxy that root starts serves as its own account, in an empty folder', missing),
  async () => {
    const { http, child } = await startHaproxy({}, [], ['00-account.cfg']);
    const uid = spawnSync('id', ['-u', 'haproxy'], { encoding: 'utf8' }).stdout.trim();
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
    expect(/^Uid:\s+(\d+)\s+(\d+)/m.exec(status)?.slice(1)).toEqual([uid, uid]);
    expect(readlinkSync(`/proc/${child.pid}/root`)).toBe('/var/lib/haproxy');
    expect((await answerOf(get({ port: http, host: '127.0.0.1' }))).status).toBe(301);
  },
  LIMIT_MS,
);

describe('the redirect from HTTP', () => {
  const redirectOf = async (port: number, host: string, path = '/console?tab=load') =>
    answerOf(get({ port, host: '127.0.0.1', path, headers: { host } }));

  declare('leads to the host of the request without a port, where HTTPS has its usual one', async () => {
    const { http } = await startHaproxy({});
    for (const host of ['gateway.example.com', 'gateway.example.com:8480', 'gateway.example.com:'])
      expect(await redirectOf(http, host)).toEqual({
        status: 301,
        location: 'https://gateway.example.com/console?tab=load',
      });
    expect(await redirectOf(http, '[2001:db8::1]:80', '/')).toMatchObject({
      location: 'https://[2001:db8::1]/',
    });
  });

  declare('leads to the port that clients use for HTTPS', async () => {
    const { http } = await startHaproxy({ HTTPS_PORT: '8443' });
    for (const host of ['gateway.example.com', `gateway.example.com:8480`])
      expect(await redirectOf(http, host, '//other.example/')).toEqual({
        status: 301,
        location: 'https://gateway.example.com:8443//other.example/',
      });
    expect(await redirectOf(http, '[2001:db8::1]', '/')).toMatchObject({
      location: 'https://[2001:db8::1]:8443/',
    });
  });

  test('of compose names the published port', () => {
    const { services } = parse(read('deploy/compose/compose.yaml'), { merge: true });
    const [, https] = services.proxy.ports;
    expect(https).toBe('${HTTPS_PORT:-443}:8443');
    expect(services.proxy.environment.HTTPS_PORT).toBe('${HTTPS_PORT:-443}');
  });
});

describe("the proxy's own 503", () => {
  const ask = async (port: number, headers = {}) => {
    const options = { port, host: '127.0.0.1', path: '/api/x?key=1', headers, rejectUnauthorized: false };
    const [response] = (await once(requestHttps(options).end(), 'response')) as [IncomingMessage];
    return { status: response.statusCode, body: JSON.parse(await text(response)) as Record<string, unknown> };
  };

  declare(
    'has a request_id that is in the line of its request, which has the fields of httplog without the query',
    async () => {
      // Nothing listens on the port of the only replica.
      const { https, output } = await startHaproxy({}, [await freePort()]);
      const forged = { 'x-proxy-request-id': 'forged' };
      const answers = [await ask(https), await ask(https), await ask(https, forged)];
      for (const { status, body } of answers) {
        expect([status, body['code']]).toEqual([503, 'unavailable']);
        const id = String(body['request_id']);
        expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
        await until(async () => output().includes(id));
        expect(
          output()
            .split('\n')
            .filter((line) => line.includes(id)),
        ).toEqual([
          expect.stringMatching(
            /^127\.0\.0\.1:\d+ \[\S+\] https~ api\/\S+ \S+ 503 \d+ - - \S+ \S+ \d+\/\d+ "GET \/api\/x HTTP\/1\.1" \S+$/,
          ),
        ]);
      }
      expect(new Set(answers.map(({ body }) => body['request_id'])).size).toBe(3);
      // The query may be the token of a feed.
      expect(output()).not.toContain('key=1');
    },
  );
});

declare('two of one machine have their own 503, each with another name of the socket', async () => {
  const proxies = [await startHaproxy({}), await startHaproxy({})];
  for (const { https } of proxies) {
    const sent = requestHttps({ port: https, host: '127.0.0.1', path: '/ready', rejectUnauthorized: false });
    expect(await answerOf(sent.end())).toMatchObject({ status: 503 });
  }
  // The first one ends. The second still has its own socket.
  proxies[0]?.child.kill('SIGTERM');
  await proxies[0]?.ended;
  const sent = requestHttps({
    port: proxies[1]?.https,
    host: '127.0.0.1',
    path: '/ready',
    rejectUnauthorized: false,
  });
  const [response] = (await once(sent.end(), 'response')) as [IncomingMessage];
  expect([response.statusCode, await text(response)]).toEqual([
    503,
    expect.stringContaining('"code":"unavailable"'),
  ]);
  for (const { output } of proxies)
    expect(output()).not.toMatch(
      matching(/address already in use|cannot bind/i, 'cannot bind UNIX socket (already in use)'),
    );
});

declare('a 503 that a client of a sandbox provokes is passed on, and any other is asked again', async () => {
  const port = await freePort();
  const asked: string[] = [];
  const replica = createServer(({ url = '' }, response) => {
    if (url !== '/ready') asked.push(url);
    response.writeHead(url === '/ready' ? 200 : 503).end();
  });
  servers.push(replica.listen(port, '127.0.0.1'));
  const { https } = await startHaproxy({}, [port]);
  const ask = async (path: string, headers = {}) => {
    const options = { port: https, host: '127.0.0.1', path, headers, rejectUnauthorized: false };
    expect((await answerOf(requestHttps(options).end())).status).toBe(503);
    return asked.splice(0).length;
  };
  const provoking = { 'crossdock-provoke': 'overloaded' };
  await until(async () => (await ask('/api/Customers.php')) > 1);
  expect(await ask('/api/Customers.php', provoking)).toBeGreaterThan(1);
  expect(await ask('/sandbox/k2/api/Customers.php')).toBeGreaterThan(1);
  expect(await ask('/sandbox/k2/api/Customers.php', provoking)).toBe(1);
  expect(await ask('/%73andbox/k2/api/Customers.php', provoking)).toBe(1);
});

declare('the log has every request, but health checks only if they fail', async () => {
  const state = { status: 200 };
  const port = await freePort();
  const replica = createServer((_request, response) => response.writeHead(state.status).end());
  servers.push(replica.listen(port, '127.0.0.1'));
  const proxy = await startHaproxy({}, [port]);
  const statusOf = async (path: string) => {
    const sent = requestHttps({ port: proxy.https, host: '127.0.0.1', path, rejectUnauthorized: false });
    sent.end();
    return (await answerOf(sent)).status;
  };
  await until(async () => (await statusOf('/console')) === 200);
  expect(await statusOf('/ready')).toBe(200);
  expect(await statusOf('/health?a=b')).toBe(200);
  state.status = 503;
  expect(await statusOf('/ready')).toBe(503);
  // The key of a page for customers is a credential.
  for (const path of [
    '/track/SECRETKEY?lang=es',
    '/%74rack/SECRETKEY',
    '/Track/SECRETKEY/',
    '/track/a/SECRETKEY',
  ])
    expect(await statusOf(path)).toBe(503);
  expect(await statusOf('/track?courier=IEX')).toBe(503);
  expect(await statusOf('/%6eotices/SECRETKEY?lang=es')).toBe(503);
  expect(await statusOf('/api/Manifests.php')).toBe(503);
  await until(async () => proxy.output().includes('Manifests'));
  const logged = [...proxy.output().matchAll(/ (\d{3}) \d+ - - .*"GET (\S+) HTTP/g)]
    .map(([, status, path]) => `${status} ${path}`)
    .filter((line) => !line.endsWith('/console'));
  const pages = Array.from({ length: 4 }, () => '503 /track/...');
  expect(logged).toEqual([
    '503 /ready',
    ...pages,
    '503 /track',
    '503 /notices/...',
    '503 /api/Manifests.php',
  ]);
  expect(proxy.output()).not.toContain('SECRETKEY');
});
