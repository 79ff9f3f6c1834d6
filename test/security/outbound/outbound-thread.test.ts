import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import type { OutboundConfig } from '../../../src/config/config.js';
import { projectRoot } from '../../../src/config/project-root.js';
import {
  makeOutboundClient,
  type OutboundRequest,
  type OutboundSender,
} from '../../../src/platform/outbound/client.js';
import { makeThreadedClient, type ThreadedClient } from '../../../src/platform/outbound/threaded-client.js';
import { makeFolder, removeFolders, until } from '../../support/service/processes.js';
import { answering, closeReceivers, startReceiver, startWire } from '../../support/receivers/receivers.js';
import { startCostlyServer } from './costly-server.js';

// The thread in which couriers' servers are called.

const stops: (() => unknown)[] = [];
const reported: unknown[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
  await closeReceivers();
  expect(reported.splice(0)).toEqual([]);
});
afterAll(removeFolders);

const CONFIG: OutboundConfig = { allowLoopback: true, dnsServers: [] };

function startThread(config: Partial<OutboundConfig> = {}): ThreadedClient {
  const client = makeThreadedClient({ ...CONFIG, ...config }, (error) => void reported.push(error));
  stops.push(() => client.destroy());
  return client;
}

function startHere(config: Partial<OutboundConfig> = {}): OutboundSender {
  const client = makeOutboundClient({ ...CONFIG, ...config });
  stops.push(() => client.close());
  return client;
}

const request = (url: string, more: Partial<OutboundRequest> = {}): OutboundRequest => ({
  method: 'GET',
  url,
  headers: {},
  timeoutMs: 5_000,
  maxBytes: 1_000,
  ...more,
});

/** A thread with this code in place of the client. */
async function startCode(code: string, stuckMs?: number): Promise<ThreadedClient> {
  const file = join(await makeFolder(), 'worker.mjs');
  await writeFile(file, code);
  const client = makeThreadedClient(CONFIG, (error) => void reported.push(error), {
    file,
    ...(stuckMs && { stuckMs }),
  });
  stops.push(() => client.destroy());
  return client;
}

/** Without the time that it took. */
async function outcome(client: OutboundSender, sent: OutboundRequest) {
  const { durationMs, ...reply } = await client.send(sent);
  expect(durationMs).toBeGreaterThanOrEqual(0);
  return reply;
}

describe('each outcome is that of the client in this thread', () => {
  const same = async (sent: OutboundRequest, config: Partial<OutboundConfig> = {}) => {
    const reply = await outcome(startThread(config), sent);
    expect(reply).toEqual(await outcome(startHere(config), sent));
    return reply;
  };

  test('a response: status, headers and body', async () => {
    const { url } = await startReceiver((_request, response) =>
      response
        .writeHead(418, { date: 'now', 'set-cookie': ['a=b', 'c=d'], 'x-name': 'Zoë' })
        .end(Buffer.from([0, 255, 128])),
    );
    const reply = await same(request(url));
    expect(reply).toMatchObject({ outcome: 'answered', status: 418, isCut: false });
    expect('body' in reply && Buffer.isBuffer(reply.body) && [...reply.body]).toEqual([0, 255, 128]);
  });

  test('an empty response', async () => {
    const { url } = await startReceiver((_request, response) =>
      response.writeHead(204, { date: 'now' }).end(),
    );
    expect(await same(request(url))).toMatchObject({ status: 204, body: Buffer.alloc(0) });
  });

  test('a response that is longer than the limit', async () => {
    const { url } = await startReceiver((_request, response) =>
      response.writeHead(200, { date: 'now' }).end('x'.repeat(5_000)),
    );
    expect(await same(request(url))).toMatchObject({ isCut: true, body: Buffer.from('x'.repeat(1_000)) });
  });

  test('a server that does not answer, refuses, or does not speak HTTP', async () => {
    const silent = await startWire(() => undefined);
    const garbage = await startWire(answering('NO HTTP\r\n\r\n'));
    expect(await same(request(silent.url, { timeoutMs: 100 }))).toMatchObject({ outcome: 'timeout' });
    expect(await same(request(garbage.url))).toMatchObject({ reason: 'not_http' });
    await closeReceivers();
    expect(await same(request(silent.url))).toMatchObject({ reason: 'connection_refused' });
  });

  test('a URL that must not be called', async () => {
    expect(await same(request('https://10.0.0.1/'), { allowLoopback: false })).toMatchObject({
      outcome: 'unsafe_target',
      reason: 'address_not_public',
    });
    expect(await same(request('https://example.com:8443/'), { ports: [443] })).toMatchObject({
      outcome: 'unsafe_target',
    });
  });
});

