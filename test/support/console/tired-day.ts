import type { Browser, BrowserContext, Page } from 'playwright-core';
import { DEMO } from '../../../fixtures/demo/seed.js';
import type { Service } from '../service/service.js';
import { logIn, openConsole } from './browser.js';
import { makeWorker } from './tired-worker.js';

const ACTIONS = 12;
/** A browser window plays so many sequences, so that what one leaves behind meets the next. */
const PER_WINDOW = 20;
const REPORT_MS = 60_000;
const ACCOUNT = { username: 'warehouse', password: DEMO.password };

export type Campaign = {
  service: Service;
  browser: Browser;
  sequences: number;
  firstSeed: number;
  /** Stations that work at the same time. */
  windows: number;
  /** No sequence begins later. */
  budgetMs: number;
};

export type Day = { played: number; failures: string[] };

/** Plays random sequences at several stations at once. Returns every failure with its seed. */
export async function playTiredDay(campaign: Campaign): Promise<Day> {
  const { sequences, firstSeed, windows, budgetMs } = campaign;
  const startMs = Date.now();
  const day: Day = { played: 0, failures: [] };
  const blocks = Array.from({ length: Math.ceil(sequences / PER_WINDOW) }, (_, index) =>
    seedsOf(firstSeed + index * PER_WINDOW, Math.min(PER_WINDOW, sequences - index * PER_WINDOW)),
  ).values();
  const report = () => {
    const rate = (day.played / ((Date.now() - startMs) / 60_000)).toFixed(1);
    const { length } = day.failures;
    process.stdout.write(`${day.played} of ${sequences} sequences, ${rate} per minute, ${length} failed\n`);
  };
  const work = async () => {
    for (const seeds of blocks)
      for (let rest = seeds; rest.length > 0 && Date.now() - startMs < budgetMs;)
        rest = rest.slice(await playWindow(campaign, day, rest, () => Date.now() - startMs < budgetMs));
  };
  const timer = setInterval(report, REPORT_MS);
  // Playwright makes an error with a stack for each command. The failures here have a log of their own.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  await Promise.all(Array.from({ length: windows }, work));
  Error.stackTraceLimit = stackTraceLimit;
  clearInterval(timer);
  report();
  return day;
}

const seedsOf = (first: number, count: number) => Array.from({ length: count }, (_, index) => first + index);

type Station = {
  page: Page;
  context: BrowserContext;
  name: string;
  expected: Map<string, number>;
  codes: Set<string>;
};

/** Plays sequences in a new window until one fails. Returns how many it has played. */
async function playWindow(
  { browser, service }: Campaign,
  day: Day,
  seeds: number[],
  hasTime: () => boolean,
): Promise<number> {
  const [first = 0] = seeds;
  const name = `Tired ${first}`;
  const { page, context, faults } = await openConsole(browser, service.url, { width: 1280 });
  let played = 0;
  try {
    await inTurn(() => setUp(page, context, name)).catch(async (error: unknown) => {
      const shown = await page.locator('body').innerText();
      throw new Error(`The window does not open. It shows: ${shown}`, { cause: error });
    });
    const station: Station = { page, context, name, expected: new Map(), codes: new Set() };
    for (const seed of seeds) {
      if (!hasTime()) break;
      played += 1;
      const failure = await playSequence(service, station, seed).catch(textOf);
      const found = [failure, ...faults].filter(Boolean).join('\n');
      day.played += 1;
      if (found === '') continue;
      day.failures.push(`Sequence ${seed} of the window that began with ${first}: ${found}`);
      process.stdout.write(`${day.failures.at(-1) ?? ''}\n`);
      break;
    }
  } catch (error) {
    day.failures.push(`Window ${first}: ${textOf(error)}`);
    process.stdout.write(`${day.failures.at(-1) ?? ''}\n`);
  } finally {
    await context.close();
  }
  return Math.max(played, 1);
}

const textOf = (error: unknown): string =>
  error instanceof Error
    ? [error.message, error.cause].filter(Boolean).map(String).join('\n')
    : String(error);

let lastSetUp: Promise<unknown> = Promise.resolve();

/** The service compares few passwords at once. All stations of a warehouse do not log in at the same moment. */
function inTurn(setUpStation: () => Promise<void>): Promise<void> {
  const turn = lastSetUp.then(setUpStation);
  lastSetUp = turn.catch(() => undefined);
  return turn;
}

/** One of the scanners adds a prefix and a suffix. For the others they change nothing. */
async function setUp(page: Page, context: BrowserContext, name: string): Promise<void> {
  const device = { labels: 'off', hasSound: false, language: 'en', prefix: '~', suffix: '#!', isNamed: true };
  const stored = JSON.stringify(JSON.stringify({ ...device, station: name }));
  await context.addInitScript(`globalThis.localStorage?.setItem("crossdock-device", ${stored})`);
  await page.reload();
  await logIn(page, ACCOUNT.username, ACCOUNT.password);
  await page.locator('.workplace').waitFor();
  // A browser that opens the console for the first time has nothing yet for a reload without a connection.
  await page.evaluate('navigator.serviceWorker.ready');
}

/** Returns what differs between the work of the person and what is stored, or an empty text. */
async function playSequence(service: Service, station: Station, seed: number): Promise<string> {
  const { page, context, expected, codes } = station;
  const worker = makeWorker({
    page,
    seed,
    account: ACCOUNT,
    codes,
    onOffline: (isOffline) => context.setOffline(isOffline),
  });
  const inContext = (text: string) => `${worker.log.join('; ')}. ${text}`;
  try {
    for (let action = 0; action < ACTIONS; action += 1) await worker.act();
    await worker.finish();
    await untilSent(page);
  } catch (error) {
    return inContext(textOf(error));
  }
  const attention = (await page.getByTestId('attention').allTextContents()).join(' ');
  for (const [code, pounds] of worker.weighed) if (!attention.includes(code)) expected.set(code, pounds);
  const wanted = JSON.stringify([...expected].sort());
  const stored = JSON.stringify(await storedBy(service, station.name));
  return stored === wanted ? '' : inContext(`Expected ${wanted}, found ${stored}`);
}

/** After failures the sender waits for up to 30 seconds. */
async function untilSent(page: Page): Promise<void> {
  const sent = page.getByTestId('queue').filter({ hasText: /^Sent$/ });
  await sent.waitFor({ timeout: 60_000 }).catch(async (error: unknown) => {
    const shown = await page.locator('.notices, dialog[open], [data-testid=queue]').allTextContents();
    throw new Error(`Not sent: ${shown.join(' | ')}`, { cause: error });
  });
}

/** Everything that the station has received, whatever it is called, with the weight of each package. */
async function storedBy({ owner }: Service, station: string): Promise<(string | number)[][]> {
  const { rows } = await owner.query<{ number: string; weights: string[] }>(
    `select p.tracking_number as number, array_agg(p.weight_lb::text) as weights
     from packages p
     where p.tenant_id = $1 and p.tracking_key in (
       select parcel_key from scans where tenant_id = $1 and station = $2 and kind = 'receive')
     group by 1 order by 1`,
    [DEMO.tenants.demo, station],
  );
  return rows.map(({ number, weights }) => [number, ...weights.map(Number)]).sort();
}
