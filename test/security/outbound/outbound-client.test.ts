import type { IncomingMessage } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  makeOutboundClient,
  type OutboundClient,
  type OutboundRequest,
} from '../../../src/platform/outbound/client.js';
import { startDns, type DnsServer } from '../../support/receivers/dns.js';
import { rounds } from '../../support/harness/effort.js';
import { until } from '../../support/service/processes.js';
import { answering, closeReceivers, startReceiver, startWire } from '../../support/receivers/receivers.js';

let dns: DnsServer;
let client: OutboundClient;

beforeEach(async () => {
  dns = await startDns();
  client = makeOutboundClient({ allowLoopback: true, dnsServers: [dns.address] });
});

afterEach(async () => {
  await client.close();
  await closeReceivers();
  await dns.stop();
});

const send = (url: string, request: Partial<OutboundRequest> = {}) =>
  client.send({ method: 'GET', url, headers: {}, timeoutMs: 5000, maxBytes: 1000, ...request });

describe('sent requests', () => {
  test('contain the method, the unchanged path, the given headers, the headers that HTTP needs, and the body', async () => {
    const seen: { request: IncomingMessage; body: string }[] = [];
    const { url, port } = await startReceiver((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (text: string) => (body += text));
      request.on('end', () => {
        seen.push({ request, body });
        response.setHeader('set-cookie', 'a=b').end('ok');
      });
    });
    const headers = { authorization: 'Bearer t\u00e9', 'webhook-id': 'msg_1' };
    for (let round = 0; round < 2; round += 1)
      await send(`${url}/a%20b//?x=%23&y`, { method: 'POST', headers, body: '{"name":"Zoë"}' });
    await send(url);
    expect(seen.map(({ request, body }) => [request.method, request.url, body])).toEqual([
      ['POST', '/hook/a%20b//?x=%23&y', '{"name":"Zoë"}'],
      ['POST', '/hook/a%20b//?x=%23&y', '{"name":"Zoë"}'],
      ['GET', '/hook', ''],
    ]);
    // no stored cookie and no Accept-Encoding
    expect(seen[1]?.request.headers).toEqual({
      host: `127.0.0.1:${port}`,
      connection: 'keep-alive',
      'content-length': '15',
      authorization: 'Bearer t\u00e9',
      'webhook-id': 'msg_1',
    });
    expect(seen[2]?.request.headers).toEqual({ host: `127.0.0.1:${port}`, connection: 'keep-alive' });
  });

  test.each(
    [
      '\r\nx: y',
      '\n',
      '\r',
      '\0',
      'a\r\n\r\nGET / HTTP/1.1',
      '\u010d\u010a',
      '\u2028',
      '\x7f',
      '\x1b',
      '\u{1f600}',
    ].flatMap((bad): [string, Record<string, string>][] => [
      [JSON.stringify(`value, end: ${bad}`), { authorization: `Bearer ${bad}` }],
      [JSON.stringify(`value, start: ${bad}`), { authorization: `${bad}Bearer` }],
      [JSON.stringify(`name: ${bad}`), { [`x${bad}`]: 'y' }],
    ]),
  )('a header with control characters is rejected before anything is sent: %s', async (_bad, headers) => {
    const { url, open } = await startWire(answering('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'));
    const reply = await send(url, { headers });
    expect(reply).toMatchObject({
      outcome: 'unreachable',
      error: expect.stringMatching(/^[ -~]+ that cannot be sent$/),
    });
    expect(open.size).toBe(0);
  });
});

