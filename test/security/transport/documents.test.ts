import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startService, type Reply, type Service } from '../../support/service/service.js';
import { sendRaw } from '../../support/service/wire.js';

let service: Service;

beforeAll(async () => {
  service = await startService();
});

afterAll(async () => {
  await service.stop();
});

const get = (path: string, headers: Record<string, string> = {}): Promise<Reply> =>
  service.request('GET', path, { headers });

const DOCUMENTS = [
  ['/openapi.json', 'application/json; charset=utf-8'],
  ['/openapi.yaml', 'application/yaml'],
  ['/openapi.sdk.json', 'application/json; charset=utf-8'],
  ['/docs', 'text/html; charset=utf-8'],
  ['/docs/', 'text/html; charset=utf-8'],
  ['/docs/json', 'application/json; charset=utf-8'],
  ['/docs/errors', 'text/html; charset=utf-8'],
  ['/docs/errors.md', 'text/markdown; charset=utf-8'],
  ['/docs/reference', 'text/html; charset=utf-8'],
  ['/docs/static/site.css', 'text/css; charset=utf-8'],
  ['/docs/static/scalar.js', 'text/javascript; charset=utf-8'],
  ['/llms.txt', 'text/plain; charset=utf-8'],
] as const;

const DECODERS = { br: brotliDecompressSync, gzip: gunzipSync };

describe.each(DOCUMENTS)('%s', (path, mediaType) => {
  test('has its media type and a strong ETag, and must be revalidated', async () => {
    const { status, headers } = await get(path);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe(mediaType);
    expect(headers.get('etag')).toMatch(/^"[\w-]{43}"$/);
    expect(headers.get('cache-control')).toBe('no-cache');
    expect(headers.get('vary')).toBe('accept-encoding');
    expect(headers.get('content-encoding')).toBeNull();
  });

  test('returns 304 without a body if the ETag matches, and 200 otherwise', async () => {
    const etag = (await get(path)).headers.get('etag') ?? '';
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const reply = await get(path, { 'if-none-match': known });
      expect([known, reply.status, reply.bytes.length]).toEqual([known, 304, 0]);
      expect(reply.headers.get('etag')).toBe(etag);
      expect(reply.headers.get('content-type')).toBeNull();
    }
    expect((await get(path, { 'if-none-match': '"other"' })).status).toBe(200);
  });

  test('is available compressed, with a different ETag', async () => {
    const plain = await get(path);
    if (plain.bytes.length < 1024) return;
    for (const encoding of ['br', 'gzip'] as const) {
      const reply = await get(path, { 'accept-encoding': encoding });
      expect(reply.headers.get('content-encoding')).toBe(encoding);
      expect(DECODERS[encoding](reply.bytes).equals(plain.bytes)).toBe(true);
      expect(reply.bytes.length).toBeLessThan(plain.bytes.length / 1.5);
      expect(reply.headers.get('etag')).not.toBe(plain.headers.get('etag'));
      const etag = reply.headers.get('etag') ?? '';
      const again = await get(path, { 'accept-encoding': encoding, 'if-none-match': etag });
      expect(again.status).toBe(304);
      expect((await get(path, { 'if-none-match': etag })).status).toBe(200);
    }
  });
});

test.each([
  ['gzip, deflate, br', 'br'],
  ['gzip, deflate, br;q=0.5', 'gzip'],
  ['br;q=0, gzip', 'gzip'],
  ['GZIP', 'gzip'],
  ['*', 'br'],
  ['*;q=0', null],
  ['gzip;q=0, br;q=0', null],
  ['identity', null],
  ['deflate', null],
  ['', null],
  ['gzip;q=much', null],
])('Accept-Encoding %j selects the encoding %s', async (accepted, encoding) => {
  const { headers } = await get('/openapi.json', { 'accept-encoding': accepted });
  expect(headers.get('content-encoding')).toBe(encoding);
});

test.each(['/docs', '/docs/errors', '/docs/json', '/docs/static/inter.woff2', '/llms.txt'])(
  '%s supports GET and HEAD, and refuses other methods with 405',
  async (path) => {
    const shown = await get(path);
    const head = await service.request('HEAD', path);
    expect([head.status, head.bytes.length, head.headers.get('etag')]).toEqual([
      200,
      0,
      shown.headers.get('etag'),
    ]);
    expect(head.headers.get('content-length')).toBe(String(shown.bytes.length));
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const { status, headers, body } = await service.request(method, path);
      expect([status, headers.get('allow'), body['code']]).toEqual([405, 'GET, HEAD', 'method_not_allowed']);
    }
  },
);

test('a font is not compressed again', async () => {
  const { headers } = await get('/docs/static/inter.woff2', { 'accept-encoding': 'br' });
  expect([headers.get('content-type'), headers.get('content-encoding')]).toEqual(['font/woff2', null]);
});

