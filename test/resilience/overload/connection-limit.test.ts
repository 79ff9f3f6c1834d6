import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import { limitConnections } from '../../../src/platform/limits/connection-limit.js';
import { makeOwnLimits, type Allotment } from '../../../src/platform/limits/shared/shared-limits.js';
import { until } from '../../support/service/processes.js';

const LIMIT = 40;
const sockets: Socket[] = [];
const servers: Server[] = [];

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) server.close();
});

/** Starts a server that greets each connection, as soon as its data would be read. Returns its port. */
async function serve(connections: Allotment): Promise<{ port: number; server: Server; refused: string[] }> {
  const server = createServer().listen(0, '127.0.0.1');
  servers.push(server);
  const refused: string[] = [];
  limitConnections(server, {
    connections,
    perClient: LIMIT,
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

const ownConnections = () => makeOwnLimits().allotment('connections', { perHolder: LIMIT });

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
  const late: Allotment = {
    async take(holder, amount) {
      await answered;
      return own.take(holder, amount);
    },
    give: own.give,
  };
  const { port } = await serve(late);
  const opened = open(port, 60);
  await until(async () => opened.filter(({ destroyed }) => destroyed).length >= 60 - LIMIT);
  expect(opened.filter(({ destroyed }) => !destroyed)).toHaveLength(LIMIT);
  answer();
  await sleep(100);
  expect(opened.filter(({ destroyed }) => !destroyed)).toHaveLength(LIMIT);
});
