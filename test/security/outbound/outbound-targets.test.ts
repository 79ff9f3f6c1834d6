import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
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

// An unused public address, so connecting to it gets no response.
const PUBLIC = '2001:4860:ffff::1';
const PUBLIC_TOO = '8.8.8.8';

let dns: DnsServer;
let canary: Canary;
let receiver: Server;
let receiverPort: number;
let respond: (request: IncomingMessage, response: ServerResponse) => void;
/** One client configured as in production, one as in development. */
let strict: OutboundClient;
let lenient: OutboundClient;

beforeAll(async () => {
  dns = await startDns();
  canary = await startCanary();
  receiver = createServer((request, response) => respond(request, response)).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  // The server listens on a port, not on a path.
  receiverPort = (receiver.address() as AddressInfo).port;
  strict = makeOutboundClient({ allowLoopback: false, dnsServers: [dns.address] });
  lenient = makeOutboundClient({ allowLoopback: true, dnsServers: [dns.address] });
});

afterAll(async () => {
  await Promise.all([strict.close(), lenient.close()]);
  receiver.close();
  await Promise.all([canary.stop(), dns.stop()]);
});

const post = (client: OutboundClient, url: string, timeoutMs = 5000) =>
  client.send({ method: 'POST', url, headers: {}, body: '{}', timeoutMs, maxBytes: 1000 });

