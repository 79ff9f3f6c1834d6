import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { makeBilling } from '../../../support/builders/billing.js';
import { insertBill } from '../../../support/builders/bills.js';
import { savedFile } from '../../../support/console/saved-file.js';
import { consoleSuite } from '../../../support/console/suite.js';

const { it, service } = consoleSuite();

const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

/** Inserts a published bill of a new courier that was due so many days ago. Returns the courier's code. */
async function lateCourier(amount: string, daysLate: number): Promise<string> {
  const courierId = await makeBilling(service()).newCourier();
  const { id } = await insertBill(service().owner, {
    courierId,
    amount,
    start: '2024-01-01',
    end: '2024-01-31',
  });
  await service().owner.query(
    `update bills set status = 'published', published_at = now() - interval '1 year', due_date = $2 where id = $1`,
    [id, day(-daysLate)],
  );
  return courierId.slice(0, 8);
}

const rowOf = (page: Page, code: string) =>
  page.getByRole('table', { name: 'Accounts' }).getByRole('row', { name: new RegExp(`Courier ${code}`) });

it(
  'what couriers owe is listed by age, filtered by overdue amounts, and leads to the bills and the statement',
  async (page) => {
    const late = await lateCourier('70000.50', 45);
    const due = await lateCourier('80.25', -3);
    await page.goto(`${service().url}/console/bills`);
    await page.getByRole('link', { name: 'Accounts' }).click();
    // The largest overdue amount comes first. Columns: courier, to pay, overdue, unpaid bills, five ages, oldest due date.
    await rowOf(page, late).waitFor();
    const cells = async (code: string) => rowOf(page, code).getByRole('cell').allTextContents();
    expect((await cells(late)).slice(1, 9)).toEqual([
      '70,000.50',
      '70,000.50',
      '1',
      '',
      '',
      '70,000.50',
      '',
      '',
    ]);
    expect((await cells(due)).slice(1, 9)).toEqual(['80.25', '', '1', '80.25', '', '', '', '']);
    const [first] = await page.locator('.grid tbody tr').allTextContents();
    expect(first).toContain(`Courier ${late}`);
    await page.getByRole('combobox', { name: 'Overdue' }).selectOption({ label: 'Yes' });
    await rowOf(page, due).waitFor({ state: 'detached' });
    await page.waitForURL('**/console/bills/accounts?overdue=true');

    await rowOf(page, late).getByRole('link', { name: '70,000.50' }).nth(1).click();
    await page.waitForURL('**/console/bills?courier=*&overdue=true');
    await page.getByText('Records: 1', { exact: true }).waitFor();
    await page.getByRole('table', { name: 'Bills' }).getByText('Overdue').waitFor();
    await page.goBack();
    await rowOf(page, late)
      .getByRole('link', { name: /^Courier / })
      .click();
    await page.waitForURL(`**/console/couriers/${late}/statement`);
  },
  'manager',
);

it(
  'the statement of a courier leads to its bills, and is saved as a file with numbers',
  async (page) => {
    await page.goto(`${service().url}/console/couriers/IEX/statement`);
    const table = page.getByRole('table', { name: 'Statement' });
    await table.waitFor();
    const { name, bytes } = await savedFile(page, () =>
      page.getByRole('button', { name: 'Export CSV' }).click(),
    );
    expect(name).toMatch(/^statement-\d{4}-01-01-\d{4}-\d\d-\d\d\.csv$/);
    const [, ...rows] = bytes.toString('utf8').trim().split('\r\n');
    const from = `${new Date().getUTCFullYear()}-01-01`;
    const query = { courier_id: DEMO.couriers.IEX, from, to: new Date().toISOString().slice(0, 10) };
    const { body } = await service().call('getCourierStatement', { as: 'manager', query });
    const { movements } = body['data'];
    expect(rows.map((row) => row.split(',').slice(-2).map(Number))).toEqual(
      movements.map(({ amount, balance }: Record<string, number>) => [amount, balance]),
    );
    expect(rows.length).toBeGreaterThan(2);
    await table.getByRole('link', { name: movements[0].invoice_number }).first().click();
    await page.getByRole('heading', { level: 1, name: new RegExp(movements[0].invoice_number) }).waitFor();
  },
  'manager',
);