test('the request arrives as it was given, with the header of its span', async () => {
  const seen: unknown[] = [];
  const { url } = await startReceiver((received, response) => {
    let body = '';
    received.setEncoding('utf8').on('data', (part: string) => (body += part));
    received.on('end', () => {
      seen.push([received.method, received.headers['x-a'], received.headers.traceparent, body]);
      response.end();
    });
  });
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const span = { traceparent, end: () => undefined } as unknown as NonNullable<OutboundRequest['span']>;
  await startThread().send(
    request(url, { method: 'POST', headers: { 'x-a': 'Zo\u00eb' }, body: '{"name":"Zoë"}', span }),
  );
  expect(seen).toEqual([['POST', 'Zo\u00eb', traceparent, '{"name":"Zoë"}']]);
});

test('20 MB arrive whole', async () => {
  const body = Buffer.from(Array.from({ length: 2_900_000 }, (_, n) => String(n).padStart(7, '0')).join(''));
  const { url } = await startReceiver((_request, response) => void response.end(body));
  const reply = await startThread().send(request(url, { timeoutMs: 20_000, maxBytes: 2 * body.length }));
  expect('body' in reply && body.equals(reply.body)).toBe(true);
});

test('500 requests at once have their own answers', async () => {
  const { url } = await startReceiver(({ url: path }, response) => void response.end(path));
  const client = startThread();
  const replies = await Promise.all(
    Array.from({ length: 500 }, (_, n) => client.send(request(`${url}/${n}`, { timeoutMs: 20_000 }))),
  );
  const bodies = replies.map((reply) => 'body' in reply && reply.body.toString());
  expect(bodies).toEqual(Array.from({ length: 500 }, (_, n) => `/hook/${n}`));
});

test('a request that hangs delays no other', async () => {
  const { url } = await startReceiver((received, response) => {
    if (!received.url?.endsWith('hang')) response.end('ok');
  });
  const client = startThread();
  const hanging = client.send(request(`${url}/hang`, { timeoutMs: 3_000 }));
  const others = await Promise.all([1, 2, 3].map(() => client.send(request(url, { timeoutMs: 2_500 }))));
  expect(others.map(({ outcome: ended }) => ended)).toEqual(['answered', 'answered', 'answered']);
  expect(Math.max(...others.map(({ durationMs }) => durationMs))).toBeLessThan(2_500);
  let hasEnded = false;
  void hanging.then(() => (hasEnded = true));
  await Promise.resolve();
  expect(hasEnded).toBe(false);
  expect(await hanging).toMatchObject({ outcome: 'timeout' });
});

test('all requests of a process share the rate limit of an address', async () => {
  const { url } = await startReceiver((_request, response) => void response.end());
  const client = startThread({ requestsPerSecond: 1 });
  const replies = await Promise.all(Array.from({ length: 20 }, () => client.send(request(url))));
  expect(replies.map((reply) => reply.outcome)).toContain('postponed');
});

test('certificates that take long to verify do not hold up this thread', async () => {
  const server = await startCostlyServer();
  stops.push(server.stop);
  const busy = async (client: OutboundSender) => {
    await client.send(request(server.url, { timeoutMs: 20_000 }));
    const before = performance.eventLoopUtilization();
    for (let n = 0; n < 8; n += 1)
      expect(await client.send(request(server.url, { timeoutMs: 20_000 }))).toMatchObject({
        outcome: 'unreachable',
        error: expect.stringMatching(/certificate/),
      });
    return performance.eventLoopUtilization(before).active;
  };
  const here = await busy(startHere());
  const threaded = await busy(startThread());
  // Eight chains cost a second. Without that cost the comparison would prove nothing.
  expect(here).toBeGreaterThan(300);
  expect(threaded).toBeLessThan(here / 4);
});

