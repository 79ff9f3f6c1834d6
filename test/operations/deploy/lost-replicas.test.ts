import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, createServer, type Server } from 'node:http';
import { join } from 'node:path';
// listen() on an address of TCP returns this type.
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { projectRoot } from '../../../src/config/project-root.js';
import { findProgram, titleWith } from '../../support/harness/programs.js';
import { startProxy } from '../../support/rehearsal/proxy.js';
import { ask, isUnavailable } from '../../support/service/client.js';
import { endProcesses, removeFolders } from '../../support/service/processes.js';

const LIMIT_MS = 60_000;

const missing = findProgram('haproxy') ? undefined : 'haproxy';
const servers: Server[] = [];

afterEach(async () => {
  await endProcesses();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

afterAll(removeFolders);

/** Two replicas that lose their database together. Requests get 503 when haproxy has removed both. */
async function startReplicas() {
  const state = { isLost: false, requests: 0 };
  const failedChecks = [0, 0];
  const ports: number[] = [];
  for (const index of failedChecks.keys()) {
    const server = createServer((request, response) => {
      const status = () => response.writeHead(state.isLost ? 503 : 200).end();
      if (request.url === '/ready') {
        if (state.isLost) failedChecks[index] = (failedChecks[index] ?? 0) + 1;
        status();
        return;
      }
      state.requests += 1;
      // haproxy removes a replica after two failed checks.
      const timer = setInterval(() => {
        if (state.isLost && Math.min(...failedChecks) < 3) return;
        clearInterval(timer);
        status();
      }, 50);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    servers.push(server);
    ports.push((server.address() as AddressInfo).port);
  }
  return { ports, state };
}

(missing ? test.skip : test)(
  titleWith('requests that replicas answer with 503 while haproxy removes the last one get 503 too', [
    missing,
  ]),
  async () => {
    const { ports, state } = await startReplicas();
    const proxy = await startProxy(ports);
    const agent = new Agent({ keepAlive: true });
    const question = {
      method: 'POST',
      path: '/api/Prealert.php',
      // haproxy only repeats writes with a key.
      headers: { 'idempotency-key': 'lost-1' },
      body: { TrackingNumber: 'LOST-1' },
    };
    const askAll = () => Promise.all(Array.from({ length: 8 }, () => ask(proxy.url, question, agent)));
    // Opens the connections that the next requests use again.
    expect((await askAll()).map(({ status }) => status)).toEqual(Array(8).fill(200));
    state.isLost = true;
    const during = await askAll();
    const after = await askAll();
    expect(state.requests).toBe(16);
    expect([...during, ...after].filter((outcome) => !isUnavailable(outcome))).toEqual([]);
    agent.destroy();
    await proxy.stop();
  },
  LIMIT_MS,
);

/** Two replicas that answer everything except their check with 503, and count it. */
async function startRefusing() {
  const state = { requests: 0 };
  const ports: number[] = [];
  for (let n = 0; n < 2; n += 1) {
    const server = createServer((request, response) => {
      const isCheck = request.url === '/ready';
      if (!isCheck) state.requests += 1;
      response.writeHead(isCheck ? 200 : 503).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    servers.push(server);
    ports.push((server.address() as AddressInfo).port);
  }
  return { ports, state };
}

/** Returns how often the replicas get a request that all of them answer with 503. */
async function countAttempts(
  method: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<number> {
  const { ports, state } = await startRefusing();
  const proxy = await startProxy(ports);
  const { status } = await ask(proxy.url, { method, path, headers, body: method === 'GET' ? undefined : {} });
  expect(status).toBe(503);
  await proxy.stop();
  return state.requests;
}

test('the proxy knows every operation that ignores an Idempotency-Key', () => {
  // The bundle has all paths of the contract.
  const { paths } = JSON.parse(readFileSync(join(projectRoot, 'generated', 'openapi.json'), 'utf8')) as {
    paths: Record<string, { post?: { parameters?: { $ref?: string }[]; summary: string } }>;
  };
  const ignoring = Object.entries(paths)
    .filter(([, { post }]) => post && !JSON.stringify(post.parameters ?? []).includes('IdempotencyKey'))
    .map(([path]) => path);
  for (const name of ['20-compose.cfg', '20-host.cfg']) {
    const text = readFileSync(join(projectRoot, 'deploy', 'proxy', name), 'utf8');
    const listed = /^ +acl ignores_key path,url_dec,regsub\S+ -i (.*)$/m.exec(text)?.[1]?.split(' ') ?? [];
    const begun = [...text.matchAll(/^ +acl ignores_key path,url_dec -m beg -i (.*)$/gm)].map(
      ([, start]) => `${start}{key}`,
    );
    expect([...listed, ...begun].sort()).toEqual(ignoring.sort());
  }
});

describe('a request that got 503', () => {
  const declare = (title: string, run: () => Promise<void>) =>
    (missing ? test.skip : test)(titleWith(title, [missing]), run, LIMIT_MS);
  const keyed = { 'idempotency-key': 'attempt-1' };

  declare('is repeated at another replica if it only reads, or has an Idempotency-Key', async () => {
    expect(await countAttempts('GET', '/api/Manifests.php')).toBeGreaterThan(1);
    expect(await countAttempts('POST', '/api/CreateManifest.php', keyed)).toBeGreaterThan(1);
  });

  declare('is not repeated if it may have been executed', async () => {
    expect(await countAttempts('POST', '/api/CreateManifest.php')).toBe(1);
    expect(await countAttempts('POST', '/api/Prealert.php')).toBe(1);
    expect(await countAttempts('DELETE', '/api/ManageCustomers.php')).toBe(1);
    // The operation ignores the header.
    expect(await countAttempts('POST', '/api/login.php', keyed)).toBe(1);
    expect(await countAttempts('POST', '/API/Log%69n.php', keyed)).toBe(1);
    expect(await countAttempts('POST', '/sandbox/0123456789abcdefghij/api/login.php', keyed)).toBe(1);
  });
});
