import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, expect, test } from '@jest/globals';
import { findProgram, titleWith } from '../../support/harness/programs.js';
import { startProxy } from '../../support/rehearsal/proxy.js';
import { ask } from '../../support/service/client.js';
import { endProcesses, freePort, removeFolders } from '../../support/service/processes.js';

const LIMIT_MS = 60_000;
/** Longer than the interval of the health checks. */
const SLOW_MS = 1_500;

const missing = findProgram('haproxy') ? undefined : 'haproxy';
let server: Server | undefined;

afterEach(endProcesses);

afterAll(async () => {
  server?.closeAllConnections();
  server?.close();
  await removeFolders();
});

(missing ? test.skip : test)(
  titleWith('haproxy keeps a replica whose readiness check is slow under load', [missing]),
  async () => {
    const port = await freePort();
    let checks = 0;
    server = createServer((request, response) => {
      const isCheck = request.url === '/ready';
      if (isCheck) checks += 1;
      setTimeout(() => response.end('ok'), isCheck ? SLOW_MS : 0);
    }).listen(port, '127.0.0.1');
    await once(server, 'listening');
    const proxy = await startProxy([port]);
    const first = checks;
    // Two failed checks would remove it.
    while (checks < first + 3) {
      expect(await ask(proxy.url, { path: '/health' })).toMatchObject({ status: 200 });
      await sleep(100);
    }
    await proxy.stop();
  },
  LIMIT_MS,
);
