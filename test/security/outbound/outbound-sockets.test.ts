import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { afterEach, expect, test } from '@jest/globals';
import { makeAddressRateLimiter } from '../../../src/platform/limits/address-rate-limit.js';
import { makeConnections } from '../../../src/platform/outbound/connections.js';
import { exchange } from '../../../src/platform/outbound/exchange.js';
import { answering, closeReceivers, startWire } from '../../support/receivers/receivers.js';

afterEach(closeReceivers);

test.each(['error', 'end', 'readable'])('%s of a socket after its close ends nothing', async (event) => {
  const sockets: Socket[] = [];
  const connections = makeConnections(async ({ port }) => {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    sockets.push(socket);
    return socket;
  }, makeAddressRateLimiter());
  const { url } = await startWire(answering('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'));
  const send = () =>
    exchange(connections, { method: 'GET', url, headers: {}, timeoutMs: 5_000, maxBytes: 100 });
  expect(await send()).toMatchObject({ status: 200 });
  const [socket] = sockets;
  socket?.destroy();
  await once(socket as Socket, 'close');
  // As TLS does it. A listener that throws would end the process.
  socket?.emit(event, Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }));
  expect(await send()).toMatchObject({ status: 200 });
  await connections.destroy();
});
