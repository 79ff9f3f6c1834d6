import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { startService, type Service } from '../../support/service/service.js';
import { openSocket, receive, sendRaw, talk } from '../../support/service/wire.js';

const STAGING = {
  APP_ENV: 'staging',
  TOKEN_KEYS: `k1:${'test-key-0123456789'.repeat(3)}`,
  ENCRYPTION_KEYS: `1:${'0123456789abcdef'.repeat(4)}`,
  LOOKUP_KEY: 'fedcba9876543210'.repeat(4),
};
const PER_MINUTE = 3;

/**
 * A service behind a proxy on this machine and another proxy in front of it. Each address may send three
 * requests.
 */
let proxied: Service;
let staging: Service;

beforeAll(async () => {
  const TRUST_PROXY = '127.0.0.1, 10.0.0.0/8, 2001:db8:ffff::/48';
  proxied = await startService({ env: { TRUST_PROXY, RATE_LIMIT_PER_MINUTE: String(PER_MINUTE) } });
  staging = await startService({ env: { ...STAGING, TRUST_PROXY: '127.0.0.1' } });
});

afterAll(async () => {
  await proxied.stop();
  await staging.stop();
});

describe('X-Forwarded-For', () => {
  const logIn = async (headers: Record<string, string>) =>
    (await proxied.call('login', { body: {}, headers })).status;
  const from = (address: string) => logIn({ 'x-forwarded-for': address });

  /** Uses up the first address's limit and returns whether the second address is limited too. */
  async function isSameClient(first: string, second: string): Promise<boolean> {
    for (let n = 0; n < PER_MINUTE; n += 1) expect(await from(first)).toBe(400);
    return (await from(second)) === 429;
  }

  test.each([
    ['198.51.100.1', '198.51.100.1:5678'],
    ['198.51.100.2:1', '198.51.100.2:65535'],
    ['198.51.100.3', '::ffff:198.51.100.3'],
    ['198.51.100.4', '[::ffff:c633:6404]:99'],
    ['198.51.100.5', '203.0.113.200, 198.51.100.5'],
    ['198.51.100.6', 'nonsense, 198.51.100.6:80'],
    ['198.51.100.7', '198.51.100.7, 10.1.2.3'],
    ['198.51.100.8', '198.51.100.8, 10.1.2.3:4567, [2001:db8:ffff::1]:8080'],
    ['2001:db8:1:1::1', '2001:db8:1:1:ffff::2'],
    ['[2001:db8:1:2::1]:443', '2001:DB8:1:2::5'],
    // No valid client address from here on: the address of the nearest trusted proxy is used.
    ['10.9.0.1', 'nonsense, 10.9.0.1'],
    ['10.9.0.2', '198.51.100.300, 10.9.0.2'],
    ['10.9.0.3', '198.51.100, 10.9.0.3'],
    ['10.9.0.4', '0x7f.1, 10.9.0.4'],
    ['10.9.0.5', 'unknown, 10.9.0.5'],
    ['10.9.0.6', '_hidden, 10.9.0.6'],
    ['10.9.0.7', ', 10.9.0.7'],
    ['10.9.0.8', '198.51.100.9:port, 10.9.0.8'],
    ['10.9.0.9', '[2001:db8::1, 10.9.0.9'],
    ['10.9.0.10', '"198.51.100.9", 10.9.0.10'],
  ])('%j and %j share a rate limit', async (first, second) => {
    expect(await isSameClient(first, second)).toBe(true);
  });

  test.each([
    ['198.51.100.20', '198.51.100.21'],
    ['2001:db8:2:1::1', '2001:db8:2:2::1'],
    ['198.51.100.22, 10.1.2.3', '198.51.100.23, 10.1.2.3'],
    ['198.51.100.24, 203.0.113.1', '198.51.100.24, 203.0.113.2'],
  ])('%j and %j have separate rate limits', async (first, second) => {
    expect(await isSameClient(first, second)).toBe(false);
  });

  test('an invalid entry does not get a separate rate limit', async () => {
    const statuses = [];
    for (let n = 0; n < 20; n += 1) statuses.push(await from(`garbage-${n}`));
    expect(statuses.slice(PER_MINUTE)).toEqual(Array(20 - PER_MINUTE).fill(429));
  });

  test('the next wrong key after 300 from one /64 gets 429, whatever the ports and addresses', async () => {
    const wrong = { body: {}, key: 'f'.repeat(64) };
    const guess = async (n: number) =>
      (
        await staging.call('submitPrealert', {
          ...wrong,
          key: n.toString(16).padStart(64, '0'),
          headers: {
            'x-forwarded-proto': 'https',
            'x-forwarded-for': `[2001:db8:5:5::${n.toString(16)}]:${1000 + n}`,
          },
        })
      ).status;
    const statuses = [];
    for (let n = 1; n <= 310; n += 1) statuses.push(await guess(n));
    expect(statuses.slice(0, 300)).toEqual(Array(300).fill(403));
    expect(statuses.slice(300)).toEqual(Array(10).fill(429));
  });

  test.each([
    ['X-Forwarded-Host', { 'x-forwarded-host': DEMO.hosts.two }],
    ['X-Forwarded-Server', { 'x-forwarded-server': DEMO.hosts.two }],
    ['X-Host', { 'x-host': DEMO.hosts.two }],
    ['X-Original-Host', { 'x-original-host': DEMO.hosts.two }],
    ['Forwarded', { forwarded: `for=198.51.100.60;host=${DEMO.hosts.two};proto=https` }],
    ['X-Original-URL', { 'x-original-url': '/health' }],
    ['X-Rewrite-URL', { 'x-rewrite-url': '/health' }],
    ['X-HTTP-Method-Override', { 'x-http-method-override': 'DELETE' }],
  ])('%s from a trusted proxy is ignored', async (_name, headers) => {
    const as = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '198.51.100.50', ...headers };
    const reply = await staging.call('listPrealerts', { as: 'admin', headers: as });
    expect(reply).toMatchObject({ status: 200, body: { status: 'success', data: expect.any(Array) } });
  });

  test('Forwarded neither marks a request as HTTPS nor changes the client address', async () => {
    const headers = { forwarded: 'for=198.51.100.61;proto=https' };
    expect(await staging.call('listPrealerts', { as: 'admin', headers })).toMatchObject({
      status: 403,
      body: { code: 'https_required' },
    });
    const statuses = [];
    for (let n = 0; n < 6; n += 1)
      statuses.push(
        await logIn({ 'x-forwarded-for': '198.51.100.62', forwarded: `for=198.51.100.${100 + n}` }),
      );
    expect(statuses).toEqual([400, 400, 400, 429, 429, 429]);
  });
});

