import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { projectRoot } from '../../src/config/project-root.js';
import { startService, type Service } from '../support/service/service.js';
import { matching } from '../support/assertions/matching.js';

const LARGEST_FIRST_LOAD = 110_000;

let service: Service;
let assets: string[];

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(service.url + path, { headers: { 'accept-encoding': 'br', ...headers } });

beforeAll(async () => {
  service = await startService();
  const page = await (await get('/console')).text();
  assets = [...page.matchAll(/(?:href|src)="(\/[^"]+)"/g)].map(([, path = '']) => path);
});

afterAll(() => service.stop());

/** The bytes on the wire. `fetch` would decompress them. */
async function sizeOf(path: string): Promise<number> {
  const { headers } = await get(path);
  const reply = await service.request('GET', path, { headers: { 'accept-encoding': 'br' } });
  expect([path, reply.status]).toEqual([path, 200]);
  return Number(headers.get('content-length') ?? reply.bytes.length);
}

describe('the console', () => {
  test('loads at most 110 kB compressed before the login', async () => {
    const sizes = await Promise.all(
      ['/console', ...assets].map(async (path) => [path, await sizeOf(path)] as const),
    );
    const total = sizes.reduce((sum, [, size]) => sum + size, 0);
    expect(sizes.filter(([, size]) => size === 0)).toEqual([]);
    expect(total).toBeLessThanOrEqual(LARGEST_FIRST_LOAD);
  });

  test('loads only from this host, and its page has no inline script or style', async () => {
    const { headers } = await get('/console');
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).not.toContain('unsafe');
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
      "frame-ancestors 'none'",
    ])
      expect(policy.split('; ')).toContain(rule);
    const page = readFileSync(join(projectRoot, 'dist/console/index.html'), 'utf8');
    const inline = matching(
      /<style|style=|<script(?![^>]* src=)|https?:/,
      '<style>',
      '<p style="">',
      '<script>',
      '<script type="module">',
      'http://a.example',
      'https://a.example',
    );
    expect(page).not.toMatch(inline);
    expect(assets).not.toEqual([]);
    const isKnown = (path: string) =>
      path.startsWith('/console/assets/') || path === '/docs/static/favicon.svg';
    expect(assets.filter((path) => !isKnown(path))).toEqual([]);
  });

  test('revalidates its page and keeps files with a hash for a year', async () => {
    const first = await get('/console');
    const etag = first.headers.get('etag') ?? '';
    expect(first.headers.get('cache-control')).toBe('no-cache');
    expect((await get('/console', { 'if-none-match': etag })).status).toBe(304);
    for (const path of assets.filter((each) => each.startsWith('/console/')))
      expect((await get(path)).headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  });

  test('is kept by a service worker, which is revalidated and may serve the page itself', async () => {
    const { headers, status } = await get('/console/worker.js');
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-cache');
    expect(headers.get('service-worker-allowed')).toBe('/console');
    const worker = readFileSync(join(projectRoot, 'dist/console/worker.js'), 'utf8');
    // Also the files that load on use: without a connection, nothing else has them.
    const built = readdirSync(join(projectRoot, 'dist/console/assets')).filter(
      (name) => !name.endsWith('.br'),
    );
    expect(built.length).toBeGreaterThan(assets.length);
    const files = [...assets, ...built.map((name) => `/console/assets/${name}`)];
    expect(files.filter((path) => !worker.includes(`"${path}"`))).toEqual([]);
    expect(worker).not.toContain('/api/');
  });

  test('answers 404 to unknown files and 405 to other methods', async () => {
    expect((await get('/console/assets/main.js')).status).toBe(404);
    expect((await get('/console/../package.json')).status).toBe(404);
    expect((await fetch(`${service.url}/console`, { method: 'POST' })).status).toBe(405);
  });
});

describe('an address that a person opens', () => {
  const HTML = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
  const open = (path: string, headers: Record<string, string> = HTML) =>
    fetch(service.url + path, { headers, redirect: 'manual' });

  test('leads from / to the console', async () => {
    const reply = await open('/');
    expect([reply.status, reply.headers.get('location')]).toEqual([302, '/console']);
  });

  test.each(['/console/x', '/docs/nope', '/nothing', '/apix'])(
    'gets a page with links if it is %s',
    async (path) => {
      const reply = await open(path);
      expect(reply.status).toBe(404);
      expect(reply.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(reply.headers.get('content-security-policy')).not.toContain('unsafe');
      expect(reply.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
      expect(await reply.text()).toContain('<a href="/console">');
    },
  );

  test.each([
    ['/api/Nothing.php', HTML],
    ['/api', HTML],
    ['/', { accept: '*/*' }],
    ['/docs/nope', { accept: 'application/json' }],
  ])('is answered as by the contract if it is of the API or a program asks: %s', async (path, headers) => {
    const reply = await open(path, headers);
    expect(reply.status).toBe(404);
    expect(await reply.json()).toMatchObject({ status: 'fail', code: 'route_not_found' });
  });
});
