import { jestOfFile } from '../fixture/jest-of-file.js';
import type { Browser, Page } from 'playwright-core';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { titleWith } from '../harness/programs.js';
import { startService, type Service } from '../service/service.js';
import {
  chromiumPath,
  launchChromium,
  launchShell,
  logIn,
  openConsole,
  outcomeOf,
  untilLastKey,
  type Window,
  type WindowOptions,
} from './browser.js';

const LIMIT_MS = 180_000;

type Opening = WindowOptions & {
  /** The browser shows PDF files, as those of labels. */
  showsPdf?: boolean;
};

type Work = Opening & {
  user?: string;
  /** The settings of the device. Without them, it has no sound and no labels. */
  device?: object;
};

export type Suite = {
  service: () => Service;
  /** Opens a window. By default, its device has no sound and no labels. It is closed after the test, and may have no faults. */
  open: (options?: Opening) => Promise<Window>;
  /** Opens a window, and logs in. */
  atWork: (options?: Work) => Promise<Page>;
  /** A test. Without a browser it is skipped, and its title says why. */
  runs: (title: string, body: () => Promise<void>) => void;
  /** A test with a page of a user who has just logged in. */
  it: (title: string, body: (page: Page) => Promise<void>, user?: string) => void;
};

export type SuiteOptions = {
  environment?: () => Promise<Record<string, string>>;
  /** A worker sends webhooks and mails. */
  worker?: boolean;
  /** The windows have the service worker, which fetches all files again: a second of CPU time for each window. */
  worksOffline?: boolean;
};

/** Starts the service, with settings of its own, and the browsers that the tests of a file need. */
export function consoleSuite({ environment, worker, worksOffline }: SuiteOptions = {}): Suite {
  const { afterAll, afterEach, beforeAll, expect, test } = jestOfFile();
  const declare = chromiumPath ? test : test.skip;
  const windows: Window[] = [];
  let service: Service;
  const browsers = new Map<() => Promise<Browser>, Promise<Browser>>();
  beforeAll(async () => {
    if (!chromiumPath) return;
    service = await startService({ env: await environment?.(), worker });
  }, LIMIT_MS);
  afterEach(async () => {
    const opened = windows.splice(0);
    for (const { context } of opened) await context.close();
    expect(opened.flatMap(({ faults }) => faults)).toEqual([]);
  }, LIMIT_MS);
  afterAll(async () => {
    if (!chromiumPath) return;
    for (const browser of browsers.values()) await (await browser).close();
    await service.stop();
  });

  const open: Suite['open'] = async ({ showsPdf = false, ...options } = {}) => {
    const launch = showsPdf ? launchChromium : launchShell;
    const browser = browsers.get(launch) ?? launch();
    browsers.set(launch, browser);
    const window = await openConsole(await browser, service.url, {
      isQuiet: true,
      serviceWorkers: worksOffline ? 'allow' : 'block',
      ...options,
    });
    windows.push(window);
    return window;
  };
  const atWork: Suite['atWork'] = async ({ user = 'warehouse', device, ...options } = {}) => {
    const { page } = await open({ isQuiet: device === undefined, ...options });
    if (device) await setDevice(page, device);
    await logIn(page, user, DEMO.password);
    await page.locator('.workplace').waitFor();
    return page;
  };
  const runs: Suite['runs'] = (title, body) =>
    declare(titleWith(title, [chromiumPath ? undefined : 'chromium']), body, LIMIT_MS);
  return {
    service: () => service,
    open,
    atWork,
    runs,
    it: (title, body, user = 'warehouse') => runs(title, async () => body(await atWork({ user }))),
  };
}

/** The page reads the settings when it is loaded. */
async function setDevice(page: Page, device: object): Promise<void> {
  await page.evaluate(`localStorage.setItem('crossdock-device', '${JSON.stringify(device)}')`);
  await page.reload();
}

/** Waits for the big word. */
export const expectWord = (page: Page, word: string) =>
  outcomeOf(page)
    .filter({ hasText: new RegExp(`^(?:${word})$`) })
    .waitFor();

/** Presses a key as a person does: after a pause. */
export async function press(page: Page, key: string): Promise<void> {
  await untilLastKey(page);
  await page.keyboard.press(key);
}

/** Sends keys with the same time between them. */
export const keysAt = (gapMs: number, text: string, ...ends: string[]) =>
  [...text, ...ends].map((key) => ({ key, gapMs }));

/** The weights of all packages with a number. */
export async function weightsOf({ owner }: Service, number: string): Promise<number[]> {
  const { rows } = await owner.query<{ weight: number }>(
    'select weight_lb::float as weight from packages where tenant_id = $1 and tracking_number = $2',
    [DEMO.tenants.demo, number],
  );
  return rows.map(({ weight }) => weight);
}

/** Who has received a parcel, and with which weight. */
export async function receiversOf({ owner }: Service, number: string): Promise<unknown[]> {
  const { rows } = await owner.query(
    `select p.weight_lb::float as weight, u.username
     from packages p join package_events e on e.tenant_id = p.tenant_id and e.package_id = p.id
     join users u on u.tenant_id = e.tenant_id and u.id = e.actor_user_id
     where p.tenant_id = $1 and p.tracking_number = $2`,
    [DEMO.tenants.demo, number],
  );
  return rows;
}
