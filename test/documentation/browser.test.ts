import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { projectRoot } from '../../src/config/project-root.js';
import { chromiumPath, launchShell } from '../support/console/browser.js';
import { rounds } from '../support/harness/effort.js';
import { titleWith } from '../support/harness/programs.js';
import { startService, type Service } from '../support/service/service.js';

const require = createRequire(join(projectRoot, 'package.json'));
const missing = [chromiumPath ? undefined : 'chromium'];
const runs = chromiumPath ? test : test.skip;
const LIMIT_MS = 180_000;

const names = readdirSync(join(projectRoot, 'docs/site/pages')).map((file) => file.replace(/\.md$/, ''));
const guides = names.map((name) => (name === 'index' ? '/docs' : `/docs/${name}`));
/** One template makes the pages of operations. This one has actions, nested fields and long descriptions. */
const OPERATION = '/docs/reference/manageWebhookDeliveries';
const PAGES = [...guides, OPERATION];
const REFERENCE = '/docs/reference';

const WINDOWS = [
  [1280, 'light'],
  [380, 'dark'],
  [1280, 'dark'],
  [380, 'light'],
] as const;

/**
 * Opening and inspecting a page takes most of the time, and one template makes all pages but the reference. By default, all pages
 * are opened in the narrow window, where they can be too wide, and these are inspected, each in one window: one with each kind
 * of content. The reference is inspected in both, because it has a header of its own in a narrow one. `npm run test:long`
 * opens and inspects every page in all windows.
 */
const INSPECTED = [REFERENCE, '/docs', '/docs/errors', '/docs/webhooks', OPERATION];
const isInspectedIn = (window: number, path: string) =>
  rounds(0, 1) === 1 ||
  path === REFERENCE ||
  (INSPECTED.includes(path) && INSPECTED.indexOf(path) % 2 === window);
const isOpenedIn = (window: number, path: string) =>
  isInspectedIn(window, path) || (path !== REFERENCE && WINDOWS[window]?.[0] === 380);

let service: Service;
let browser: Browser;
const faults: string[] = [];

beforeAll(async () => {
  if (!chromiumPath) return;
  service = await startService();
  browser = await launchShell();
}, LIMIT_MS);

afterAll(async () => {
  if (!chromiumPath) return;
  await browser.close();
  await service.stop();
});

