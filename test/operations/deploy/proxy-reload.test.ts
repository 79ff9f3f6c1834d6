import { once } from 'node:events';
import { Agent, createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, expect, test } from '@jest/globals';
import { projectRoot } from '../../../src/config/project-root.js';
import { findProgram, titleWith } from '../../support/harness/programs.js';
import { startProxy, type Proxy } from '../../support/rehearsal/proxy.js';
import { endProcesses, removeFolders } from '../../support/service/processes.js';

const LIMIT_MS = 90_000;
/** Longer than haproxy needs to close the idle connections of a process that ends, once it has the signal. */
const ENDING_MS = 2_000;
const haproxy = findProgram('haproxy');
const declare = haproxy ? test : test.skip;

let replica: Server;
let proxy: Proxy;

afterEach(async () => {
  await proxy.stop();
  replica.closeAllConnections();
  replica.close();
  await endProcesses();
});

afterAll(removeFolders);

declare(
  titleWith('a reload of haproxy closes no idle connection before its next response', [
    haproxy ? undefined : 'haproxy',
  ]),
  async () => {
    replica = createServer((_asked, response) => response.end('served')).listen(0, '127.0.0.1');
    await once(replica, 'listening');
    proxy = await startProxy([(replica.address() as AddressInfo).port]);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = async () => {
      const sent = get(`${proxy.url}/ready`, { agent });
      const [reply] = (await once(sent, 'response')) as [IncomingMessage];
      return { text: await text(reply), isReused: sent.reusedSocket, connection: reply.headers.connection };
    };
    expect(await ask()).toMatchObject({ text: 'served', isReused: false });
    const reloaded = proxy.reload(projectRoot);
    // The old process serves the first request after the new one has started, and ends the connection with it.
    let last: Awaited<ReturnType<typeof ask>>;
    do {
      await sleep(ENDING_MS);
      last = await ask();
      expect(last).toMatchObject({ text: 'served', isReused: true });
    } while (last.connection !== 'close');
    await reloaded;
    expect(await ask()).toMatchObject({ text: 'served', isReused: false });
    agent.destroy();
  },
  LIMIT_MS,
);
