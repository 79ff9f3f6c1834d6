import { describe, expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { scan, type } from '../../support/console/browser.js';
import { consoleSuite, expectWord, weightsOf } from '../../support/console/suite.js';
import { until } from '../../support/service/processes.js';

// After failures in a row, the pauses between attempts grow to 30 seconds. A connection that comes back ends them.

const { it, service } = consoleSuite({ worksOffline: true });

const FAILURES = 6;
/** The pause after so many failures in a row takes at least 15 seconds. The pause after one takes at most one. */
const SOON_MS = 8_000;

async function receiveOffline(page: Page, code: string): Promise<void> {
  await page.context().setOffline(true);
  await scan(page, code);
  await expectWord(page, 'WEIGH');
  await type(page, '1');
  await page.keyboard.press('Enter');
  await page.getByTestId('queue').getByText('1 waiting').waitFor();
}

/** Lets the next attempts fail. The connection comes back while each is on its way, or after it. Resolves at the start of the last one. */
async function failAttempts(page: Page, moment: 'during' | 'after'): Promise<void> {
  const comeOnline = () => page.evaluate<unknown>("dispatchEvent(new Event('online'))");
  let attempts = 0;
  await page.route('**/api/ScanBatch.php', async (route) => {
    attempts += 1;
    if (attempts > FAILURES) return route.continue();
    if (moment === 'during') await comeOnline();
    return route.abort('internetdisconnected');
  });
  page.on('requestfailed', () => {
    if (moment === 'after' && attempts < FAILURES) void comeOnline();
  });
  await page.context().setOffline(false);
  await until(() => Promise.resolve(attempts >= FAILURES));
}

describe('scans that wait are sent soon after the connection is back', () => {
  for (const [code, moment, title] of [
    ['BACKONLINE1', 'during', 'also if it comes back while an attempt is on its way, which fails'],
    ['BACKONLINE2', 'after', 'also if the first attempt over it fails'],
  ] as const)
    it(title, async (page) => {
      await receiveOffline(page, code);
      await failAttempts(page, moment);
      await page
        .getByTestId('queue')
        .filter({ hasText: /^Sent$/ })
        .waitFor({ timeout: SOON_MS });
      expect(await weightsOf(service(), code)).toEqual([1]);
    });
});

it('a busy service is asked again after the pause that it names, and then has the scan', async (page) => {
  await receiveOffline(page, 'BACKONLINE3');
  const attempts: number[] = [];
  await page.route('**/api/ScanBatch.php', async (route) => {
    attempts.push(Date.now());
    if (attempts.length > 1) return route.continue();
    const failure = { status: 'error', code: 'overloaded', message: 'The service is overloaded.' };
    return route.fulfill({ status: 503, headers: { 'retry-after': '3' }, json: failure });
  });
  // The network is back without an event, which would end the pause.
  await page.evaluate("addEventListener('online', (event) => event.stopImmediatePropagation(), true)");
  await page.context().setOffline(false);
  await page
    .getByTestId('queue')
    .filter({ hasText: /^Sent$/ })
    .waitFor();
  const [first = 0, second = 0] = attempts;
  expect(second - first).toBeGreaterThanOrEqual(3_000);
  expect(await weightsOf(service(), 'BACKONLINE3')).toEqual([1]);
});
