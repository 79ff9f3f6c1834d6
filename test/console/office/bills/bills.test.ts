import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { consoleSuite } from '../../../support/console/suite.js';

const { it, service } = consoleSuite();

const IEX = DEMO.couriers.IEX;
const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const toasts = (page: Page) => page.getByTestId('toasts');
const money = (value: number) =>
  new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 }).format(value);

const billOf = async (id: string) => {
  const { body } = await service().call('getCourierBill', { as: 'manager', query: { bill_id: id } });
  return body['data'];
};

const openBill = async (page: Page, id: string) => {
  await page.goto(`${service().url}/console/bills/${id}`);
  await page.getByRole('heading', { name: 'Lines' }).waitFor();
};

it(
  'the list filters by courier, status and period, and leads to a bill with its files',
  async (page) => {
    await page.goto(`${service().url}/console/bills`);
    await page.getByText('Records: 3', { exact: true }).waitFor();
    await page.getByRole('combobox', { name: 'Status' }).selectOption({ label: 'To pay' });
    await page.getByText('Records: 1', { exact: true }).waitFor();
    await page.getByLabel('Period from').fill(day(-5));
    await page.getByText('Nothing matches the search and the filters').waitFor();
    await page.getByRole('button', { name: /Period from: / }).click();
    await page.getByRole('link', { name: 'INV-000002' }).click();
    await page.getByRole('heading', { level: 1, name: 'INV-000002 · Island Express' }).waitFor();
    for (const format of ['PDF', 'CSV']) {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: format }).click(),
      ]);
      expect(download.suggestedFilename()).toBe(`INV-000002.${format.toLowerCase()}`);
    }
    await page.goBack();
    await page.waitForURL('**/console/bills?status=published');
  },
  'manager',
);

it(
  'an adjustment of a draft is added, undone and removed, and an unclear amount is refused',
  async (page) => {
    await openBill(page, DEMO.bills.draft);
    const { total_amount: before } = await billOf(DEMO.bills.draft);
    const dialog = page.getByRole('dialog', { name: 'Add an adjustment' });
    const add = async (amount: string) => {
      await dialog.getByLabel('Amount (USD)').fill(amount);
      await dialog.getByRole('button', { name: 'Add an adjustment' }).click();
    };
    await page.getByRole('button', { name: 'Add an adjustment' }).click();
    await dialog.getByLabel('Reason').fill('A parcel that arrived wet');
    // One thousand and five hundred in English, one and a half in Spanish.
    await add('1,500');
    await dialog.getByRole('alert').getByText('Enter an amount').waitFor();
    await add('-1,50');
    await dialog.waitFor({ state: 'detached' });
    const line = page.getByRole('row', { name: /A parcel that arrived wet/ });
    await line.getByText('-1.50').waitFor();
    expect((await billOf(DEMO.bills.draft)).subtotal).toBeCloseTo((before / 107) * 100 - 1.5, 1);
    await toasts(page).getByRole('button', { name: 'Undo' }).click();
    await line.waitFor({ state: 'detached' });
    expect((await billOf(DEMO.bills.draft)).total_amount).toBe(before);
    await page.getByRole('button', { name: 'Add an adjustment' }).click();
    await dialog.getByLabel('Reason').fill('Repacking');
    await add('4');
    await page.getByRole('button', { name: 'Remove Repacking' }).click();
    await toasts(page).getByText('The adjustment of 4.00 USD is removed.').waitFor();
    expect((await billOf(DEMO.bills.draft)).total_amount).toBe(before);
  },
  'manager',
);