describe('the thread ends', () => {
  const LOST = { outcome: 'postponed', retryAfterMs: 1_000 };
  const UNREACHABLE = { outcome: 'unreachable', reason: 'host_unreachable', error: 'the request failed' };

  test('by an error: its requests are postponed, it is reported once, and a new one works', async () => {
    const client = await startCode(
      `let requests = 0;
       export default ({ url }) => new Promise((resolve) => {
         requests += 1;
         if (url === 'https://answer.example/') resolve({ outcome: 'timeout', durationMs: 1 });
         if (requests === 3) setImmediate(() => { throw new Error('planted'); });
       });`,
    );
    for (let round = 1; round <= 2; round += 1) {
      const sent = [1, 2, 3].map(() => client.send(request('https://x.example/')));
      // The URLs of a second thread may be the cause.
      for (const reply of await Promise.all(sent))
        expect(reply).toMatchObject(round === 1 ? LOST : UNREACHABLE);
      expect(await client.send(request('https://answer.example/'))).toMatchObject({ outcome: 'timeout' });
      expect(reported).toHaveLength(round);
    }
    expect(reported.splice(0)).toMatchObject([{ message: 'planted' }, { message: 'planted' }]);
  });

  test('not by an exception in an event of a socket: it is reported, and other requests go on', async () => {
    const { url } = await startReceiver(
      (_request, response) => void setTimeout(() => response.end('ok'), 300),
    );
    const built = join(projectRoot, 'dist', 'src', 'platform', 'outbound', 'outbound-worker.js');
    const client = await startCode(
      `import send from ${JSON.stringify(built)};
       export default (request) => {
         if (request.url === 'https://throw.example/') setImmediate(() => { throw new Error('planted'); });
         return send(request);
       };`,
    );
    const others = [1, 2, 3].map(() => client.send(request(url)));
    await client.send(request('https://throw.example/', { timeoutMs: 100 }));
    for (const reply of await Promise.all(others)) expect(reply).toMatchObject({ outcome: 'answered' });
    expect(await client.send(request(url))).toMatchObject({ outcome: 'answered' });
    expect(String(reported.splice(0)[0])).toContain('planted');
  });

  test('because it hangs: it is replaced', async () => {
    const client = await startCode(
      `export default ({ url }) => {
         while (url === 'https://hang.example/');
         return { outcome: 'timeout', durationMs: 1 };
       };`,
      500,
    );
    const hanging = client.send(request('https://hang.example/', { timeoutMs: 100 }));
    const behind = client.send(request('https://x.example/', { timeoutMs: 60_000 }));
    expect(await hanging).toMatchObject(LOST);
    expect(await behind).toMatchObject(LOST);
    expect(await client.send(request('https://x.example/'))).toMatchObject({ outcome: 'timeout' });
    expect(reported.splice(0)).toMatchObject([{ message: 'The thread did not end a request in time.' }]);
  });

  test('before it begins: requests do not wait for ever', async () => {
    const client = await startCode('throw new Error("no start");', 500);
    for (const path of ['1', '2'])
      expect(await client.send(request(`https://x.example/${path}`, { timeoutMs: 100 }))).toMatchObject(LOST);
    expect(reported.splice(0)).not.toEqual([]);
  });

  test('at the stop: it aborts what is in progress, and nothing is sent after it', async () => {
    let requests = 0;
    const { url } = await startReceiver(() => void (requests += 1));
    const client = startThread();
    const sent = [1, 2, 3].map(() => client.send(request(url)));
    await until(async () => requests === 3);
    await client.destroy();
    for (const reply of await Promise.all(sent)) expect(reply).toMatchObject(LOST);
    expect(await client.send(request(url))).toMatchObject(LOST);
    expect(requests).toBe(3);
  });
});

test('a request that the thread refuses does not repeat for ever', async () => {
  const client = await startCode('export default () => Promise.reject(new Error("planted"));');
  expect(await client.send(request('https://x.example/'))).toMatchObject({ outcome: 'unreachable' });
  expect(reported.splice(0)).toMatchObject([{ message: 'planted' }]);
});

test('it gets nothing of the environment', async () => {
  process.env['PLANTED_SECRET'] = 'planted';
  const client = await startCode(
    'export default () => ({ outcome: "unreachable", error: JSON.stringify(process.env), durationMs: 1 });',
  );
  expect(await client.send(request('https://x.example/'))).toMatchObject({ error: '{}' });
  delete process.env['PLANTED_SECRET'];
});
