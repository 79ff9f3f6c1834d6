import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { chromiumPath, launchShell } from '../support/console/browser.js';
import { playTiredDay } from '../support/console/tired-day.js';
import { rounds } from '../support/harness/effort.js';
import { titleWith } from '../support/harness/programs.js';
import { startService, type Service } from '../support/service/service.js';

const runs = chromiumPath ? test : test.skip;
const numberOf = (name: string, fallback: number) => Number(process.env[name] ?? fallback);

// npm run tired-day sets them.
const SEQUENCES = numberOf('TIRED_SEQUENCES', rounds(24, 400));
const FIRST_SEED = numberOf('TIRED_SEED', 1);
const WINDOWS = numberOf('TIRED_WINDOWS', 4);
const BUDGET_MS = numberOf('TIRED_MINUTES', 60) * 60_000;
const LIMIT_MS = BUDGET_MS + 300_000;

let service: Service;
let browser: Browser;

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

runs(
  titleWith(
    `a tired day: after each of ${SEQUENCES} random sequences, every parcel that was scanned and weighed is stored once with that weight`,
    [chromiumPath ? undefined : 'chromium'],
  ),
  async () => {
    const { played, failures } = await playTiredDay({
      service,
      browser,
      sequences: SEQUENCES,
      firstSeed: FIRST_SEED,
      windows: WINDOWS,
      budgetMs: BUDGET_MS,
    });
    expect(failures).toEqual([]);
    expect(played).toBeGreaterThan(0);
  },
  LIMIT_MS,
);