it(
  'a payment above the balance is refused at its field, and one that is voided stays on the bill',
  async (page) => {
    await openBill(page, DEMO.bills.published);
    const { balance } = await billOf(DEMO.bills.published);
    await page.getByRole('button', { name: 'Record a payment' }).click();
    const dialog = page.getByRole('dialog', { name: 'Record a payment' });
    await dialog.getByText(`Island Express owes ${money(balance)} USD on INV-000002.`).waitFor();
    const amount = dialog.getByLabel('Amount (USD)');
    expect(await amount.inputValue()).toBe(balance.toFixed(2));
    await amount.fill((balance + 1).toFixed(2));
    await dialog.getByRole('button', { name: 'Record a payment' }).click();
    await dialog.locator('[name=amount][aria-invalid=true]').waitFor();
    await amount.fill('10.5');
    await dialog.getByLabel(/^Reference/).fill('TRF-77');
    await dialog.getByRole('combobox', { name: 'Method' }).selectOption({ label: 'Cash' });
    await dialog.getByRole('button', { name: 'Record a payment' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page
      .getByTestId('balance')
      .getByText(money(balance - 10.5))
      .waitFor();
    await page.getByRole('button', { name: 'Void 10.50' }).click();
    const question = page.getByRole('dialog', { name: 'Void the payment' });
    await question.getByText('The payment of 10.50 USD by Island Express no longer counts').waitFor();
    await question.getByLabel('Reason').fill('The transfer was returned.');
    await question.getByRole('button', { name: 'Void 10.50 USD' }).click();
    await page
      .getByRole('row', { name: /TRF-77/ })
      .getByText('The transfer was returned.')
      .waitFor();
    await page.getByTestId('balance').getByText(money(balance), { exact: true }).waitFor();
  },
  'manager',
);

it(
  'the month of a courier names what is left out, and a draft of the rest is published or deleted after a question',
  async (page) => {
    await page.goto(`${service().url}/console/bills/month?from=${day(-90)}&to=${day(0)}`);
    await page.getByRole('combobox', { name: 'Courier' }).selectOption({ label: 'Island Express' });
    const { body } = await service().call('getBillingReconciliation', {
      as: 'manager',
      query: { courier_id: IEX, from: day(-90), to: day(0) },
    });
    const { unbilled, drafts } = body['data'].summary;
    const cells = (name: string) => page.getByRole('row', { name }).getByRole('cell').allTextContents();
    await page.getByText('On no bill yet: in the draft').waitFor();
    expect((await cells('On no bill yet'))[1]).toBe(String(unbilled.packages));
    expect((await cells('On another draft'))[1]).toBe(String(drafts.packages));
    await page.getByRole('heading', { name: 'What needs a look' }).waitFor();
    await page
      .getByRole('table', { name: 'What needs a look' })
      .getByText('Not billed yet')
      .first()
      .waitFor();

    await page.getByRole('button', { name: 'Draft the bill' }).click();
    const dialog = page.getByRole('dialog', { name: 'Draft the bill' });
    await dialog.getByText(`on no bill yet: ${unbilled.packages}.`).waitFor();
    await dialog.getByLabel('Service').fill('Air standard');
    await dialog.getByLabel(/^Tax in percent/).fill('101');
    await dialog.getByRole('button', { name: 'Draft the bill' }).click();
    await dialog.locator('[name=tax_rate][aria-invalid=true]').waitFor();
    await dialog.getByLabel(/^Tax in percent/).fill('7,5');
    await dialog.getByRole('button', { name: 'Draft the bill' }).click();
    await page.getByRole('heading', { level: 1, name: /^DRAFT-.* · Island Express$/ }).waitFor();
    const id = (await page.evaluate<string>('location.pathname')).split('/').at(-1) ?? '';
    const draft = await billOf(id);
    expect(draft).toMatchObject({ total_packages: unbilled.packages, tax_rate: 7.5, status: 'draft' });

    await page.getByRole('button', { name: 'Delete the draft' }).click();
    const question = page.getByRole('dialog', { name: 'Delete the draft of Island Express' });
    await question.getByText(`${money(draft.total_amount)} USD`).waitFor();
    // The focus is on the harmless button.
    await page.keyboard.press('Enter');
    await question.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Publish' }).click();
    const publish = page.getByRole('dialog', { name: 'Publish the bill of Island Express' });
    await publish.getByText(`Island Express is billed ${money(draft.total_amount)} USD`).waitFor();
    await publish.getByRole('button', { name: `Publish ${money(draft.total_amount)} USD` }).click();
    await page.getByRole('heading', { level: 1, name: 'INV-000003 · Island Express' }).waitFor();
    expect(await page.getByRole('button', { name: 'Delete the draft' }).count()).toBe(0);

    await openBill(page, DEMO.bills.draft);
    await page.getByRole('button', { name: 'Delete the draft' }).click();
    await question.getByRole('button', { name: 'Delete the draft' }).click();
    await page.waitForURL('**/console/bills');
    await page.getByText('Records: 3', { exact: true }).waitFor();
    await page.goto(`${service().url}/console/bills/${DEMO.bills.draft}`);
    await page.getByRole('heading', { name: 'This bill does not exist' }).waitFor();
  },
  'manager',
);
