import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { isPublicAddress } from '../../../src/platform/outbound/addresses.js';
import {
  makeOutboundClient,
  type OutboundClient,
  type OutboundReply,
} from '../../../src/platform/outbound/client.js';
import { makeOpenSocket } from '../../../src/platform/outbound/connect.js';
import { startCanary, type Canary } from '../../support/readers/canary.js';
import { startDns, type DnsServer } from '../../support/receivers/dns.js';
import { HOSTILE, LOOPBACK_AND_HTTP, NOT_PUBLIC } from '../../support/attacks/hostile-urls.js';

// Public by its number, and given to nobody: what connects to it hears nothing.
const PUBLIC = '2001:4860:ffff::1';
const PUBLIC_TOO = '8.8.8.8';

let dns: DnsServer;
let canary: Canary;
let receiver: Server;
let receiverPort: number;
let respond: (request: IncomingMessage, response: ServerResponse) => void;
/** As in production, and as in development. */
let strict: OutboundClient;
let lenient: OutboundClient;

/** Asks on a kept connection until it is too old, beside the other tests; it connects once, before they begin. */
let keptReplies: Promise<{ answered: number; last: OutboundReply; tookMs: number }>;

beforeAll(async () => {
  dns = await startDns();
  canary = await startCanary();
  receiver = createServer((request, response) => respond(request, response)).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  // as: it listens on a port, not on a path
  receiverPort = (receiver.address() as AddressInfo).port;
  strict = makeOutboundClient({ allowLoopback: false, dnsServers: [dns.address] });
  lenient = makeOutboundClient({ allowLoopback: true, dnsServers: [dns.address] });
  const keeper = createServer((request, response) =>
    request.resume().on('end', () => response.end('here')),
  ).listen(0, '127.0.0.1');
  await once(keeper, 'listening');
  // as: it listens on a port, not on a path
  const { port } = keeper.address() as AddressInfo;
  dns.say('kept.example.com', ['127.0.0.1'], ['10.0.0.1']);
  const first = await post(lenient, `http://kept.example.com:${port}/`);
  keptReplies = askKept(`http://kept.example.com:${port}/`, first).finally(() => keeper.close());
  keptReplies.catch(() => {});
});

async function askKept(url: string, first: OutboundReply) {
  const startedAt = performance.now();
  let last = first;
  let answered = 0;
  while (last.outcome === 'answered' && performance.now() - startedAt < 20_000) {
    answered += 1;
    await sleep(100);
    last = await post(lenient, url);
  }
  return { answered, last, tookMs: performance.now() - startedAt };
}

afterAll(async () => {
  await Promise.allSettled([keptReplies]);
  await Promise.all([strict.close(), lenient.close()]);
  receiver.close();
  await Promise.all([canary.stop(), dns.stop()]);
});

const post = (client: OutboundClient, url: string, timeoutMs = 5000) =>
  client.send({ method: 'POST', url, headers: {}, body: '{}', timeoutMs, maxBytes: 1000 });

/** Sends to each of them, and tells which ended otherwise than `outcome`. */
async function others(client: OutboundClient, urls: string[], outcome: OutboundReply['outcome']) {
  const wrong: { url: string; reply: OutboundReply }[] = [];
  for (const group of groupsOf(urls, 50)) {
    await Promise.all(
      group.map(async (url) => {
        const reply = await post(client, url);
        if (reply.outcome !== outcome) wrong.push({ url, reply });
      }),
    );
  }
  return wrong;
}

const groupsOf = (urls: string[], size: number) =>
  Array.from({ length: Math.ceil(urls.length / size) }, (_, at) => urls.slice(at * size, (at + 1) * size));