describe('plain HTTP in staging', () => {
  const https = { 'x-forwarded-proto': 'https' };

  test.each([
    ['https', 200],
    ['HTTPS', 200],
    ['https, https', 200],
    ['http', 403],
    ['https,http', 403],
    ['http, https', 403],
    ['https, ', 403],
    ['', 403],
    ['httpss', 403],
    ['https;', 403],
  ])('X-Forwarded-Proto %j from a trusted proxy gives status %i', async (protocol, status) => {
    const headers = { 'x-forwarded-proto': protocol };
    expect((await staging.call('listPrealerts', { as: 'admin', headers })).status).toBe(status);
  });

  test('several X-Forwarded-Proto headers are combined', async () => {
    const headers = { 'x-forwarded-proto': ['https', 'http'] };
    expect((await sendRaw(staging.url, { path: '/docs', headers })).status).toBe(403);
  });

  test('X-Forwarded-Proto from an untrusted client is ignored', async () => {
    const untrusting = await startService({ env: { ...STAGING, TRUST_PROXY: '10.0.0.1' } });
    try {
      expect(await untrusting.call('listPrealerts', { as: 'admin', headers: https })).toMatchObject({
        status: 403,
        body: { code: 'https_required' },
      });
    } finally {
      await untrusting.stop();
    }
  });

  test.each([
    ['GET', '/docs', 200],
    ['GET', '/docs/', 200],
    ['GET', '/docs/json', 200],
    ['GET', '/docs/errors', 200],
    ['GET', '/docs/static/site.css', 200],
    ['GET', '/llms.txt', 200],
    ['POST', '/docs', 405],
    ['GET', '/openapi.json', 200],
    ['GET', '/openapi.yaml', 200],
    ['GET', '/openapi.sdk.json', 200],
    ['GET', '/', 404],
    ['GET', '/nowhere', 404],
    ['GET', '/docs/nowhere', 404],
    ['POST', '/api/nowhere', 404],
    ['PUT', '/api/login.php', 405],
    ['POST', '/health', 405],
    ['DELETE', '/ready', 405],
    ['OPTIONS', '/api/login.php', 405],
  ])('%s %s is rejected, and returns %i over TLS', async (method, path, status) => {
    const plain = await sendRaw(staging.url, { method, path });
    expect([plain.status, JSON.parse(plain.text)]).toEqual([
      403,
      expect.objectContaining({ code: 'https_required' }),
    ]);
    expect((await sendRaw(staging.url, { method, path, headers: https })).status).toBe(status);
  });

  test.each(['/health', '/ready'])('%s is available without TLS', async (path) => {
    expect((await sendRaw(staging.url, { path })).status).toBe(200);
  });

  test('an absolute target with the scheme https does not count as TLS', async () => {
    const bytes = 'GET https://x/docs HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    expect(await talk(staging.url, bytes)).toMatchObject([{ status: 403 }]);
  });
});

