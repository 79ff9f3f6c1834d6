import type { TLSSocket } from 'node:tls';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { PassThrough } from 'node:stream';
import type { Socket } from 'node:net';
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { makeOutboundClient, type OutboundClient } from '../../../src/platform/outbound/client.js';
import { limitTls } from '../../../src/platform/outbound/handshake.js';
import { makeFolder, removeFolders } from '../../support/service/processes.js';
import { closeReceivers, pem, startTlsReceiver, startWire } from '../../support/receivers/receivers.js';

// What a courier's TLS server can make this process compute before its certificate is looked at.

const clients: OutboundClient[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
  await closeReceivers();
});
afterAll(removeFolders);

function send(url: string, maxBytes = 1_000) {
  const client = makeOutboundClient({ allowLoopback: true, dnsServers: [] }, { ca: pem('localhost') });
  clients.push(client);
  return client.send({ method: 'GET', url, headers: {}, timeoutMs: 5_000, maxBytes });
}

/** The cipher suites of a ClientHello (RFC 5246, 7.4.1.2), as hexadecimal numbers. */
function suitesOf(hello: Buffer): string[] {
  // The headers of record and handshake, the version, and 32 random bytes.
  const session = 5 + 4 + 2 + 32;
  const start = session + 1 + (hello[session] ?? 0);
  const length = hello.readUInt16BE(start);
  return Array.from({ length: length / 2 }, (_, n) =>
    hello.subarray(start + 2 + 2 * n, start + 4 + 2 * n).toString('hex'),
  );
}

/** The groups of its extension of supported groups (RFC 8446, 4.2.7). */
function groupsOf(hello: Buffer): string[] {
  const session = 5 + 4 + 2 + 32;
  const suites = session + 1 + (hello[session] ?? 0);
  // After the methods of compression, of which there is one, and the length of the extensions.
  let at = suites + 2 + hello.readUInt16BE(suites) + 2 + 2;
  while (hello.readUInt16BE(at) !== 10) at += 4 + hello.readUInt16BE(at + 2);
  const length = hello.readUInt16BE(at + 4);
  return Array.from({ length: length / 2 }, (_, n) =>
    hello.subarray(at + 6 + 2 * n, at + 8 + 2 * n).toString('hex'),
  );
}

test('no group is taken that a server has made: no classic Diffie-Hellman exchange is offered', async () => {
  let hello = Buffer.alloc(0);
  const { port } = await startWire((socket) => {
    socket.once('data', (data) => {
      hello = data;
      socket.destroy();
    });
  });
  expect(await send(`https://localhost:${port}/`)).toMatchObject({ outcome: 'unreachable' });
  const suites = suitesOf(hello);
  // TLS_AES_128_GCM_SHA256 and TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256.
  expect(suites).toEqual(expect.arrayContaining(['1301', 'c02f']));
  // All of TLS_DHE_* that OpenSSL has: AES, GCM, CCM, ChaCha20, Camellia and ARIA.
  const DHE = new Set(
    '0033 0039 0032 0038 0067 006b 0040 006a 009e 009f 00a2 00a3 c09e c09f c0a2 c0a3 ccaa 0045 0088 00be 00c4 c052 c053 c056 c057'.split(
      ' ',
    ),
  );
  expect(suites.filter((suite) => DHE.has(suite))).toEqual([]);
  // X25519, P-256, P-384 and P-521: in TLS 1.3 the groups decide.
  expect(groupsOf(hello)).toEqual(['001d', '0017', '0018', '0019']);
});

test('a server that asks for a second handshake in its connection gets none', async () => {
  const outcomes: unknown[] = [];
  const port = await startTlsReceiver(
    'localhost',
    ({ socket }, response) => {
      // A server of HTTPS has no others.
      const secure = socket as TLSSocket;
      secure.on('error', () => undefined);
      secure.renegotiate({ rejectUnauthorized: false }, (error) => {
        outcomes.push(error === null ? 'done' : 'refused');
        response.end('ok');
      });
    },
    { maxVersion: 'TLSv1.2' },
  );
  await send(`https://localhost:${port}/`);
  expect(outcomes).not.toContain('done');
});

