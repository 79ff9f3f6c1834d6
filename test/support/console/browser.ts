import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { projectRoot } from '../../../src/config/project-root.js';
import {
  pressTimed,
  scan as scanCode,
  type as typeText,
  untilLastKey,
} from '../../../scripts/measure/bench-console/keys.js';
import { findProgram } from '../harness/programs.js';

export { pressTimed, untilLastKey };

/** Sends the keys of a scanner, and waits as long as a person does before the next key. */
export async function scan(page: Page, code: string): Promise<void> {
  await scanCode(page, code);
  await untilLastKey(page);
}

/** Types as a person does, and waits as long before the next key. */
export async function type(page: Page, text: string): Promise<void> {
  await typeText(page, text);
  await untilLastKey(page);
}

/** A person's next key comes later than a second end key of a scanner, which is swallowed (decision 0079). */
export const personalPause = (page: Page): Promise<void> => page.waitForTimeout(200);

const require = createRequire(join(projectRoot, 'package.json'));

export const chromiumPath = findProgram('chromium', 'chromium-browser', 'google-chrome');

// Loaded only where there is a browser.
const playwright = () => require('playwright-core') as typeof import('playwright-core');

/** Chromium 156 without a window crashes if a frame with a PDF opens the preview of a print. */
const NO_PREVIEW = '--disable-print-preview';

/** Without it, Chromium starts a process for the next page of each context, which most contexts never open. */
const NO_SPARE = '--renderer-process-limit=1';

const launch = (executablePath: string): Promise<Browser> =>
  playwright().chromium.launch({ executablePath, args: ['--no-sandbox', NO_PREVIEW, NO_SPARE] });

/** Shows PDF files. Each window also draws menus, tabs and the pop-up of its address bar, which costs two seconds of CPU time. */
export const launchChromium = (): Promise<Browser> => launch(chromiumPath ?? '');

/** Chromium without windows: the same engine, and no viewer of PDF files. Where it is not installed, Chromium takes its place. */
export const launchShell = (): Promise<Browser> =>
  launch(
    findProgram('chromium-headless-shell', 'chrome-headless-shell', 'headless_shell') ?? chromiumPath ?? '',
  );

/** A script that sets a device without sound and labels. Each label starts the browser's viewer of PDF files. */
export const QUIET = `localStorage.getItem('crossdock-device') ?? localStorage.setItem('crossdock-device', '{"labels":"off","hasSound":false,"language":"en"}')`;

export type Window = { context: BrowserContext; page: Page; faults: string[] };

export type WindowOptions = {
  width?: number;
  height?: number;
  locale?: string;
  timezoneId?: string;
  colorScheme?: 'light' | 'dark';
  /** A service worker answers for the files that it has. Blocked, all of them come from the service. */
  serviceWorkers?: 'allow' | 'block';
  isQuiet?: boolean;
};

/** Opens a window that records errors of scripts and policies, and requests to other hosts. */
export async function openConsole(
  browser: Browser,
  url: string,
  { width = 1280, height = 800, isQuiet = false, ...options }: WindowOptions,
): Promise<Window> {
  const context = await browser.newContext({
    viewport: { width, height },
    locale: 'en-US',
    colorScheme: 'light',
    reducedMotion: 'reduce',
    ...options,
  });
  if (isQuiet) await context.addInitScript(QUIET);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('console', (message) => {
    // Refused and unanswered requests are part of the tests.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    // The browser's own viewer of PDF files loads its parts from chrome:// and chrome-extension://.
    if (protocol.startsWith('http') && origin !== url) faults.push(`requests ${request.url()}`);
  });
  await page.goto(`${url}/console`);
  return { context, page, faults };
}

/** Logs in with the keyboard, in every language. */
export async function logIn(page: Page, username: string, password: string): Promise<void> {
  await page.locator('[autocomplete="username"]:enabled').waitFor();
  await page.keyboard.type(username);
  await page.keyboard.press('Tab');
  await page.keyboard.type(password);
  await page.keyboard.press('Enter');
}

/** Managers and administrators begin in the office. */
export async function openStation(page: Page): Promise<void> {
  await page.getByRole('link', { name: /^(Station|Estación)$/ }).click();
  await page.getByRole('heading', { level: 1, name: /^(Receive|Recibir)$/ }).waitFor();
}

export const outcomeOf = (page: Page) => page.getByTestId('outcome').locator('.outcome-word');

const axe = () => readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

type Violation = { id: string; impact: string; nodes: { html: string }[] };
type Axe = { run(options: object): Promise<{ violations: Violation[] }> };

/** Returns the findings of axe, of every severity: the rule and the first element of each. */
export async function findingsOf(page: Page): Promise<string[]> {
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(axe());
  const found = await inspect(page);
  if (found.length === 0) return [];
  // A button that becomes enabled between two steps of axe has the old colour and the new state, which nobody sees.
  await sleep(500);
  return inspect(page);
}

function inspect(page: Page): Promise<string[]> {
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as Record<'axe', Axe>;
    // Findings of other kinds are not described, which saves most of the time.
    const { violations } = await axe.run({ resultTypes: ['violations'] });
    return violations.map(({ id, impact, nodes }) => `${impact} ${id}: ${nodes[0]?.html}`);
  });
}

/** A browser with a profile on the disk, which can be killed and started again. */
export type Killable = { page: Page; kill(): Promise<void> };

export function makeProfile(): { folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'crossdock-browser-'));
  return {
    folder,
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }),
  };
}

/**
 * Starts chromium as a process of ours, so that SIGKILL reaches all of its processes at once.
 * @param prepare a script that runs before those of the page
 */
export async function startKillable(profile: string, address: string, prepare: string): Promise<Killable> {
  const child = spawn(
    chromiumPath ?? '',
    [
      ...[
        '--headless=new',
        '--no-sandbox',
        '--disable-gpu',
        '--no-first-run',
        '--disable-extensions',
        NO_PREVIEW,
      ],
      ...['--remote-debugging-port=0', `--user-data-dir=${profile}`, 'about:blank'],
    ],
    { detached: true, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const browser = await playwright().chromium.connectOverCDP(await endpointOf(child));
  const [context] = browser.contexts();
  const page = context?.pages()[0] ?? (await context?.newPage());
  if (!page) throw new Error('The browser has no page.');
  await page.addInitScript(prepare);
  await page.goto(`${address}/console`);
  return {
    page,
    async kill() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      // The group of the process: its renderers too.
      process.kill(-(child.pid ?? 0), 'SIGKILL');
      await ended;
    },
  };
}

function endpointOf(child: ChildProcess): Promise<string> {
  let text = '';
  return new Promise((resolve, reject) => {
    child.stderr?.setEncoding('utf8').on('data', (part: string) => {
      text += part;
      const [, endpoint] = /DevTools listening on (ws:\S+)/.exec(text) ?? [];
      if (endpoint) resolve(endpoint);
    });
    child.once('exit', () => reject(new Error(`chromium ended: ${text}`)));
  });
}
