import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  makeOutboundClient,
  type OutboundClient,
  type OutboundRequest,
} from '../../../src/platform/outbound/client.js';
import { makeOpenSocket } from '../../../src/platform/outbound/connect.js';
import { projectRoot } from '../../../src/config/project-root.js';
import { startDns, type DnsServer } from '../../support/receivers/dns.js';
import { makeFolder, removeFolders, until } from '../../support/service/processes.js';
import {
  closeReceivers,
  pem,
  startReceiver,
  startTlsReceiver,
  startWire,
} from '../../support/receivers/receivers.js';

// the host name in test/support/receivers/courier.pem
const CERTIFIED = 'hooks.courier.example';

let dns: DnsServer;
const clients: OutboundClient[] = [];
const children: ChildProcess[] = [];

beforeEach(async () => {
  dns = await startDns();
});

afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const client of clients.splice(0)) await client.close();
  await closeReceivers();
  await dns.stop();
});

afterAll(removeFolders);

function makeClient(ca?: string): OutboundClient {
  const config = { allowLoopback: true, dnsServers: [dns.address] };
  const client = makeOutboundClient(config, ca ? { ca } : {});
  clients.push(client);
  return client;
}

const send = (url: string, request: Partial<OutboundRequest> = {}, client = makeClient()) =>
  client.send({ method: 'GET', url, headers: {}, timeoutMs: 5000, maxBytes: 1000, ...request });

const respondOk = (_request: IncomingMessage, response: ServerResponse) => void response.end('ok');

describe('a host name', () => {
  test('is resolved once, connected to by address, and sent as Host', async () => {
    const hosts: unknown[] = [];
    const { port } = await startReceiver((request, response) => {
      hosts.push(request.headers.host, request.socket.localAddress);
      response.end('ok');
    });
    dns.say('hooks.example.com', ['127.0.0.1']);
    expect(await send(`http://hooks.example.com:${port}/x`)).toMatchObject({
      outcome: 'answered',
      status: 200,
    });
    expect(hosts).toEqual([`hooks.example.com:${port}`, '127.0.0.1']);
    expect(dns.askedFor('hooks.example.com')).toBe(1);
  });

  test('with several addresses is tried at up to four of them, IPv4 first', async () => {
    const reached: (string | undefined)[] = [];
    const { port } = await startReceiver((request, response) => {
      reached.push(request.socket.localAddress);
      response.end('ok');
    });
    dns.say('second.example.com', ['127.0.0.2', '127.0.0.1']);
    dns.say('both.example.com', ['::1', '127.0.0.1']);
    dns.say('fourth.example.com', ['127.0.0.4', '127.0.0.3', '127.0.0.2', '127.0.0.1']);
    dns.say('fifth.example.com', ['127.0.0.5', '127.0.0.4', '127.0.0.3', '127.0.0.2', '127.0.0.1']);
    for (const name of ['second', 'both', 'fourth'])
      expect(await send(`http://${name}.example.com:${port}/`)).toMatchObject({ outcome: 'answered' });
    expect(await send(`http://fifth.example.com:${port}/`)).toMatchObject({
      outcome: 'unreachable',
      error: 'the connection was refused',
    });
    expect(reached).toEqual(['127.0.0.1', '127.0.0.1', '127.0.0.1']);
  });

  test('with an IPv6 address is reached there, and localhost by either family', async () => {
    const { port } = await startReceiver(respondOk, '::1');
    dns.say('six.example.com', ['::1']);
    for (const host of ['six.example.com', '[::1]', 'localhost'])
      expect(await send(`http://${host}:${port}/`)).toMatchObject({ outcome: 'answered', status: 200 });
    expect(dns.askedFor('localhost')).toBe(0);
  });
});