/** The URL, on the port where the canary listens, unless it names one itself. */
const atCanary = (url: string) =>
  url.replace(/^([a-z-]+:\/\/)([^/?#\\]+)/i, (whole, scheme: string, authority: string) =>
    /:\d*$/.test(authority) && !authority.endsWith(']') ? whole : `${scheme}${authority}:${canary.port}`,
  );

const bracketed = (address: string) => (address.includes(':') ? `[${address}]` : address);

/** What the kernel would answer for on this machine, other than by loopback. */
const ownAddresses = () =>
  Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .map(({ address }) => address)
    .filter((address) => !isPublicAddress(address));

/** A name for each of the addresses, alone and among public ones. */
function namesOf(addresses: string[]): string[] {
  return addresses.flatMap((address, at) => {
    const names = ['alone', 'last', 'first', 'alias', 'other-family'].map(
      (kind) => `${kind}${at}.example.com`,
    );
    const [alone = '', last = '', first = '', alias = '', otherFamily = ''] = names;
    const [peer, opposite] = address.includes(':') ? [PUBLIC, PUBLIC_TOO] : [PUBLIC_TOO, PUBLIC];
    dns.say(alone, [address]);
    dns.say(last, [peer, peer, peer, peer, peer, address]);
    dns.say(first, [address, peer]);
    dns.say(alias, { cname: 'metadata.google.internal', addresses: [address] });
    dns.say(otherFamily, [opposite, address]);
    return names;
  });
}

describe('nothing is connected to', () => {
  test('whatever the URL says, on its own port or on that of a listener', async () => {
    const written = [...Object.values(HOSTILE).flat(), ...LOOPBACK_AND_HTTP];
    const own = ownAddresses().map((address) => `https://${bracketed(address)}/`);
    const literals = NOT_PUBLIC.map((address) => `https://${bracketed(address)}/`);
    const urls = [...new Set([...written, ...own, ...literals].flatMap((url) => [url, atCanary(url)]))];
    expect(new Set(written).size).toBeGreaterThanOrEqual(250);
    expect(urls.filter((url) => url.includes(`:${canary.port}`)).length).toBeGreaterThan(200);
    const before = canary.begun();
    expect(await others(strict, urls, 'unsafe_target')).toEqual([]);
    expect(canary.begun() - before).toBe(0);
    expect(canary.visits()).toBe(0);
  });

  test('whatever the name resolves to, alone or beside public addresses', async () => {
    const names = namesOf([...NOT_PUBLIC, ...ownAddresses()]);
    const urls = names.map((name) => `https://${name}:${canary.port}/hook`);
    expect(urls.length).toBeGreaterThan(300);
    const before = canary.begun();
    expect(await others(strict, urls, 'unsafe_target')).toEqual([]);
    expect(names.filter((name) => dns.askedFor(name) !== 1)).toEqual([]);
    expect(canary.begun() - before).toBe(0);
    expect(canary.visits()).toBe(0);
  });

  test('even if the URL had passed: the connector judges addresses itself', async () => {
    const resolve = async () => [PUBLIC];
    const open = makeOpenSocket({ allowLoopback: false, resolve, tls: {} });
    const before = canary.begun();
    for (const hostname of [...NOT_PUBLIC, ...ownAddresses()])
      await expect(
        open({ hostname, port: canary.port, isTls: false }, AbortSignal.timeout(5000)),
      ).rejects.toMatchObject({ outcome: 'unsafe_target' });
    expect(canary.begun() - before).toBe(0);
  });

  test('in development too, where loopback alone is allowed', async () => {
    const isLoopback = (address: string) => /^127\.|^::1$|^::ffff:127\./.test(address);
    const addresses = [...NOT_PUBLIC, ...ownAddresses()].filter((address) => !isLoopback(address));
    const urls = [
      ...addresses.map((address) => `http://${bracketed(address)}:${canary.port}/`),
      ...namesOf(addresses).map((name) => `http://${name}:${canary.port}/`),
    ];
    const before = canary.begun();
    expect(await others(lenient, urls, 'unsafe_target')).toEqual([]);
    expect(canary.begun() - before).toBe(0);
  });

  test.each<[string, Parameters<DnsServer['say']>[1], string]>([
    ['a name that does not exist', 'NXDOMAIN', 'the name does not resolve'],
    ['a name without addresses', [], 'the name does not resolve'],
    ['an alias of nothing', { cname: 'gone.example.com', addresses: [] }, 'the name does not resolve'],
    ['an alias of itself', { cname: 'nothing.example.com', addresses: [] }, 'the name does not resolve'],
    ['a name whose servers fail', 'SERVFAIL', 'the name could not be looked up'],
  ])('%s: unreachable, in words', async (_why, said, error) => {
    dns.say('nothing.example.com', said);
    const before = canary.begun();
    const reply = await post(strict, `https://nothing.example.com:${canary.port}/`);
    expect(reply).toMatchObject({ outcome: 'unreachable', error });
    expect(canary.begun() - before).toBe(0);
  });

  test('the words tell no address, neither theirs nor of our name server', async () => {
    dns.say('inside.example.com', ['10.1.2.3']);
    const reply = await post(strict, 'https://inside.example.com/');
    expect(reply).toMatchObject({ error: 'the host has an address that is not public' });
  });
});

test('the listener would have seen it: with loopback allowed, each of these connects once', async () => {
  dns.say('four.example.com', ['127.0.0.1']);
  dns.say('six.example.com', ['::1']);
  dns.say('alias.example.com', { cname: 'localhost', addresses: ['127.0.0.1'] });
  const urls = [
    ...['https://127.0.0.1/', 'https://127.255.255.254/', 'http://localhost/', 'https://[::1]/'],
    ...['https://[::ffff:7f00:1]/', 'https://four.example.com/', 'http://six.example.com/'],
    'https://alias.example.com/',
  ].map(atCanary);
  for (const url of urls) {
    const before = { visits: canary.visits(), begun: canary.begun() };
    expect(await post(lenient, url)).toMatchObject({ outcome: 'unreachable' });
    expect({ url, visits: canary.visits() - before.visits, begun: canary.begun() - before.begun }).toEqual({
      url,
      visits: 1,
      begun: 1,
    });
  }
});

describe('a name that changes what it means', () => {
  const SEEN_BY_CHECK_AND_BY_CONNECT = [[PUBLIC], ['127.0.0.1']];

  test('between the check and the connection: it is asked once, so there is no between', async () => {
    dns.say('rebind.example.com', ...SEEN_BY_CHECK_AND_BY_CONNECT);
    const visits = canary.visits();
    const first = await post(strict, `https://rebind.example.com:${canary.port}/`, 500);
    expect(['timeout', 'unreachable']).toContain(first.outcome);
    expect(dns.askedFor('rebind.example.com')).toBe(1);
    const second = await post(strict, `https://rebind.example.com:${canary.port}/`, 500);
    expect(second.outcome).toBe('unsafe_target');
    expect(canary.visits() - visits).toBe(0);
  });

  test('200 at once, each after its own lookup: those that see a private address do not connect', async () => {
    respond = (_request, response) => void response.setHeader('connection', 'close').end('here');
    const turns = Array.from({ length: 200 }, (_, at) => [at % 2 === 0 ? '127.0.0.1' : '10.0.0.1']);
    dns.say('turns.example.com', ...turns);
    const before = canary.begun();
    const url = `http://turns.example.com:${receiverPort}/`;
    const replies = await Promise.all(turns.map(() => post(lenient, url, 20_000)));
    const count = (outcome: string) => replies.filter((reply) => reply.outcome === outcome).length;
    expect({ answered: count('answered'), unsafe: count('unsafe_target') }).toEqual({
      answered: 100,
      unsafe: 100,
    });
    expect(canary.begun() - before).toBe(100);
  });

  test('while a connection is kept: the connection goes where it went, and the name is asked again', async () => {
    const { answered, last, tookMs } = await keptReplies;
    expect(last.outcome).toBe('unsafe_target');
    expect(dns.askedFor('kept.example.com')).toBe(2);
    expect(answered).toBeGreaterThan(10);
    // the age of a kept connection, and some room for a busy machine
    expect(tookMs).toBeLessThan(15_000);
  });
});

describe('a redirect is an answer like any other', () => {
  const TO = [
    ...['http://127.0.0.1', 'https://127.0.0.1', 'http://localhost', 'http://[::1]', '//127.0.0.1'],
    ...['http://10.0.0.1', 'http://169.254.169.254', 'https://metadata.google.internal'],
  ];

  test.each([300, 301, 302, 303, 307, 308])('%i', async (status) => {
    const before = { visits: canary.visits(), begun: canary.begun() };
    for (const to of TO) {
      const location = `${to}:${canary.port}/latest/meta-data/`;
      respond = (_request, response) => void response.writeHead(status, { location }).end('moved');
      for (const method of ['GET', 'POST'] as const) {
        const url = `http://127.0.0.1:${receiverPort}/`;
        const reply = await lenient.send({ method, url, headers: {}, timeoutMs: 5000, maxBytes: 100 });
        expect(reply).toMatchObject({ outcome: 'answered', status, isCut: false });
      }
    }
    expect(canary.visits() - before.visits).toBe(0);
    // to the receiver, and kept
    expect(canary.begun() - before.begun).toBeLessThanOrEqual(2);
  });

  test.each<Record<string, string>>([
    { refresh: '0; url=http://127.0.0.1' },
    { link: '<http://127.0.0.1>; rel=preload' },
    { 'alt-svc': 'http/1.1="127.0.0.1"; ma=86400' },
    { 'content-location': 'http://127.0.0.1/' },
    { location: 'http://127.0.0.1/' },
    { 'content-type': 'text/html' },
  ])('and so is a page that points elsewhere: %j', async (headers) => {
    const named = Object.entries(headers).map(([name, value]) => [
      name,
      value.replace('127.0.0.1', `127.0.0.1:${canary.port}`),
    ]);
    const page = `<meta http-equiv="refresh" content="0;url=http://127.0.0.1:${canary.port}/"><img src="http://127.0.0.1:${canary.port}/">`;
    respond = (_request, response) => void response.writeHead(200, Object.fromEntries(named)).end(page);
    const visits = canary.visits();
    for (let round = 0; round < 2; round += 1)
      expect(await post(lenient, `http://127.0.0.1:${receiverPort}/`)).toMatchObject({
        status: 200,
        body: Buffer.from(page),
      });
    expect(canary.visits() - visits).toBe(0);
  });
});
