import { expect } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { findingsOf } from '../../../support/console/browser.js';
import { savedFile } from '../../../support/console/saved-file.js';
import { consoleSuite } from '../../../support/console/suite.js';

const suite = consoleSuite();
const { atWork, it, runs, service } = suite;

/** The month before the present one, in UTC. */
function lastMonth(): string {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1)).toISOString().slice(0, 7);
}

it(
  'what last month would have cost is calculated before the rates are saved, and saves nothing',
  async (page) => {
    const courier = { courier_id: DEMO.couriers.IEX };
    const rates = [{ startweight: 0, endweight: 3, fee: 2.5 }];
    const stored = async () =>
      (await service().call('getCourierRates', { as: 'manager', query: courier })).body['data'].courier
        .specific_rates;
    const before = await stored();
    const { body } = await service().call('previewRates', {
      as: 'manager',
      body: { ...courier, month: lastMonth(), rates },
    });
    const { packages, difference, gaps } = body['data'];
    expect(packages).toBeGreaterThan(0);
    expect(gaps).toMatchObject([{ above: 3, below: null }]);

    await page.goto(`${service().url}/console/couriers/IEX/rates`);
    const preview = page.getByTestId('rate-preview');
    await preview.getByRole('heading', { name: 'What would last month have cost?' }).waitFor();
    while ((await page.getByRole('button', { name: /^Remove/ }).count()) > 1)
      await page
        .getByRole('button', { name: /^Remove/ })
        .last()
        .click();
    for (const [field, value] of [
      ['From (lb)', '0'],
      ['To (lb)', '3'],
      ['Fee (USD)', 'x'],
    ] as const)
      await page.getByLabel(`${field}, row 1`).fill(value);
    await preview.getByRole('button', { name: 'Calculate' }).click();
    await preview.getByRole('alert').getByText('Row 1: enter numbers').waitFor();
    await page.getByLabel('Fee (USD), row 1').fill('2,5');
    await preview.getByRole('button', { name: 'Calculate' }).click();
    const signed = new Intl.NumberFormat('en', {
      minimumFractionDigits: 2,
      maximumFractionDigits: 2,
      signDisplay: 'exceptZero',
    }).format(difference);
    await preview.getByText(`${signed} USD`).waitFor();
    await preview.getByText('No tier covers more than 3 lb.').waitFor();
    const { name, bytes } = await savedFile(page, () =>
      preview.getByRole('button', { name: 'Export CSV' }).click(),
    );
    expect(name).toBe(`rates-preview-${lastMonth()}.csv`);
    const lines = bytes.toString('utf8').replace('\uFEFF', '').trim().split(/\r?\n/);
    expect(lines[0]).toBe('Tiers,Fee (USD),Packages,Weight (lb),Now (USD),Then (USD)');
    expect(lines[1]).toMatch(/^0 to 3 lb,2\.5,/);
    // Another tier makes the result old.
    await page.getByLabel('Fee (USD), row 1').fill('2');
    await preview.getByText(`${signed} USD`).waitFor({ state: 'detached' });
    expect(await stored()).toEqual(before);
  },
  'manager',
);

runs('The preview of the default rates has no finding of axe, and fits on a phone', async () => {
  for (const [width, colorScheme, locale] of [
    [1280, 'light', 'en-US'],
    [390, 'dark', 'es-ES'],
  ] as const) {
    const page = await atWork({ user: 'admin', width, colorScheme, locale, isQuiet: false, device: {} });
    await page.goto(`${service().url}/console/rates`);
    const isSpanish = locale === 'es-ES';
    await page.getByRole('button', { name: isSpanish ? 'Calcular' : 'Calculate' }).click();
    await page.getByText(isSpanish ? 'Con estas tarifas' : 'By these rates').waitFor();
    expect(await findingsOf(page)).toEqual([]);
    expect(await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')).toBe(false);
  }
});