describe('TLS', () => {
  test('is verified for the host name, at the address that was checked', async () => {
    const seen: unknown[] = [];
    const port = await startTlsReceiver('courier', (request, response) => {
      const { socket } = request;
      if ('servername' in socket) seen.push(socket.servername, request.headers.host, socket.localAddress);
      response.end('ok');
    });
    dns.say(CERTIFIED, ['127.0.0.1']);
    dns.say(`${CERTIFIED}.`, ['127.0.0.1']);
    for (const host of [CERTIFIED, `${CERTIFIED}.`])
      expect(await send(`https://${host}:${port}/`, {}, makeClient(pem('courier')))).toMatchObject({
        outcome: 'answered',
        status: 200,
        body: Buffer.from('ok'),
      });
    expect(seen).toEqual([
      ...[CERTIFIED, `${CERTIFIED}:${port}`, '127.0.0.1'],
      ...[CERTIFIED, `${CERTIFIED}.:${port}`, '127.0.0.1'],
    ]);
  });

  test('skips a 100 Continue that was not asked for', async () => {
    const port = await startTlsReceiver('localhost', (request, response) => {
      response.writeContinue();
      respondOk(request, response);
    });
    const tlsClient = makeClient(pem('localhost'));
    for (let round = 0; round < 2; round += 1)
      expect(
        await send(`https://127.0.0.1:${port}/`, { method: 'POST', body: '{}' }, tlsClient),
      ).toMatchObject({
        outcome: 'answered',
        status: 200,
      });
  });

  test('verifies an IP address as an address', async () => {
    const port = await startTlsReceiver('localhost', respondOk);
    const reply = await send(`https://127.0.0.1:${port}/`, {}, makeClient(pem('localhost')));
    expect(reply).toMatchObject({ outcome: 'answered', status: 200 });
    expect(await send(`https://127.0.0.2:${port}/`, {}, makeClient(pem('localhost')))).toMatchObject({
      outcome: 'unreachable',
    });
  });

  test.each([
    ['courier', undefined, CERTIFIED, 'the certificate is self-signed'],
    ['localhost', 'localhost', CERTIFIED, 'the certificate is for another host'],
    ['courier', 'courier', '127.0.0.1', 'the certificate is for another host'],
    ['courier-expired', 'courier-expired', CERTIFIED, 'the certificate has expired'],
  ])('rejects %s, trusting %s, for %s: %s; sends no request', async (certificate, trusted, host, error) => {
    let requests = 0;
    const port = await startTlsReceiver(certificate, (request, response) => {
      requests += 1;
      respondOk(request, response);
    });
    dns.say(CERTIFIED, ['127.0.0.1']);
    const client = makeClient(trusted && pem(trusted));
    for (let round = 0; round < 2; round += 1)
      expect(await send(`https://${host}:${port}/`, {}, client)).toMatchObject({
        outcome: 'unreachable',
        error,
      });
    expect(requests).toBe(0);
  });

  test('reports a server that does not speak TLS and closes the connection', async () => {
    const { port } = await startReceiver(respondOk);
    expect(await send(`https://127.0.0.1:${port}/`)).toMatchObject({
      outcome: 'unreachable',
      error: 'the TLS handshake failed',
    });
    const { open, ...ssh } = await startWire((socket) => void socket.resume().end('SSH-2.0-x\r\n'));
    expect(await send(`https://127.0.0.1:${ssh.port}/`)).toMatchObject({
      outcome: 'unreachable',
      error: 'the TLS handshake failed',
    });
    await until(async () => open.size === 0);
  });
});

test('a name without an address is not reached on this machine', async () => {
  let connections = 0;
  const { port } = await startWire((socket) => {
    connections += 1;
    socket.destroy();
  });
  const open = makeOpenSocket({ allowLoopback: true, resolve: () => Promise.resolve([]), tls: {} });
  const target = { hostname: 'hooks.example.com', port, isTls: false };
  await expect(open(target, AbortSignal.timeout(5_000))).rejects.toMatchObject({
    outcome: 'unreachable',
    message: 'the host has no address',
  });
  expect(connections).toBe(0);
});

test('environment variables can neither set a proxy nor turn off certificate verification', async () => {
  const port = await startTlsReceiver('courier', respondOk);
  let proxied = 0;
  const proxy = await startWire((socket) => {
    proxied += 1;
    socket.destroy();
  });
  const file = join(await makeFolder(), 'send.mjs');
  const built = join(projectRoot, 'dist', 'src', 'platform', 'outbound', 'client.js');
  await writeFile(
    file,
    `import { makeOutboundClient } from ${JSON.stringify(built)};
     const client = makeOutboundClient({ allowLoopback: true, dnsServers: [] });
     const request = { method: 'GET', headers: {}, timeoutMs: 5000, maxBytes: 100 };
     process.send(await client.send({ ...request, url: 'https://localhost:${port}/' }));
     await client.close();`,
  );
  const url = `http://127.0.0.1:${proxy.port}`;
  const proxies = { HTTP_PROXY: url, HTTPS_PROXY: url, http_proxy: url, https_proxy: url, ALL_PROXY: url };
  const child = fork(file, {
    execArgv: [],
    env: { ...proxies, NODE_USE_ENV_PROXY: '1', NODE_TLS_REJECT_UNAUTHORIZED: '0' },
    silent: true,
  });
  children.push(child);
  const [reply] = await once(child, 'message');
  expect(reply).toMatchObject({ outcome: 'unreachable', error: 'the certificate is self-signed' });
  expect(proxied).toBe(0);
  await once(child, 'exit');
});