test('the pages forbid other hosts, inline scripts and frames', async () => {
  for (const path of ['/docs', '/docs/errors', '/docs/reference', '/docs/errors.md', '/llms.txt']) {
    const { headers } = await get(path);
    const policy = headers.get('content-security-policy') ?? '';
    const styles = path === '/docs/reference' ? "'self' 'unsafe-inline'" : "'self'";
    expect(policy.split('; ')).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      `style-src ${styles}`,
      "font-src 'self'",
      "img-src 'self' data:",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ]);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('x-frame-options')).toBe('SAMEORIGIN');
  }
});

test('a logo returns 304 if the ETag matches', async () => {
  const settings = await service.call('getCourierSettings', { as: 'iex' });
  const path = `/${settings.body['data'].logo_path}`;
  const shown = await get(path);
  const hash = /([0-9a-f]{64})\./.exec(path)?.[1];
  expect([shown.status, shown.headers.get('etag')]).toEqual([200, `"${hash}"`]);
  const again = await get(path, { 'if-none-match': `"${hash}"` });
  expect([again.status, again.bytes.length]).toEqual([304, 0]);
  expect(again.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  expect((await get(path)).bytes.equals(shown.bytes)).toBe(true);
});

describe('path traversal in the API reference', () => {
  test.each([
    '/docs/static/../../x',
    '/docs/static/../../package.json',
    '/docs/static/%2e%2e/%2e%2e/package.json',
    '/docs/static/%2E%2E%2F%2E%2E%2Fpackage.json',
    '/docs/static/..%2f..%2fpackage.json',
    '/docs/static/..\\..\\package.json',
    '/docs/static/..%5c..%5cpackage.json',
    '/docs/static//etc/passwd',
    '/docs/static/%2fetc%2fpasswd',
    '/docs//static/site.css',
    '/docs/static/./site.css',
    '/docs/static/site.css%00',
    '/docs/static/%00',
    '/docs/static/',
    '/docs/static',
    '/docs/static/standalone.js',
    '/docs/index.html',
    '/docs/errors.html',
    '/docs/errors/',
    '/docs/llms.txt',
    '/llms.txt/',
    '/docs/static/__proto__',
    '/docs/../docs/json',
    '/docs/yaml',
    '/docs/x',
    '/docs/static/site.css/',
    `/docs/static/${'../'.repeat(300)}x`,
  ])('%s returns 404 in the error envelope', async (path) => {
    const reply = await sendRaw(service.url, { path });
    expect(reply.headers['content-type']).toBe('application/json; charset=utf-8');
    expect([reply.status, JSON.parse(reply.text)]).toEqual([
      404,
      expect.objectContaining({ status: 'fail', code: 'route_not_found' }),
    ]);
  });

  test('a path that cannot be decoded returns 400 in the error envelope', async () => {
    for (const path of ['/docs/static/%', '/docs/static/%ff', '/docs/%zz']) {
      const reply = await sendRaw(service.url, { path });
      expect([reply.status, JSON.parse(reply.text)]).toEqual([
        400,
        expect.objectContaining({ code: 'malformed_request' }),
      ]);
    }
  });
});

test('/ready queries the database about once per second, however many callers there are', async () => {
  let acquired = 0;
  const count = () => (acquired += 1);
  service.db.pool.on('acquire', count);
  try {
    const statuses = await Promise.all(
      Array.from({ length: 500 }, async () => (await service.call('getReadiness')).status),
    );
    expect(new Set(statuses)).toEqual(new Set([200]));
  } finally {
    service.db.pool.off('acquire', count);
  }
  // One check per second of two statements. The requests take less than ten seconds on a busy machine.
  expect(acquired).toBeLessThanOrEqual(20);
});

test('made-up hosts fill no memory: the first ones get their samples, the others the document as it is', async () => {
  const tagOf = async (host: string) => {
    const headers = { host, 'accept-encoding': 'br' };
    return (await service.request('HEAD', '/llms-full.txt', { headers })).headers.get('etag');
  };
  const own = await tagOf('known.example');
  const before = process.memoryUsage().rss;
  const tags: (string | null)[] = [];
  for (let batch = 0; batch < 6; batch += 1) {
    const hosts = Array.from({ length: 50 }, (_, n) => `made-up.example:${10_000 + batch * 50 + n}`);
    tags.push(...(await Promise.all(hosts.map(tagOf))));
  }
  const grownMiB = (process.memoryUsage().rss - before) / 2 ** 20;
  expect(tags).toHaveLength(300);
  // 32 MiB have room for about 28 copies of this document.
  expect(new Set(tags).size).toBeLessThan(32);
  expect(new Set(tags).size).toBeGreaterThan(10);
  expect(grownMiB).toBeLessThan(200);
  const late = (await get('/llms-full.txt', { host: 'made-up.example:65000' })).bytes.toString();
  expect(late).toContain('https://demo.crossdock.example');
  expect(await tagOf('known.example')).toBe(own);
});