/** Sends to each URL and returns the replies without the given outcome. */
async function repliesWithout(client: OutboundClient, urls: string[], outcome: OutboundReply['outcome']) {
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

/** Replaces the URL's port by the canary's, unless the URL has a port. */
const atCanary = (url: string) =>
  url.replace(/^([a-z-]+:\/\/)([^/?#\\]+)/i, (whole, scheme: string, authority: string) =>
    /:\d*$/.test(authority) && !authority.endsWith(']') ? whole : `${scheme}${authority}:${canary.port}`,
  );

const bracketed = (address: string) => (address.includes(':') ? `[${address}]` : address);

/** Returns the addresses of this machine that are not loopback. */
const ownAddresses = () =>
  Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .map(({ address }) => address)
    .filter((address) => !isPublicAddress(address));

/** Defines names for each address: alone, beside public addresses, and as an alias. */
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

describe('the client connects to no private address', () => {
  test("in a URL in any spelling, on the URL's own port or a listener's", async () => {
    const written = [...Object.values(HOSTILE).flat(), ...LOOPBACK_AND_HTTP];
    const own = ownAddresses().map((address) => `https://${bracketed(address)}/`);
    const literals = NOT_PUBLIC.map((address) => `https://${bracketed(address)}/`);
    const urls = [...new Set([...written, ...own, ...literals].flatMap((url) => [url, atCanary(url)]))];
    expect(new Set(written).size).toBeGreaterThanOrEqual(250);
    expect(urls.filter((url) => url.includes(`:${canary.port}`)).length).toBeGreaterThan(200);
    const before = canary.started();
    expect(await repliesWithout(strict, urls, 'unsafe_target')).toEqual([]);
    expect(canary.started() - before).toBe(0);
    expect(canary.visits()).toBe(0);
  });

  test('behind a host name, alone or beside public addresses', async () => {
    const names = namesOf([...NOT_PUBLIC, ...ownAddresses()]);
    const urls = names.map((name) => `https://${name}:${canary.port}/hook`);
    expect(urls.length).toBeGreaterThan(300);
    const before = canary.started();
    expect(await repliesWithout(strict, urls, 'unsafe_target')).toEqual([]);
    expect(names.filter((name) => dns.askedFor(name) !== 1)).toEqual([]);
    expect(canary.started() - before).toBe(0);
    expect(canary.visits()).toBe(0);
  });

  test('if the URL check is bypassed, because the connector verifies addresses too', async () => {
    const resolve = async () => [PUBLIC];
    const open = makeOpenSocket({ allowLoopback: false, resolve, tls: {} });
    const before = canary.started();
    for (const hostname of [...NOT_PUBLIC, ...ownAddresses()])
      await expect(
        open({ hostname, port: canary.port, isTls: false }, AbortSignal.timeout(5000)),
      ).rejects.toMatchObject({ outcome: 'unsafe_target' });
    expect(canary.started() - before).toBe(0);
  });

  test('in development, except loopback', async () => {
    const isLoopback = (address: string) => /^127\.|^::1$|^::ffff:127\./.test(address);
    const addresses = [...NOT_PUBLIC, ...ownAddresses()].filter((address) => !isLoopback(address));
    const urls = [
      ...addresses.map((address) => `http://${bracketed(address)}:${canary.port}/`),
      ...namesOf(addresses).map((name) => `http://${name}:${canary.port}/`),
    ];
    const before = canary.started();
    expect(await repliesWithout(lenient, urls, 'unsafe_target')).toEqual([]);
    expect(canary.started() - before).toBe(0);
  });

  test.each<[string, Parameters<DnsServer['say']>[1], string]>([
    ['a name that does not exist', 'NXDOMAIN', 'the name does not resolve'],
    ['a name without addresses', [], 'the name does not resolve'],
    ['an alias of nothing', { cname: 'gone.example.com', addresses: [] }, 'the name does not resolve'],
    ['an alias of itself', { cname: 'nothing.example.com', addresses: [] }, 'the name does not resolve'],
    ['a name whose servers fail', 'SERVFAIL', 'the name could not be looked up'],
  ])('%s is reported as unreachable with a reason', async (_case, records, error) => {
    dns.say('nothing.example.com', records);
    const before = canary.started();
    const reply = await post(strict, `https://nothing.example.com:${canary.port}/`);
    expect(reply).toMatchObject({ outcome: 'unreachable', error });
    expect(canary.started() - before).toBe(0);
  });

  test('and error messages contain no address of the target or the name server', async () => {
    dns.say('inside.example.com', ['10.1.2.3']);
    const reply = await post(strict, 'https://inside.example.com/');
    expect(reply).toMatchObject({ error: 'the host has an address that is not public' });
  });
});

test('with loopback allowed, each of these URLs connects exactly once, so the listener would detect it', async () => {
  dns.say('four.example.com', ['127.0.0.1']);
  dns.say('six.example.com', ['::1']);
  dns.say('alias.example.com', { cname: 'localhost', addresses: ['127.0.0.1'] });
  const urls = [
    ...['https://127.0.0.1/', 'https://127.255.255.254/', 'http://localhost/', 'https://[::1]/'],
    ...['https://[::ffff:7f00:1]/', 'https://four.example.com/', 'http://six.example.com/'],
    'https://alias.example.com/',
  ].map(atCanary);
  for (const url of urls) {
    const before = { visits: canary.visits(), started: canary.started() };
    expect(await post(lenient, url)).toMatchObject({ outcome: 'unreachable' });
    expect({
      url,
      visits: canary.visits() - before.visits,
      started: canary.started() - before.started,
    }).toEqual({
      url,
      visits: 1,
      started: 1,
    });
  }
});

describe('DNS rebinding', () => {
  const CHECK_THEN_CONNECT = [[PUBLIC], ['127.0.0.1']];

  test('between check and connect has no effect, because the name is resolved once', async () => {
    dns.say('rebind.example.com', ...CHECK_THEN_CONNECT);
    const visits = canary.visits();
    const first = await post(strict, `https://rebind.example.com:${canary.port}/`, 500);
    expect(['timeout', 'unreachable']).toContain(first.outcome);
    expect(dns.askedFor('rebind.example.com')).toBe(1);
    const second = await post(strict, `https://rebind.example.com:${canary.port}/`, 500);
    expect(second.outcome).toBe('unsafe_target');
    expect(canary.visits() - visits).toBe(0);
  });

  test('of 200 parallel requests with a lookup each, those that resolve to a private address do not connect', async () => {
    respond = (_request, response) => void response.setHeader('connection', 'close').end('here');
    const addresses = Array.from({ length: 200 }, (_, at) => [at % 2 === 0 ? '127.0.0.1' : '10.0.0.1']);
    dns.say('turns.example.com', ...addresses);
    const before = canary.started();
    const url = `http://turns.example.com:${receiverPort}/`;
    const replies = await Promise.all(addresses.map(() => post(lenient, url, 20_000)));
    const count = (outcome: string) => replies.filter((reply) => reply.outcome === outcome).length;
    // On a busy machine the resolver asks again for an answer that comes late, and gives up after two. So the turns are not exactly
    // every second one, and some names are not resolved at all.
    const isLate = (reply: (typeof replies)[number]) =>
      reply.outcome === 'unreachable' && reply.error === 'the name could not be looked up';
    const answered = count('answered');
    expect(Math.min(answered, count('unsafe_target'))).toBeGreaterThan(20);
    expect(answered + count('unsafe_target') + replies.filter(isLate).length).toBe(200);
    expect(canary.started() - before).toBe(answered);
  });
});

describe('redirects are not followed', () => {
  const TARGETS = [
    ...['http://127.0.0.1', 'https://127.0.0.1', 'http://localhost', 'http://[::1]', '//127.0.0.1'],
    ...['http://10.0.0.1', 'http://169.254.169.254', 'https://metadata.google.internal'],
  ];

  test.each([300, 301, 302, 303, 307, 308])('status %i is returned unchanged', async (status) => {
    const before = { visits: canary.visits(), started: canary.started() };
    for (const to of TARGETS) {
      const location = `${to}:${canary.port}/latest/meta-data/`;
      respond = (_request, response) => void response.writeHead(status, { location }).end('moved');
      for (const method of ['GET', 'POST'] as const) {
        const url = `http://127.0.0.1:${receiverPort}/`;
        const reply = await lenient.send({ method, url, headers: {}, timeoutMs: 5000, maxBytes: 100 });
        expect(reply).toMatchObject({ outcome: 'answered', status, isCut: false });
      }
    }
    expect(canary.visits() - before.visits).toBe(0);
    // At most two connections to the receiver, which are kept.
    expect(canary.started() - before.started).toBeLessThanOrEqual(2);
  });

  test.each<Record<string, string>>([
    { refresh: '0; url=http://127.0.0.1' },
    { link: '<http://127.0.0.1>; rel=preload' },
    { 'alt-svc': 'http/1.1="127.0.0.1"; ma=86400' },
    { 'content-location': 'http://127.0.0.1/' },
    { location: 'http://127.0.0.1/' },
    { 'content-type': 'text/html' },
  ])('a response that points elsewhere is returned unchanged: %j', async (headers) => {
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
