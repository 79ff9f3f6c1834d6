import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { faultOf, receivedPer } from '../../../console/src/office/pages/reports/periods.js';
import { lastDays } from '../../../console/src/ui/data/utc-days.js';
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

task(suite, {
  title: 'finds who shipped how much in the last 31 days, and saves it as a file',
  user: 'manager',
  most: 6,
  prepare: async () => {
    const body = { tracking_number: `REPORT${Date.now()}`, weight: 2 };
    await service().call('receivePackage', { as: 'warehouse', body });
  },
  work: async (page) => {
    await choose(page, 'Reports');
    await page.getByLabel('Last', { exact: true }).selectOption('31');
    await page.getByLabel('Report', { exact: true }).selectOption('people');
    const { from, to } = lastDays(31);
    await page.waitForURL(`**/console/reports?from=${from}&to=${to}&report=people`);
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export CSV All work per person' }).click();
    const file = await saved;
    expect(file.suggestedFilename()).toBe(`work-per-person-${from}-${to}.csv`);
    const lines = (await readFile(await file.path(), 'utf8')).replace('\uFEFF', '').trim().split(/\r?\n/);
    const { body } = await service().call('getWorkStatistics', { as: 'manager', query: { from, to } });
    expect(lines[0]).toBe('User,Name,Role,Received,Weighed,Loaded,Shipped');
    expect(lines).toHaveLength(1 + body['data'].people.length);
    expect(body['data'].people.map(({ username }: { username: string }) => username)).toContain('warehouse');
  },
});

runs('Each report has a chart and the same figures as a table, without a finding of axe', async () => {
  const { from, to } = lastDays(31);
  const { body } = await service().call('getWorkStatistics', { as: 'admin', query: { from, to } });
  const { total } = body['data'];
  for (const [width, colorScheme] of [
    [1280, 'light'],
    [390, 'dark'],
  ] as const) {
    const { page } = await open({ width, colorScheme, isQuiet: false });
    await logIn(page, 'admin', DEMO.password);
    await page.locator('.workplace').waitFor();
    for (const report of ['shipped', 'announced', 'unknown', 'people']) {
      await page.goto(`${service().url}/console/reports?from=${from}&to=${to}&by=week&report=${report}`);
      await page.getByTestId('reports').waitFor();
      if (report !== 'people') {
        await page.locator('.figures dd').first().getByText(String(total[report]), { exact: true }).waitFor();
        expect(await page.locator('[data-testid=reports] .chart').count()).toBe(total[report] > 0 ? 2 : 1);
      }
      expect(await findingsOf(page)).toEqual([]);
      expect(await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')).toBe(false);
    }
  }
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