describe('a chain of certificates', () => {
  const withChain = (certificates: number) =>
    startTlsReceiver('localhost', (_request, response) => void response.end('ok'), {
      cert: pem('localhost') + pem('courier').repeat(certificates - 1),
    });

  test('of 8 is taken', async () => {
    const port = await withChain(8);
    expect(await send(`https://localhost:${port}/`)).toMatchObject({ outcome: 'answered', status: 200 });
  });

  test('of more than 20 KB is refused before it is verified', async () => {
    const port = await withChain(60);
    expect(await send(`https://localhost:${port}/`)).toMatchObject({
      outcome: 'unreachable',
      error: 'the server sent more than 20 KB before the TLS handshake was done',
    });
  });

  test('does not limit the response: 5 MB arrive whole', async () => {
    const body = Buffer.from(Array.from({ length: 750_000 }, (_, n) => String(n).padStart(7, '0')).join(''));
    const port = await startTlsReceiver('localhost', (_request, response) => void response.end(body));
    const reply = await send(`https://localhost:${port}/`, 2 * body.length);
    expect(reply).toMatchObject({ outcome: 'answered', status: 200 });
    // In its order.
    expect('body' in reply && body.equals(reply.body)).toBe(true);
  });
});

test('the handshakes of many connections leave turns to other work', async () => {
  // What a server sends in one piece is processed in one turn, and its work stands for the cost of that.
  const turns: number[] = [];
  const servers = Array.from({ length: 16 }, () => new PassThrough());
  const handshakes = servers.map((server) => limitTls(server as unknown as Socket, 'one.example'));
  let now = 0;
  for (const { stream } of handshakes) stream.on('data', () => void turns.push(now));
  for (const server of servers) server.write('certificates');
  for (; turns.length < servers.length; now += 1) await setImmediate();
  expect(new Set(turns).size).toBe(servers.length);
});

test('each host has its turn, however much of another one waits', async () => {
  const order: string[] = [];
  const arrive = (host: string) => {
    const server = new PassThrough();
    limitTls(server as unknown as Socket, host).stream.on('data', () => void order.push(host));
    server.write('certificates');
  };
  for (let n = 0; n < 50; n += 1) arrive('many.example');
  arrive('other.example');
  while (order.length < 51) await setImmediate();
  expect(order.indexOf('other.example')).toBeLessThan(3);
});

/** In a process of its own: what it sends and its end arrive together while this process is busy. */
async function startClosingServer(body: number): Promise<{ port: number; stop(): void }> {
  const file = join(await makeFolder(), 'server.mjs');
  await writeFile(
    file,
    `import { createServer } from 'node:tls';
     const options = ${JSON.stringify({ key: pem('localhost-key'), cert: pem('localhost') })};
     const body = 'x'.repeat(${body});
     const server = createServer(options, (socket) => {
       socket.on('error', () => {});
       socket.once('data', () => socket.end('HTTP/1.1 200 OK\\r\\nConnection: close\\r\\nContent-Length: ' + body.length + '\\r\\n\\r\\n' + body));
     });
     server.listen(0, '127.0.0.1', () => process.send(server.address().port));`,
  );
  const child = fork(file, { execArgv: [] });
  // The server sends nothing else.
  const [port] = (await once(child, 'message')) as [number];
  return { port, stop: () => void child.kill() };
}

test('the responses of a server that closes its connections are not cut, whatever waits for its turn', async () => {
  const server = await startClosingServer(40_000);
  for (let round = 0; round < 3; round += 1) {
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => send(`https://localhost:${server.port}/`, 100_000)),
    );
    const whole = replies.filter((reply) => 'body' in reply && reply.body.length === 40_000);
    expect(whole).toHaveLength(20);
  }
  server.stop();
});

test('a server that sends records without content is left', async () => {
  const pair = new PassThrough();
  const { stream, end } = limitTls(pair as unknown as Socket, 'one.example');
  const secure = new PassThrough();
  end(secure as unknown as TLSSocket);
  stream.resume();
  const failed = once(stream, 'error');
  for (let n = 0; n < 40; n += 1) pair.write(Buffer.alloc(8_192));
  const [error] = await failed;
  expect(error).toMatchObject({ message: 'the server sent far more in TLS than its response' });
});

test('a server that sends its response in records of ten bytes is read', async () => {
  const port = await startTlsReceiver('localhost', (_request, response) => {
    for (let n = 0; n < 3_000; n += 1) response.write('0123456789');
    response.end();
  });
  expect(await send(`https://localhost:${port}/`, 100_000)).toMatchObject({
    outcome: 'answered',
    status: 200,
  });
});
