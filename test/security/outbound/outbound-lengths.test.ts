import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { makeOutboundClient, type OutboundClient } from '../../../src/platform/outbound/client.js';
import { answering, closeReceivers, startWire } from '../../support/receivers/receivers.js';
import { until } from '../../support/service/processes.js';

// What a response has besides its body costs, too: a server may not send it without end.

const clients: OutboundClient[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
  await closeReceivers();
});

function send(url: string, maxBytes: number) {
  const client = makeOutboundClient({ allowLoopback: true, dnsServers: [] });
  clients.push(client);
  return client.send({ method: 'GET', url, headers: {}, timeoutMs: 20_000, maxBytes });
}

const HEAD = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';

/** Repeats a text until the socket is closed. */
function repeat(socket: Socket, text: string): void {
  const block = text.repeat(1 + Math.floor(16_384 / text.length));
  const talk = () => {
    while (!socket.destroyed && socket.write(block));
    if (!socket.destroyed) socket.once('drain', talk);
  };
  talk();
}

describe('a response is cut, and its connection closed, if it has without end', () => {
  test.each([
    ['extensions of chunks', `${HEAD}1`, ';name=value'],
    ['chunks of one byte with extensions', HEAD, `1;${'x'.repeat(2_000)}\r\na\r\n`],
    ['zeros before the size of a chunk', `${HEAD}1\r\na\r\n`, '0'],
    ['trailers', `${HEAD}0\r\n`, 'name: value\r\n'],
  ])('%s', async (_what, start, more) => {
    let isClosed = false;
    const { url } = await startWire((socket) => {
      socket.on('close', () => (isClosed = true));
      socket.once('data', () => {
        socket.write(start);
        repeat(socket, more);
      });
    });
    const reply = await send(url, 65_536);
    expect(reply).toMatchObject({ outcome: 'answered', status: 200, isCut: true });
    expect(reply.durationMs).toBeLessThan(10_000);
    await until(async () => isClosed);
  });
});

test('a response in chunks of one byte is read whole, also the second of its connection', async () => {
  const chunks = Array.from({ length: 100_000 }, () => '1\r\na\r\n').join('');
  let connections = 0;
  const { url } = await startWire((socket) => {
    connections += 1;
    socket.on('data', () => socket.write(`${HEAD}${chunks}0\r\n\r\n`));
  });
  const client = makeOutboundClient({ allowLoopback: true, dnsServers: [] });
  clients.push(client);
  for (let round = 0; round < 2; round += 1) {
    const reply = await client.send({
      method: 'GET',
      url,
      headers: {},
      timeoutMs: 20_000,
      maxBytes: 100_000,
    });
    expect(reply).toMatchObject({ isCut: false, body: Buffer.alloc(100_000, 'a') });
    // The client is free for another request after this turn.
    await setImmediate();
  }
  expect(connections).toBe(1);
});

describe('headers without end', () => {
  const pairs = (count: number) => Array.from({ length: count }, (_, n) => `h${n.toString(36)}:`);
  const respond = async (lines: string[]) => {
    const { url } = await startWire(answering(`HTTP/1.1 200 OK\r\n${lines.join('\r\n')}\r\n\r\n`));
    const reply = await send(url, 100);
    if (reply.outcome !== 'answered') throw new Error(reply.outcome);
    return reply;
  };

  test('are the first 64, and those that are read, because each costs', async () => {
    const read = ['Retry-After: 7', 'Location: /x', 'Content-Type: a/b', 'Content-Length: 0', 'Link: <y>'];
    const reply = await respond([...pairs(4_000), ...read]);
    expect(Object.keys(reply.headers)).toHaveLength(68);
    expect(reply).toMatchObject({
      areHeadersCut: true,
      headers: { h0: '', 'retry-after': '7', location: '/x', 'content-type': 'a/b', link: '<y>' },
    });
  });

  test('of one name are counted too', async () => {
    const { headers, areHeadersCut } = await respond([
      'Content-Length: 0',
      ...Array.from({ length: 3_000 }, () => 'a:'),
      'Retry-After: 7',
    ]);
    expect(headers['a']).toHaveLength(63);
    expect([headers['retry-after'], areHeadersCut]).toEqual(['7', true]);
  });

  test('of 64 are all', async () => {
    const { headers, areHeadersCut } = await respond([...pairs(63), 'Content-Length: 0']);
    expect([Object.keys(headers).length, areHeadersCut]).toEqual([64, false]);
  });
});