/** Opens a window that records errors of scripts and policies, and requests to other hosts. */
async function openWindow(width: number, colorScheme: 'light' | 'dark'): Promise<[BrowserContext, Page]> {
  const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme });
  const page = await context.newPage();
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(`${page.url()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => faults.push(`${page.url()}: ${error.message}`));
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol !== 'data:' && protocol !== 'blob:' && origin !== service.url)
      faults.push(`${page.url()} requests ${request.url()}`);
  });
  return [context, page];
}

async function open(page: Page, path: string): Promise<void> {
  await page.goto(service.url + path, { waitUntil: 'load' });
  if (path === REFERENCE) await page.getByRole('heading', { name: 'Submit a pre-alert' }).first().waitFor();
}

const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

/**
 * The reference draws all operations alike, and inspecting them takes most of its time. By default two are inspected, with and
 * without a body; `npm run test:long` inspects all that the page has drawn.
 */
const SKIPPED =
  'section[id*="/api/"]:not([id$="/POST/api/Prealert.php"], [id$="/GET/api/ManagePrealerts.php"])';
const exclude = rounds(0, 1) === 1 ? [] : [SKIPPED];

/** Returns the findings of axe, of every severity: the rule and the first element of each. */
async function findingsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  return page.evaluate(async (skipped) => {
    // Findings of other kinds are not described, which saves most of the time.
    const { axe } = globalThis as unknown as Record<'axe', Axe>;
    const { violations } = await axe.run({ exclude: skipped }, { resultTypes: ['violations'] });
    return violations.map(({ id, impact, nodes }) => `${impact} ${id}: ${nodes[0]?.html}`);
  }, exclude);
}

type Violation = { id: string; impact: string; nodes: { html: string }[] };
type Axe = { run(context: object, options: object): Promise<{ violations: Violation[] }> };

describe('in a browser', () => {
  runs.each(WINDOWS.slice(0, rounds(2, 4)))(
    titleWith(
      '%i pixels wide, %s: no page scrolls sideways, has findings of axe or calls other hosts',
      missing,
    ),
    async (width, colorScheme) => {
      const [context, page] = await openWindow(width, colorScheme);
      const window = WINDOWS.findIndex((each) => each[0] === width && each[1] === colorScheme);
      for (const path of [...PAGES, REFERENCE].filter((each) => isOpenedIn(window, each))) {
        await open(page, path);
        const scrollWidth = await page.evaluate('document.documentElement.scrollWidth');
        expect([path, scrollWidth]).toEqual([path, width]);
        if (isInspectedIn(window, path))
          await expectSoon(async () => [path, await findingsOf(page)], [path, []]);
      }
      await context.close();
      expect(faults).toEqual([]);
    },
    LIMIT_MS,
  );

  runs(
    titleWith('with the keyboard only: skip link, menu, language tabs and theme', missing),
    async () => {
      const [context, page] = await openWindow(380, 'light');
      await open(page, '/docs/webhooks');
      const focused = () => page.evaluate('document.activeElement.textContent');

      await page.keyboard.press('Tab');
      expect(await focused()).toBe('Skip to the content');
      await expectSoon(async () => (await page.locator('.skip').boundingBox())?.y, 8);
      await page.keyboard.press('Enter');
      expect(await page.evaluate('document.activeElement.id')).toBe('content');

      await page.locator('.menu').focus();
      await page.keyboard.press('Enter');
      expect([await page.locator('.menu').getAttribute('aria-expanded'), await focused()]).toEqual([
        'true',
        'Quick start',
      ]);
      await page.keyboard.press('Escape');
      expect([await page.locator('.pages').isVisible(), await focused()]).toEqual([false, 'Menu']);

      const php = page.getByRole('tab', { name: 'PHP' }).last();
      await php.focus();
      await page.keyboard.press('ArrowRight');
      expect(await focused()).toBe('Python');
      expect(await page.getByRole('tabpanel').last().textContent()).toContain('import hmac');
      const outline = await page.evaluate('getComputedStyle(document.activeElement).outlineWidth');
      expect(outline).toBe('2px');

      await page.locator('.theme').focus();
      await page.keyboard.press('Space');
      await page.reload();
      expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(14, 21, 19)');
      await context.close();
    },
    LIMIT_MS,
  );

  runs(
    titleWith(
      'with the keyboard only: the search finds a code, and loads its index from this host only',
      missing,
    ),
    async () => {
      const [context, page] = await openWindow(380, 'dark');
      await open(page, '/docs/webhooks');
      await page.locator('.search-button:visible').waitFor();
      await page.keyboard.press('Control+k');
      await page.keyboard.type('duplicate_tracking');
      await page.getByRole('link', { name: 'duplicate_tracking_number' }).first().waitFor();
      expect(await page.getByRole('status').textContent()).toMatch(/^\d+ of \d+ results$/);
      await expectSoon(async () => findingsOf(page), []);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(380);

      await page.keyboard.press('Escape');
      expect(await page.getByRole('dialog').isVisible()).toBe(false);
      await page.locator('.search-button').focus();
      await page.keyboard.press('Enter');
      expect(await page.evaluate('document.activeElement.type')).toBe('search');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await page.waitForURL('**/docs/errors#duplicate_tracking_number');

      await page.keyboard.press('Control+k');
      await page.keyboard.type('xyzzy');
      await page.getByText('Nothing found for “xyzzy”.').waitFor();
      await context.close();
      expect(faults).toEqual([]);
    },
    LIMIT_MS,
  );

  runs(
    titleWith('samples name the host of the page', missing),
    async () => {
      const [context, page] = await openWindow(1280, 'light');
      await open(page, '/docs/quick-start');
      expect(await page.locator('article pre').first().textContent()).toContain(`HOST=${service.url}\n`);
      await context.close();
    },
    LIMIT_MS,
  );
});

/**
 * Waits at most two seconds until the value is as expected, because the reference corrects its elements after they appear, and
 * others move into place.
 */
async function expectSoon(read: () => Promise<unknown>, expected: unknown): Promise<void> {
  for (let attempt = 1; attempt < 20; attempt += 1) {
    if (JSON.stringify(await read()) === JSON.stringify(expected)) return;
    await sleep(100);
  }
  expect(await read()).toEqual(expected);
}
