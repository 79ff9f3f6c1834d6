import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { consoleSuite } from '../../support/console/suite.js';

// Bills that open, this month so far, and the statement.

const { it, service } = consoleSuite();

const open = (page: Page, path: string) => page.evaluate(`location.hash = '#/${path}'`);

it(
  'a bill opens with its lines, which lead to their parcels, and its payments',
  async (page) => {
    const { body } = await service().call('getCourierBill', {
      as: 'iex',
      query: { bill_id: DEMO.bills.paid, limit: 100 },
    });
    const { invoice_number, lines, payments, total_amount } = body['data'];
    const [line] = lines;
    await open(page, 'bills');
    await page.getByRole('link', { name: invoice_number }).click();
    await page.getByRole('heading', { level: 1, name: `Bill ${invoice_number}` }).waitFor();
    const money = (amount: number) =>
      new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 }).format(amount);
    await page.getByRole('region', { name: 'Sums' }).getByText(money(total_amount)).first().waitFor();
    const shown = page.getByRole('region', { name: 'Lines' }).locator('tbody tr');
    expect(await shown.count()).toBe(Math.min(100, lines.length));
    expect(payments.length).toBeGreaterThan(0);
    expect(await page.getByRole('region', { name: 'Payments' }).locator('tbody tr').count()).toBe(
      payments.length,
    );
    await shown.first().getByRole('link', { name: line.house_number }).click();
    await page
      .getByRole('complementary', { name: line.house_number })
      .getByRole('link', { name: invoice_number })
      .waitFor();
    // A draft is not the courier's, and neither is a wrong address.
    await open(page, `bills/${DEMO.bills.draft}`);
    await page.getByRole('alert').waitFor();
    await open(page, 'bills/nonsense');
    await page.getByText('This bill does not exist').waitFor();
  },
  'iex',
);

it(
  'this month so far has the sum of the service, and the statement the age of the debt',
  async (page) => {
    const to = new Date().toISOString().slice(0, 10);
    const start_date = `${to.slice(0, 7)}-01`;
    const preview = await service().call('previewCourierInvoice', {
      as: 'iex',
      body: { courier_id: DEMO.couriers.IEX, start_date, end_date: to },
    });
    const { grand_total, total_packages } = preview.body['data'].summary;
    await open(page, 'bills');
    const figure = (name: string) =>
      page
        .locator('.figure', { hasText: name })
        .locator('dd')
        .textContent()
        .then((text) => Number(text?.replaceAll(',', '')));
    await page.getByRole('link', { name: 'This month' }).click();
    await page.getByRole('heading', { level: 1, name: 'This month' }).waitFor();
    await page.locator('.figure', { hasText: 'So far (USD)' }).waitFor();
    expect(await figure('So far (USD)')).toBeCloseTo(grand_total, 2);
    expect(await figure('Packages')).toBe(total_packages);

    await page.getByRole('link', { name: 'Statement' }).click();
    await page.getByText('More than 90 days').waitFor();
    await page.getByLabel('From').fill('2020-01-01');
    const movements = page.getByRole('region', { name: 'Statement' });
    await movements.getByRole('link').first().click();
    await page.getByRole('heading', { level: 1, name: /^Bill / }).waitFor();
  },
  'iex',
);
