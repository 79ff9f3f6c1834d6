import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { BrowserContext, Page } from 'playwright-core';
import { projectRoot } from '../../src/config/project-root.js';
import { DEMO } from '../../fixtures/demo/seed.js';
import { chromiumPath, launchShell, logIn, QUIET, scan, type } from '../support/console/browser.js';
import { titleWith } from '../support/harness/programs.js';
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

const missing = [chromiumPath ? undefined : 'chromium'];
const runs = chromiumPath ? test : test.skip;
const LIMIT_MS = 120_000;

/** Pages of earlier builds. Their parts have names that the service no longer has. */
async function serveOldPages(context: BrowserContext) {
  const page = await (await get('/console')).text();
  const [, main = ''] = /src="(\/console\/assets\/main-[^"]+)"/.exec(page) ?? [];
  const script = await (await get(main)).text();
  const oldScript = script.replaceAll(/(import\("\.\/part)-\w+/g, '$1-GONE');
  expect(oldScript).not.toBe(script);
  const headers = Object.fromEntries((await get('/console')).headers);
  let build = 0;
  const isPage = (url: URL) => url.pathname === '/console';
  await context.route(isPage, (route) => {
    build += 1;
    return route.fulfill({
      headers: { ...headers, 'content-encoding': 'identity' },
      contentType: 'text/html',
      body: page.replace(main, main.replace('main-', `main-old${build}-`)),
    });
  });
  await context.route(/main-old/, (route) =>
    route.fulfill({ contentType: 'text/javascript', body: oldScript }),
  );
  return { upgrade: () => context.unroute(isPage) };
}

describe('a login page that stays open across an upgrade', () => {
  let context: BrowserContext;
  let page: Page;
  let loads: number;
  let close: (() => Promise<void>) | undefined;

  beforeEach(async () => {
    if (!chromiumPath) return;
    const browser = await launchShell();
    close = () => browser.close();
    // A service worker would have the files of its build.
    context = await browser.newContext({ serviceWorkers: 'block', locale: 'en-US' });
    await context.addInitScript(QUIET);
    page = await context.newPage();
    loads = 0;
    page.on('load', () => (loads += 1));
  });
  afterEach(() => close?.());

  runs(
    titleWith('loads itself again once after the login, and sends the scans that wait', missing),
    async () => {
      const sending = /\/api\/ScanBatch/;
      await context.route(sending, (route) => route.abort());
      await page.goto(`${service.url}/console`);
      await logIn(page, 'warehouse', DEMO.password);
      await page.locator('.workplace').waitFor();
      await scan(page, 'UPGRADE-1');
      await type(page, '3');
      await page.keyboard.press('Enter');
      await page.getByTestId('queue').filter({ hasText: '1' }).waitFor();
      await page.getByRole('button', { name: /Account/ }).click();
      await page.getByRole('button', { name: 'Log out', exact: true }).click();

      const old = await serveOldPages(context);
      await page.reload();
      await page.getByTestId('waiting-here').waitFor();
      await old.upgrade();
      await context.unroute(sending);
      loads = 0;
      await logIn(page, 'warehouse', DEMO.password);
      await page
        .getByTestId('queue')
        .filter({ hasText: /^Sent$/ })
        .waitFor();
      expect(loads).toBe(1);
      const { rows } = await service.owner.query(
        "select weight_lb::float as pounds from packages where tracking_number = 'UPGRADE-1'",
      );
      expect(rows).toEqual([{ pounds: 3 }]);
    },
    LIMIT_MS,
  );

  runs(
    titleWith(
      'says what to do if it is still out of date afterwards, and does not load again and again',
      missing,
    ),
    async () => {
      // Each page is of another build, as behind a proxy in the middle of an upgrade.
      const old = await serveOldPages(context);
      await page.goto(`${service.url}/console`);
      loads = 0;
      await logIn(page, 'warehouse', DEMO.password);
      const again = page.getByRole('button', { name: 'Load the page again' });
      await again.waitFor();
      await page.getByRole('alert').filter({ hasText: 'The console was upgraded' }).waitFor();
      expect(loads).toBe(1);
      await old.upgrade();
      await again.click();
      await page.locator('.workplace').waitFor();
      expect(loads).toBe(2);
    },
    LIMIT_MS,
  );
});
