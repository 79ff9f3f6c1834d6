import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import {
  limitConnections,
  openConnections,
  type Connections,
} from '../../../src/platform/limits/connection-limit.js';
import { makeOwnLimits } from '../../../src/platform/limits/shared/shared-limits.js';
import { until } from '../../support/service/processes.js';

const LIMIT = 40;
const sockets: Socket[] = [];
const servers: Server[] = [];

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) server.close();
});

/** Starts a server that greets each connection, as soon as its data would be read. Returns its port. */
async function serve(connections: Connections): Promise<{ port: number; server: Server; refused: string[] }> {
  const server = createServer().listen(0, '127.0.0.1');
  servers.push(server);
  const refused: string[] = [];
  limitConnections(server, {
    connections,
    isExempt: () => false,
    onConnectionRefused: (network) => refused.push(network),
  });
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('A TCP server has no port.');
  return { port: address.port, server, refused };
}

function open(port: number, count: number): Socket[] {
  const opened = Array.from({ length: count }, () =>
    connect(port, '127.0.0.1')
      .on('error', () => undefined)
      .resume(),
  );
  sockets.push(...opened);
  return opened;
}

const ownConnections = () => openConnections(makeOwnLimits(), LIMIT);

test(`of 60 connections at once, a process keeps ${LIMIT}, and closes the others`, async () => {
  const { port, refused } = await serve(ownConnections());
  const opened = open(port, 60);
  await until(async () => opened.filter(({ destroyed }) => destroyed).length >= 60 - LIMIT);
  await sleep(100);
  expect(opened.filter(({ destroyed }) => !destroyed)).toHaveLength(LIMIT);
  expect(refused).toEqual(['127.0.0.1']);
  // A place that becomes free is given to the next connection.
  opened.find(({ destroyed }) => !destroyed)?.destroy();
  await until(async () => {
    const [next] = open(port, 1);
    await sleep(50);
    return next?.destroyed === false;
  });
});

test('a process keeps no more than the limit while the primary process has not answered', async () => {
  const own = ownConnections();
  let answer: () => void = () => undefined;
  const answered = new Promise<void>((resolve) => (answer = resolve));
  const late: Connections = {
    perClient: LIMIT,
    async take(address) {
      await answered;
      return own.take(address);
    },
  };
  const { port } = await serve(late);
  const opened = open(port, 60);
  await until(async () => opened.filter(({ destroyed }) => destroyed).length >= 60 - LIMIT);
  expect(opened.filter(({ destroyed }) => !destroyed)).toHaveLength(LIMIT);
  answer();
  await sleep(100);
  expect(opened.filter(({ destroyed }) => !destroyed)).toHaveLength(LIMIT);
});

test('the networks of an IPv6 /56 have four times of what a client may have, and those of a /48 sixteen times', async () => {
  const connections = ownConnections();
  /** Takes as many as possible, from clients that have none yet. Returns the functions that give them back. */
  async function takeAll(clients: string[]): Promise<(() => void)[]> {
    const taken: (() => void)[] = [];
    for (const client of clients)
      for (let n = 0; n < LIMIT; n += 1) {
        const giveBack = await connections.take(client);
        if (giveBack) taken.push(giveBack);
      }
    return taken;
  }
  const ofLine = (line: number) =>
    Array.from({ length: 6 }, (_, n) => `2001:db8:1:${(line * 256 + n).toString(16)}::1`);
  const first = await takeAll(ofLine(0));
  expect(first).toHaveLength(4 * LIMIT);
  const others = (await Promise.all([1, 2, 3, 4].map((line) => takeAll(ofLine(line))))).flat();
  expect(others).toHaveLength(12 * LIMIT);
  expect(await takeAll(['2001:db8:2:1::1', '192.0.2.1', '192.0.2.2'])).toHaveLength(3 * LIMIT);
  // What was refused has taken nothing.
  for (const giveBack of first) giveBack();
  expect(await takeAll(ofLine(5))).toHaveLength(4 * LIMIT);
});
