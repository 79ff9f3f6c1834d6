import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { DEMO } from '../../src/development/demo/seed.js';
import { chromiumPath, launchChromium, logIn, openConsole } from '../support/console/browser.js';
import { makeWorker, type Worker } from '../support/console/tired-worker.js';
import { rounds } from '../support/harness/effort.js';
import { titleWith } from '../support/harness/programs.js';
import { startService, type Service } from '../support/service/service.js';

const runs = chromiumPath ? test : test.skip;
const SEQUENCES = Number(process.env['TIRED_SEQUENCES'] ?? rounds(24, 10_000));
const FIRST_SEED = Number(process.env['TIRED_SEED'] ?? 1);
const ACTIONS = 12;
/** A browser window for so many sequences. */
const PER_WINDOW = 20;
const LIMIT_MS = 120_000 + SEQUENCES * 20_000;

let service: Service;
let browser: Browser;

beforeAll(async () => {
  if (!chromiumPath) return;
  service = await startService();
  browser = await launchChromium();
}, LIMIT_MS);

afterAll(async () => {
  if (!chromiumPath) return;
  await browser.close();
  await service.stop();
});

const AFFIXES = `localStorage.setItem(
  'crossdock-device',
  '{"labels":"off","hasSound":false,"language":"en","prefix":"~","suffix":"#!"}',
)`;

type Stored = { number: string; weights: number[] };

/** Everything that the station has received in the sequence, whatever it is called. */
async function storedSince(start: string): Promise<Stored[]> {
  const { rows } = await service.owner.query<{ number: string; weights: string[] }>(
    `select tracking_number as number, array_agg(weight_lb::text) as weights from packages
     where tenant_id = $1 and id > $2::uuid group by 1 order by 1`,
    [DEMO.tenants.demo, start],
  );
  return rows.map(({ number, weights }) => ({ number, weights: weights.map(Number) }));
}

/** Ids ascend with time, so later packages have larger ones. */
const lastPackage = async () => {
  const { rows } = await service.owner.query<{ id: string }>('select max(id::text) as id from packages');
  return rows[0]?.id ?? '';
};

/** Compares what the person did with what is stored: nothing is lost, doubled, cut or weighed wrong. */
async function check(
  { weighed, codes, log }: Worker,
  page: Page,
  start: string,
  seed: number,
): Promise<void> {
  const sent = page.getByTestId('queue').filter({ hasText: /^Sent$/ });
  // After failures the sender waits for up to 30 seconds.
  await sent.waitFor({ timeout: 60_000 }).catch(async (error: unknown) => {
    const shown = await page.locator('.notices, dialog[open], [data-testid=queue]').allTextContents();
    throw new Error(`Sequence ${seed}: ${log.join('; ')}. Not sent: ${shown.join(' | ')}`, { cause: error });
  });
  const attention = await page.getByTestId('attention').allTextContents();
  const stored = await storedSince(start);
  const shown = [...weighed.keys()].filter((code) => attention.some((text) => text.includes(code)));
  const expected = [...weighed].filter(([code]) => !shown.includes(code)).sort();
  const found = stored.map(({ number, weights }) => [number, ...weights]);
  const foreign = stored.filter(({ number }) => !codes.has(number));
  // The whole sequence, which the differences that Jest prints would leave out.
  const failure = `Sequence ${seed}: ${log.join('; ')}. Expected ${JSON.stringify(expected)}, found ${JSON.stringify(found)}`;
  const isRight = JSON.stringify(found) === JSON.stringify(expected) && foreign.length === 0;
  expect(isRight ? '' : failure).toBe('');
}

runs(
  titleWith(
    `a tired day: after each of ${SEQUENCES} random sequences, every parcel that was scanned and weighed is stored once with that weight`,
    [chromiumPath ? undefined : 'chromium'],
  ),
  async () => {
    for (let first = 0; first < SEQUENCES; first += PER_WINDOW) {
      const { page, context, faults } = await openConsole(browser, service.url, {
        width: 1280,
        isQuiet: true,
      });
      // One of the scanners adds these characters. For the others they change nothing.
      await context.addInitScript(AFFIXES);
      await page.reload();
      await logIn(page, 'warehouse', DEMO.password);
      await page.locator('.workplace').waitFor();
      for (let index = first; index < Math.min(first + PER_WINDOW, SEQUENCES); index += 1) {
        const seed = FIRST_SEED + index;
        const start = await lastPackage();
        const worker = makeWorker({
          page,
          seed,
          password: DEMO.password,
          onOffline: (isOffline) => context.setOffline(isOffline),
        });
        try {
          for (let action = 0; action < ACTIONS; action += 1) await worker.act();
          await worker.finish();
        } catch (error) {
          throw new Error(`Sequence ${seed}: ${worker.log.join('; ')}`, { cause: error });
        }
        await check(worker, page, start, seed);
      }
      await context.close();
      expect(faults).toEqual([]);
    }
  },
  LIMIT_MS,
);