describe('received responses', () => {
  test.each([200, 201, 204, 299, 300, 304, 400, 401, 404, 410, 429, 500, 503, 599])(
    'status %i is returned unchanged',
    async (status) => {
      const { url } = await startReceiver((_request, response) => void response.writeHead(status).end());
      expect(await send(url)).toEqual({
        outcome: 'answered',
        status,
        areHeadersCut: false,
        headers: expect.objectContaining({ date: expect.any(String) }),
        body: Buffer.alloc(0),
        isCut: false,
        durationMs: expect.any(Number),
      });
    },
  );

  test('a compressed body is not decompressed', async () => {
    const zipped = gzipSync('x'.repeat(100_000));
    const { url } = await startReceiver(
      (_request, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(zipped),
    );
    expect(await send(url)).toMatchObject({ body: zipped, isCut: false });
  });

  test.each([
    { length: 0, maxBytes: 0, isCut: false },
    { length: 1, maxBytes: 0, isCut: true },
    { length: 1000, maxBytes: 1000, isCut: false },
    { length: 1001, maxBytes: 1000, isCut: true },
    { length: 1_000_000, maxBytes: 1_000_000, isCut: false },
    { length: 1_000_001, maxBytes: 1_000_000, isCut: true },
  ])('truncates $length bytes to the limit of $maxBytes', async ({ length, maxBytes, isCut }) => {
    const whole = Buffer.from(Array.from({ length }, (_, at) => at % 251));
    for (const isChunked of [true, false]) {
      const { url } = await startReceiver((_request, response) => {
        if (!isChunked) response.setHeader('content-length', length);
        response.flushHeaders();
        response.end(whole);
      });
      const reply = await send(url, { maxBytes });
      expect(reply).toMatchObject({ outcome: 'answered', isCut });
      expect(reply.outcome === 'answered' && reply.body.equals(whole.subarray(0, maxBytes))).toBe(true);
    }
  });

  test('an endless body is truncated and its connection closed', async () => {
    const { url, open } = await startWire((socket) => {
      const more = () => {
        if (!socket.destroyed) socket.write('x'.repeat(10_000), more);
      };
      socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\n\r\n', more));
    });
    const reply = await send(url, { maxBytes: 100_000 });
    expect(reply).toMatchObject({ outcome: 'answered', body: Buffer.alloc(100_000, 'x'), isCut: true });
    await until(async () => open.size === 0);
  });

  test('a million one-byte chunks need the memory of a million bytes', async () => {
    const chunks = Buffer.from('1\r\nx\r\n'.repeat(1_000_000));
    const { url } = await startWire((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
        socket.end(Buffer.concat([chunks, Buffer.from('0\r\n\r\n')]));
      });
    });
    const before = process.memoryUsage().rss;
    const reply = await send(url, { maxBytes: 2_000_000, timeoutMs: 20_000 });
    expect(reply.outcome === 'answered' && reply.body.length).toBe(1_000_000);
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 * 1024);
  });

  test.each([
    ['a body shorter than its Content-Length', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc'],
    ['half a chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n9\r\n'],
    ['a chunk without a length', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\nz\r\n'],
  ])('%s is reported as truncated', async (_defect, bytes) => {
    const { url } = await startWire((socket) => socket.once('data', () => socket.end(bytes)));
    expect(await send(url)).toMatchObject({
      outcome: 'answered',
      status: 200,
      body: Buffer.from('abc'),
      isCut: true,
    });
  });

  test('a body that ends with the connection is complete', async () => {
    const { url } = await startWire((socket) =>
      socket.once('data', () => socket.end('HTTP/1.0 200 OK\r\n\r\nabc')),
    );
    expect(await send(url)).toMatchObject({ status: 200, body: Buffer.from('abc'), isCut: false });
  });

  test('informational responses are skipped', async () => {
    const hints = 'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n'.repeat(50);
    const { url } = await startWire(answering(`${hints}HTTP/1.1 201 Created\r\ncontent-length: 0\r\n\r\n`));
    expect(await send(url)).toMatchObject({ outcome: 'answered', status: 201 });
  });

  test.each([
    ['103 Early Hints', 'HTTP/1.1 103 E\r\nlink: a\r\n\r\n'],
    ['102 Processing', 'HTTP/1.1 102 P\r\n\r\n'],
    ['100 Continue', 'HTTP/1.1 100 C\r\n\r\n'],
    ['empty lines', '\r\n'],
    ['one that never ends', `HTTP/1.1 103 E\r\n${'x: y\r\n'.repeat(100)}`],
  ])('a connection that sends %s without end is closed at once', async (_what, part) => {
    let isClosed = false;
    const { url } = await startWire((socket) => {
      socket.on('close', () => (isClosed = true));
      socket.once('data', () => {
        const talk = () => {
          while (!socket.destroyed && socket.write(part.repeat(1_000)));
          if (!socket.destroyed) socket.once('drain', talk);
        };
        talk();
      });
    });
    const reply = await send(url, { timeoutMs: 20_000 });
    expect(reply).toMatchObject({ outcome: 'unreachable' });
    expect(reply.durationMs).toBeLessThan(10_000);
    await until(async () => isClosed);
  });

  describe('100 Continue that was not asked for', () => {
    const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
    const FINAL = 'HTTP/1.1 201 Created\r\ncontent-length: 2\r\n\r\nok';
    const answered = { outcome: 'answered', status: 201, body: Buffer.from('ok'), isCut: false };

    test.each([
      ['once', CONTINUE],
      ['many times', CONTINUE.repeat(50)],
      ['with headers', 'HTTP/1.1 100 Continue\r\nserver: old\r\nx-y: 100\r\n\r\n'],
      ['without a reason', 'HTTP/1.1 100 \r\n\r\n'],
      ['after other interim responses', `HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n${CONTINUE}`],
      ['before other interim responses', `${CONTINUE}HTTP/1.1 102 Processing\r\n\r\n`],
      ['after an empty line', `\r\n${CONTINUE}`],
    ])('is skipped: %s', async (_what, interim) => {
      let requests = 0;
      const { url } = await startWire((socket) => {
        socket.on('data', () => {
          requests += 1;
          socket.write(interim + FINAL);
        });
      });
      // The second request is on the same connection.
      for (let round = 0; round < 2; round += 1)
        expect(await send(url, { method: 'POST', body: '{}' })).toMatchObject(answered);
      expect(requests).toBe(2);
    });

    test('is skipped wherever it is cut', async () => {
      const bytes = CONTINUE + FINAL;
      for (let at = 1; at < CONTINUE.length + 13; at += 1) {
        const { url } = await startWire((socket) => {
          socket.setNoDelay(true).once('data', () => {
            socket.write(bytes.slice(0, at), () => setImmediate(() => socket.write(bytes.slice(at))));
          });
        });
        expect([at, await send(url)]).toEqual([at, expect.objectContaining(answered)]);
      }
    });

    test('is skipped on a connection that is closed after the response', async () => {
      const last = 'HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nok';
      const { url } = await startWire(answering(CONTINUE + last));
      expect(await send(url)).toMatchObject({ status: 200, body: Buffer.from('ok') });
    });

    test('alone is a connection that was closed before a response, and a body that looks like it is unchanged', async () => {
      const alone = await startWire((socket) => {
        socket.once('data', () => socket.end(CONTINUE));
      });
      expect(await send(alone.url)).toMatchObject({ outcome: 'unreachable' });
      const body = `${CONTINUE}HTTP/1.1 100 Continue`;
      const { url } = await startWire((socket) => {
        socket.on('data', () => {
          socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n`, () =>
            setImmediate(() => socket.write(body)),
          );
        });
      });
      for (let round = 0; round < 2; round += 1)
        expect(await send(url)).toMatchObject({ status: 200, body: Buffer.from(body) });
    });
  });

  test.each([
    ['SSH-2.0-OpenSSH_9.6\r\n', 'the response is not HTTP'],
    ['220 mail.example.com ESMTP\r\n', 'the response is not HTTP'],
    ['\0\x01\x02\xff'.repeat(1000), 'the response is not HTTP'],
    ['HTTP/1.1 abc OK\r\n\r\n', 'the response is not HTTP'],
    ['HTTP/1.1 200 OK\r\nno colon\r\n\r\n', 'the response is not HTTP'],
    [
      'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n',
      'the response is not HTTP',
    ],
    ['HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n', 'the response is not HTTP'],
    [
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
      'the connection was closed before a response arrived',
    ],
    [`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`, 'the response headers are too long'],
    [`HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(20_000)}\r\n`, 'the response headers are too long'],
    ['HTTP/1.1 200 OK\r\nx:', 'the connection was closed before a response arrived'],
    ['', 'the connection was closed before a response arrived'],
  ])('an invalid response is reported as unreachable with a reason: case %#', async (bytes, error) => {
    const { url, open } = await startWire((socket) =>
      socket.once('data', () => socket.end(Buffer.from(bytes, 'latin1'))),
    );
    expect(await send(url)).toMatchObject({ outcome: 'unreachable', error });
    await until(async () => open.size === 0);
  });

  test('a connection that is reset or refused is reported as unreachable', async () => {
    const { url } = await startWire((socket) => socket.once('data', () => socket.resetAndDestroy()));
    expect(await send(url)).toMatchObject({ outcome: 'unreachable', error: 'the connection was reset' });
    await closeReceivers();
    expect(await send(url)).toMatchObject({ outcome: 'unreachable', error: 'the connection was refused' });
  });
});

describe('the timeout of a request', () => {
  const PREFIX = 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n';

  test.each([
    ['never responds', '', 'no response within 0.3 s'],
    ['stops within the headers', PREFIX, 'no response within 0.3 s'],
    ['sends only informational responses', 'HTTP/1.1 103 Early Hints\r\n\r\n', 'no response within 0.3 s'],
  ])('applies to a server that %s', async (_what, bytes, error) => {
    const { url, open } = await startWire(answering(bytes));
    const reply = await send(url, { timeoutMs: 300 });
    expect(reply).toMatchObject({ outcome: 'timeout', error });
    expect(reply.durationMs).toBeGreaterThanOrEqual(299);
    expect(reply.durationMs).toBeLessThan(2000);
    await until(async () => open.size === 0);
  });

  test('applies to a server that sends its headers byte by byte', async () => {
    const { url } = await startWire((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const drip = setInterval(() => socket.write('x'), 20);
      socket.once('close', () => clearInterval(drip));
    });
    expect(await send(url, { timeoutMs: 300 })).toMatchObject({ outcome: 'timeout' });
  });

  test('applies to a server that never reads the body', async () => {
    const { url, open } = await startWire((socket) => socket.pause());
    const body = 'x'.repeat(50_000_000);
    expect(await send(url, { method: 'POST', body, timeoutMs: 300 })).toMatchObject({ outcome: 'timeout' });
    for (const socket of open) socket.resume();
    await until(async () => open.size === 0);
  });

  test('truncates a response whose body is incomplete', async () => {
    const { url, open } = await startWire(answering(`${PREFIX}\r\nabc`));
    expect(await send(url, { timeoutMs: 300 })).toMatchObject({
      outcome: 'answered',
      status: 200,
      body: Buffer.from('abc'),
      isCut: true,
    });
    await until(async () => open.size === 0);
  });

  test('leaves no socket, lookup or timer behind after 200 timeouts in every phase', async () => {
    const { url, open, port } = await startWire((socket) => void socket.resume());
    dns.say('silent.example.com', 'silence');
    const urls = [url, `https://127.0.0.1:${port}/`, `http://silent.example.com:${port}/`, `${url}/other`];
    const before = process.getActiveResourcesInfo();
    const replies = await Promise.all(
      Array.from({ length: 200 }, (_, at) => send(urls[at % 4] ?? '', { timeoutMs: 200 + at })),
    );
    const words = replies.map((reply) =>
      reply.outcome === 'timeout' ? reply.error.slice(0, 13) : 'no timeout',
    );
    expect(words).not.toContain('no timeout');
    const unconnected = words.filter((_some, at) => at % 4 === 1 || at % 4 === 2);
    expect(new Set(unconnected)).toEqual(new Set(['no connection']));
    await until(async () => open.size === 0);
    await until(async () => newResources(before).length === 0, 20_000);
  }, 60_000);
});

/** Returns the event loop's active resources that did not exist before. */
function newResources(before: string[]): string[] {
  const known = [...before];
  return process.getActiveResourcesInfo().filter((kind) => {
    const at = known.indexOf(kind);
    if (at >= 0) known.splice(at, 1);
    return at < 0;
  });
}

describe('connections', () => {
  test('are replaced without a failed request when the server closes them, with or without announcing it', async () => {
    for (const header of ['connection: close\r\n', '']) {
      const { url } = await startWire((socket) => {
        socket.once('data', () => socket.end(`HTTP/1.1 200 OK\r\n${header}content-length: 2\r\n\r\nok`));
      });
      for (let round = 0; round < 30; round += 1) {
        expect(await send(url)).toMatchObject({ outcome: 'answered', status: 200 });
        // Yield to the event loop, so that the end of the connection is noticed.
        await until(async () => true);
      }
    }
  });

  test('are closed when the server sends unsolicited data, so it never becomes the next response', async () => {
    const answer = (text: string) => `HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n${text}`;
    let count = 0;
    const { url } = await startWire((socket) => {
      socket.on('data', () => socket.write(answer(`own${(count += 1)}`) + answer('evil')));
    });
    for (let round = 1; round < 5; round += 1)
      expect(await send(url)).toMatchObject({ body: Buffer.from(`own${round}`) });
  });

  test('close gracefully: a pending request completes, later ones are rejected, and closing twice is harmless', async () => {
    const { url, open } = await startWire((socket) => {
      socket.once('data', () =>
        setTimeout(() => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'), 300),
      );
    });
    const pending = send(url);
    await until(async () => open.size === 1);
    const closed = Promise.all([client.close(), client.close()]);
    expect(await pending).toMatchObject({ outcome: 'answered', status: 200 });
    await closed;
    expect(await send(url)).toMatchObject({ outcome: 'unreachable' });
    await until(async () => open.size === 0);
  });
});

const REQUESTS = rounds(120, 1_000);

test(`send() never throws: ${REQUESTS} random requests`, async () => {
  const { port } = await startReceiver((_request, response) => response.end('ok'));
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string());
  const url = fc.oneof(
    text,
    fc
      .webUrl({ withQueryParameters: true, withFragments: true })
      .map((input) => input.replace(/^(\w+:\/\/)[^/?#]+/, `http://127.0.0.1:${port}`)),
    text.map((path) => `http://127.0.0.1:${port}/${path}`),
  );
  const request = fc.record({
    method: fc.constantFrom('GET' as const, 'POST' as const),
    url,
    headers: fc.dictionary(
      fc.oneof(
        text,
        fc.constantFrom(
          'connection',
          'upgrade',
          'transfer-encoding',
          'content-length',
          'expect',
          'host',
          'keep-alive',
          '__proto__',
        ),
      ),
      text,
      { maxKeys: 3 },
    ),
    body: text,
    timeoutMs: fc.constant(2000),
    maxBytes: fc.nat(100),
  });
  const outcomes = new Set<string>();
  await fc.assert(
    fc.asyncProperty(request, async (input) => {
      const { outcome } = await client.send(input);
      outcomes.add(outcome);
    }),
    { numRuns: REQUESTS },
  );
  expect([...outcomes].sort()).toEqual(expect.arrayContaining(['answered', 'unreachable', 'unsafe_target']));
}, 60_000);
