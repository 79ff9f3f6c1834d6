import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { faultOf, lastDays, receivedPer } from '../../../console/src/office/pages/reports/periods.js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { findingsOf, logIn } from '../../support/console/browser.js';
import { consoleSuite } from '../../support/console/suite.js';
import { choose, task } from '../trial/trial.js';

const suite = consoleSuite();
const { open, runs, service } = suite;
const NOW_MS = Date.parse('2026-11-21T23:59:59Z');

const day = (date: string, count: number, weight: number) => ({
  date,
  count,
  weight,
  count_before: 1,
  weight_before: 0.1,
});

test('weeks begin on Monday, and their weights add up exactly', () => {
  // A Sunday, and the Monday and Tuesday after it.
  const days = [day('2026-11-22', 1, 0.1), day('2026-11-23', 2, 0.1), day('2026-11-24', 3, 0.2)];
  expect(receivedPer('week', days)).toEqual([
    { start: '2026-11-22', count: 1, weight: 0.1, countBefore: 1, weightBefore: 0.1 },
    { start: '2026-11-23', count: 5, weight: 0.3, countBefore: 2, weightBefore: 0.2 },
  ]);
  expect(receivedPer('day', days).map(({ start }) => start)).toEqual([
    '2026-11-22',
    '2026-11-23',
    '2026-11-24',
  ]);
});

test('a period has at most 31 days, and its days are those of UTC', () => {
  expect(lastDays(7, NOW_MS)).toEqual({ from: '2026-11-15', to: '2026-11-21' });
  expect(faultOf('2026-01-01', '2026-01-31')).toBe(undefined);
  expect(faultOf('2026-01-01', '2026-02-01')).toBe('tooLong');
  expect(faultOf('2026-01-02', '2026-01-01')).toBe('reversed');
});

task(suite, {
  title: 'finds what was received per courier in the last 31 days, and saves it as a file',
  user: 'manager',
  most: 4,
  work: async (page) => {
    await choose(page, 'Reports');
    await page.getByLabel('Last', { exact: true }).selectOption('31');
    const { from, to } = lastDays(31);
    await page.waitForURL(`**/console/reports?from=${from}&to=${to}`);
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export CSV Received per courier' }).click();
    const file = await saved;
    expect(file.suggestedFilename()).toBe(`received-per-courier-${from}-${to}.csv`);
    const lines = (await readFile(await file.path(), 'utf8')).replace('\uFEFF', '').trim().split(/\r?\n/);
    const { body } = await service().call('getPackageStatistics', { as: 'manager', query: { from, to } });
    expect(lines[0]).toBe('Courier,Received,A week before,"Weight, lb"');
    expect(lines).toHaveLength(1 + body['data'].couriers.length);
  },
});

runs('Reports say that a period is too long, have no finding of axe, and fit on a phone', async () => {
  for (const [width, colorScheme, locale] of [
    [1280, 'light', 'en-US'],
    [390, 'dark', 'es-ES'],
  ] as const) {
    const { page } = await open({ width, colorScheme, locale, isQuiet: false });
    await logIn(page, 'admin', DEMO.password);
    await page.locator('.workplace').waitFor();
    const { from, to } = lastDays(31);
    await page.goto(`${service().url}/console/reports?from=${from}&to=${to}&by=week`);
    await page.getByTestId('reports').waitFor();
    expect(await findingsOf(page)).toEqual([]);
    expect(await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')).toBe(false);
    await page.goto(`${service().url}/console/reports?from=2026-01-01&to=2026-03-31`);
    await page.getByText(locale === 'es-ES' ? '31 días como máximo' : 'at most 31 days').waitFor();
  }
});
