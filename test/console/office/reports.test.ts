import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { csvOf } from '../../../console/src/office/list/csv.js';
import {
  faultOf,
  lastDayOf,
  lastWeek,
  receivedPer,
} from '../../../console/src/office/pages/reports/periods.js';
import { lastDays } from '../../../console/src/ui/data/days.js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { findingsOf, logIn } from '../../support/console/browser.js';
import { savedFile } from '../../support/console/saved-file.js';
import { consoleSuite } from '../../support/console/suite.js';
import { eventually } from '../../support/receivers/webhooks.js';
import { choose, task } from '../trial/trial.js';

const suite = consoleSuite();
const { atWork, it, open, runs, service } = suite;
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

test('the last week is Monday to Sunday before the present one, and a week ends with its period', () => {
  // A Saturday, a Sunday and a Monday.
  const weeks = ['2026-11-21', '2026-11-22', '2026-11-23'].map((each) =>
    lastWeek(Date.parse(`${each}T12:00:00Z`)),
  );
  expect(weeks).toEqual([
    { from: '2026-11-09', to: '2026-11-15' },
    { from: '2026-11-09', to: '2026-11-15' },
    { from: '2026-11-16', to: '2026-11-22' },
  ]);
  expect([
    lastDayOf('day', '2026-11-18', '2026-11-30'),
    lastDayOf('week', '2026-11-18', '2026-11-30'),
    lastDayOf('week', '2026-11-18', '2026-11-20'),
  ]).toEqual(['2026-11-18', '2026-11-22', '2026-11-20']);
});

test('numbers of a file are numbers also below zero, and a text is no formula', () => {
  type Row = { name: string; change: number };
  const file = csvOf<Row>(
    [
      { title: 'Name', text: ({ name }) => name },
      { title: 'Change, %', isNumber: true, text: ({ change }) => change },
    ],
    [
      { name: '-1+1', change: -12.5 },
      { name: '-7', change: 3 },
    ],
  );
  expect(file).toBe('\uFEFFName,"Change, %"\r\n\'-1+1,-12.5\r\n\'-7,3\r\n');
});

it(
  'a report leads to the parcels, couriers and users that it counts',
  async (page) => {
    await page.goto(`${service().url}/console/reports`);
    await page.getByLabel('Last', { exact: true }).selectOption('week');
    const { from, to } = lastWeek();
    await page.waitForURL(`**/console/reports?from=${from}&to=${to}`);
    expect(await page.getByLabel('Last', { exact: true }).inputValue()).toBe('week');
    const month = lastDays(31);
    const query = { from: month.from, to: month.to };
    const { body } = await service().call('getPackageStatistics', { as: 'admin', query });
    await page.goto(`${service().url}/console/reports?from=${month.from}&to=${month.to}&by=week`);
    const section = (name: string) => page.getByRole('region', { name, exact: true });
    const hrefs = async (name: string) =>
      section(name)
        .getByRole('link')
        .evaluateAll((links) => links.map((link) => link.getAttribute('href')));
    await section('Received per courier').waitFor();
    const first = body['data'].couriers.find((row: { courier_id: string | null }) => row.courier_id);
    expect(await hrefs('Received per courier')).toEqual(
      expect.arrayContaining([
        `/console/couriers/${first.courier_code}`,
        `/console/parcels?from=${month.from}&to=${month.to}&courier=${first.courier_id}`,
      ]),
    );
    const [week] = await hrefs('Received per week');
    expect(week).toBe(`/console/parcels?from=${month.from}&to=${lastDayOf('week', month.from, month.to)}`);
    const status = body['data'].statuses[0];
    expect((await hrefs('What became of them'))[0]).toBe(
      `/console/parcels?from=${month.from}&to=${month.to}&status=${status.status}`,
    );
    expect((await hrefs('How long parcels have been in the warehouse')).slice(0, 2)).toEqual([
      '/console/parcels?age=0',
      '/console/parcels?age=2',
    ]);
    // The change is a number in the file, also below zero.
    const { bytes } = await savedFile(page, () =>
      page.getByRole('button', { name: 'Export CSV Received per week' }).click(),
    );
    const changes = bytes
      .toString('utf8')
      .trim()
      .split(/\r?\n/)
      .map((line) => line.replaceAll(/"[^"]*"/g, (cell) => cell.replace(',', ';')).split(',')[3]);
    expect(changes[0]).toBe('"Change; %"');
    expect(changes.filter((change) => !/^(-?\d+(\.\d)?)?$/.test(String(change))).slice(1)).toEqual([]);
    await page.goto(`${service().url}/console/reports?from=${month.from}&to=${month.to}&report=people`);
    await section('All work per person').getByRole('link', { name: 'warehouse' }).click();
    await page.getByRole('complementary', { name: 'warehouse' }).waitFor();
  },
  'admin',
);

runs(
  'A chart that is wider than the screen shows at its edge that it goes on, and scrolls by keys',
  async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await atWork({ user: 'admin', width: 390, colorScheme, isQuiet: false, device: {} });
      const { from, to } = lastDays(31);
      await page.goto(`${service().url}/console/reports?from=${from}&to=${to}`);
      const chart = page.getByRole('group', { name: 'Received per day' });
      await chart.scrollIntoViewIfNeeded();
      // A pixel of the first and of the last column, above all bars.
      const edges = async () => {
        await chart.scrollIntoViewIfNeeded();
        const { x, y, width } = (await chart.boundingBox()) ?? { x: 0, y: 0, width: 0 };
        const pixel = (left: number) =>
          page.screenshot({ clip: { x: Math.round(left), y: Math.round(y) + 3, width: 1, height: 1 } });
        return [(await pixel(x + 1)).toString('base64'), (await pixel(x + width - 3)).toString('base64')];
      };
      const [start, more] = await edges();
      expect(start).not.toBe(more);
      await chart.focus();
      for (let press = 0; press < 15; press += 1) await page.keyboard.press('ArrowRight');
      // Scrolling by keys is smooth.
      const isAtEnd = () =>
        page.evaluate<boolean>(
          `(([chart]) => chart.scrollLeft > 0 && chart.scrollLeft + chart.clientWidth >= chart.scrollWidth - 1)(document.querySelectorAll('.chart'))`,
        );
      await eventually(isAtEnd);
      const [before, end] = await edges();
      expect(before).not.toBe(start);
      expect(end).toBe(start);
    }
  },
);

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