describe('a request target in absolute form', () => {
  const request = (target: string, host: string, method = 'GET') =>
    `${method} ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n`;

  async function ask(target: string, host: string, method = 'GET', token = '') {
    const authorization = token ? `Authorization: Bearer ${token}\r\n` : '';
    const [reply] = await talk(proxied.url, `${request(target, host, method)}${authorization}\r\n`);
    return { status: reply?.status, code: (JSON.parse(reply?.text ?? '{}') as { code?: string }).code };
  }

  test.each([
    [`http://${DEMO.hosts.two}/api/ManagePrealerts.php`, 'one.localhost'],
    ['http://one.localhost/api/ManagePrealerts.php', DEMO.hosts.two],
    ['http://one.localhost:80/health', 'one.localhost'],
    ['http://one.localhost.evil/health', 'one.localhost'],
    ['http://user@one.localhost/health', 'one.localhost'],
    ['http://one.localhost@two.localhost/health', 'one.localhost'],
    ['http:///health', 'one.localhost'],
    ['ftp://one.localhost/health', 'one.localhost'],
    ['http://one.localhost#/health', 'one.localhost'],
  ])('%s with the Host %s is rejected with 400', async (target, host) => {
    expect(await ask(target, host)).toEqual({ status: 400, code: 'malformed_request' });
  });

  test('is handled as its path if the Host matches, by the tenant of that host', async () => {
    const target = 'http://ONE.localhost/api/ManagePrealerts.php?limit=1';
    const token = await proxied.tokenOf('admin');
    expect(await ask(target, 'one.localhost', 'GET', token)).toEqual({ status: 200 });
    const other = `http://${DEMO.hosts.two}/api/ManagePrealerts.php?limit=1`;
    expect(await ask(other, DEMO.hosts.two, 'GET', token)).toEqual({ status: 401, code: 'token_invalid' });
    expect(await ask('http://x/api/login.php', 'x')).toEqual({ status: 405, code: 'method_not_allowed' });
    expect(await ask('http://x', 'x')).toEqual({ status: 404, code: 'route_not_found' });
    expect(await ask('http://x?a=1', 'x')).toEqual({ status: 404, code: 'route_not_found' });
    expect(await ask('http://x/docs/static/../../y', 'x')).toEqual({ status: 404, code: 'route_not_found' });
  });

  test.each([
    ['x:443', 'GET', 400],
    ['*', 'GET', 404],
    ['*', 'OPTIONS', 404],
    ['//two.localhost/health', 'GET', 404],
    ['nonsense', 'GET', 400],
  ])('the target %s of %s does not bypass the check', async (target, method, status) => {
    expect((await ask(target, 'x', method)).status).toBe(status);
  });
});

test('an API key in the query of an encoded target reaches no handler and no log', async () => {
  const socket = await openSocket(proxied.url);
  const replies = receive(socket);
  socket.write('GET /api/Prealert.php%3Fapi_key=secret HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  expect(await replies).toMatchObject([{ status: 404 }]);
});
