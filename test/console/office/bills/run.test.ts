import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { makeBilling } from '../../../support/builders/billing.js';
import { findingsOf } from '../../../support/console/browser.js';
import { consoleSuite } from '../../../support/console/suite.js';

const { it, service } = consoleSuite();

/** A step drafts 25, so that a run of all has more than one. */
const COURIERS = 28;
/** Two parcels of 5 lb, 12.00 USD each, and 7.5 percent tax. */
const EACH = 25.8;

/** The month so many months before this one, in UTC. */
const monthBefore = (months: number) => {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months)).toISOString().slice(0, 7);
};

/** Creates couriers with two parcels each in a month. */
async function couriersIn(month: string, many = COURIERS): Promise<string[]> {
  const billing = makeBilling(service());
  const ids: string[] = [];
  for (let index = 0; index < many; index += 1) {
    const id = await billing.newCourier();
    const parcel = { weight: '5', receivedAt: `${month}-15T12:00:00Z` };
    await billing.addPackages(id, [parcel, parcel]);
    ids.push(id);
  }
  return ids;
}

const billsIn = async (month: string, couriers: string[]) => {
  const { rows } = await service().owner.query<{ status: string; usd: number; packages: number }>(
    `select status, total_amount::float as usd, total_packages as packages from bills
     where courier_id = any($1) and to_char(end_date, 'YYYY-MM') = $2`,
    [couriers, month],
  );
  return rows;
};

const totals = async (month: string) => {
  const { body } = await service().call('listBillingRun', { as: 'manager', query: { month, limit: 100 } });
  return body as unknown as {
    data: { unbilled_packages: number; unbilled_amount: number; drafts: { bills: number } }[];
    meta: { total_records: number; totals: { drafts: { bills: number; amount: number } } };
  };
};

const money = (value: number) =>
  new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 }).format(value);

const result = (page: Page) => page.getByTestId('run');
const open = async (page: Page, month: string) => {
  await page.goto(`${service().url}/console/bills/run?month=${month}`);
  await page.getByRole('table', { name: 'Billing run' }).waitFor();
};
const dialogOf = (page: Page, name: RegExp) => page.getByRole('dialog', { name });

/** Opens the dialog of all drafts, and fills it in. */
async function draftAll(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Draft all' }).click();
  const dialog = dialogOf(page, /^Draft /);
  await dialog.getByLabel('Service').fill('Air standard');
  await dialog.getByRole('button', { name: /^Draft bills: / }).click();
  await dialog.waitFor({ state: 'detached' });
}

it(
  'bills the last month of all couriers with at most 12 clicks from Home',
  async (page) => {
    const month = monthBefore(1);
    const couriers = await couriersIn(month);
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    await page.evaluate(
      `globalThis.clicks = 0; addEventListener('click', ({ isTrusted }) => { if (isTrusted) clicks += 1 }, true)`,
    );
    await page.getByRole('navigation').getByRole('link', { name: 'Bills' }).click();
    await page.getByRole('link', { name: 'Billing run' }).click();
    await page.getByRole('table', { name: 'Billing run' }).waitFor();

    const before = (await totals(month)).data.filter(
      ({ unbilled_packages: packages, drafts }) => packages > 0 && drafts.bills === 0,
    );
    const amount = before.reduce((sum, { unbilled_amount: each }) => sum + each, 0);
    await page.getByRole('button', { name: 'Draft all' }).click();
    const dialog = dialogOf(page, /^Draft /);
    await dialog.getByText(`Couriers: ${before.length}, with one bill each.`).waitFor();
    await dialog.getByText(`Amount without tax: ${money(amount)} USD.`).waitFor();
    await dialog.getByLabel('Service').fill('Air standard');
    await dialog.getByLabel(/^Tax in percent/).fill('7,5');
    await dialog.getByRole('button', { name: `Draft bills: ${before.length}` }).click();
    await result(page).getByText(`Done. Drafts: ${before.length}, `).waitFor();

    const drafted = (await totals(month)).meta.totals.drafts;
    await page.getByRole('button', { name: 'Publish all' }).click();
    const question = dialogOf(page, /^Publish /);
    await question.getByText(`Bills: ${drafted.bills}. Amount: ${money(drafted.amount)} USD.`).waitFor();
    await question.getByRole('button', { name: `Publish bills: ${drafted.bills}` }).click();
    await result(page)
      .getByText(`Done. Published: ${drafted.bills}, ${money(drafted.amount)} USD.`)
      .waitFor();
    const clicks = await page.evaluate<number>('clicks');
    expect(clicks).toBeGreaterThan(0);
    expect(clicks).toBeLessThanOrEqual(12);

    const bills = await billsIn(month, couriers);
    expect(bills).toHaveLength(COURIERS);
    expect(bills).toEqual(bills.map(() => ({ status: 'published', usd: EACH, packages: 2 })));
    // The list is loaded again, and each number leads to the bill.
    await page
      .getByRole('table', { name: 'Billing run' })
      .getByRole('link', { name: /^INV-\d+ 25\.80$/ })
      .first()
      .click();
    await page.getByRole('heading', { level: 1, name: /^INV-\d+ · Courier / }).waitFor();
    await page.goBack();
    // The result is still there.
    await result(page).getByText('Done. Published').waitFor();
    await result(page).getByRole('button', { name: 'Close the result' }).click();
    await result(page).waitFor({ state: 'detached' });
  },
  'manager',
);

it(
  'a run is stopped after its step, and goes on where it was stopped',
  async (page) => {
    const month = monthBefore(4);
    const couriers = await couriersIn(month);
    await open(page, month);
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    // The first step waits for the person, so that it is under way when it is stopped.
    await page.route('**/api/BillingRun.php', async (route) => {
      if (route.request().method() === 'POST') await held;
      await route.continue();
    });
    await draftAll(page);
    await result(page).getByText('Working. Couriers done: 0 of ').waitFor();
    await result(page).getByRole('button', { name: 'Stop' }).click();
    await result(page).getByText('Stopping after the couriers that are in work.').waitFor();
    release();
    await result(page).getByText('Stopped. Couriers done: 25 of ').waitFor();
    expect((await billsIn(month, couriers)).length).toBeLessThanOrEqual(25);
    await result(page).getByRole('button', { name: 'Go on' }).click();
    await result(page).getByText(`Done. Drafts: ${COURIERS}, `).waitFor();
    expect(await billsIn(month, couriers)).toHaveLength(COURIERS);
  },
  'manager',
);

it(
  'what is refused for one courier is named with its reason, and the chosen others are published',
  async (page) => {
    const month = monthBefore(5);
    const [good = '', bad = '', other = ''] = await couriersIn(month, 3);
    const { owner } = service();
    // They are on the first page of the list.
    await owner.query(`update couriers set name = 'A ' || name where id = any($1)`, [[good, bad, other]]);
    await open(page, month);
    await draftAll(page);
    await result(page).getByText('Done. Drafts: 3, ').waitFor();
    await owner.query('update bills set subtotal = 6, total_amount = 6 where courier_id = $1', [bad]);
    await page.reload();
    for (const id of [good, bad])
      await page.getByRole('checkbox', { name: `Select A Courier ${id}` }).check();
    await page.getByRole('button', { name: 'Publish these' }).click();
    const question = dialogOf(page, /^Publish /);
    await question.getByText('Couriers: 2. Bills: 2. Amount: 30.00 USD.').waitFor();
    expect(await findingsOf(page)).toEqual([]);
    await question.getByRole('button', { name: 'Publish bills: 2' }).click();
    await result(page).getByText('Done. Published: 1, 24.00 USD. Unchanged: 0. Refused: 1.').waitFor();
    const rows = result(page).getByRole('table', { name: 'Result of each courier' }).getByRole('row');
    // What needs a person comes first.
    await rows.nth(1).getByText(`A Courier ${bad}`).waitFor();
    await rows.nth(1).getByText('A draft does not match its lines. Delete it, and draft again.').waitFor();
    await rows.nth(2).getByRole('link', { name: /^INV-/ }).waitFor();
    expect(await findingsOf(page)).toEqual([]);
    const statusOf = async (id: string) => (await billsIn(month, [id])).map(({ status }) => status);
    expect([await statusOf(good), await statusOf(bad), await statusOf(other)]).toEqual([
      ['published'],
      ['draft'],
      ['draft'],
    ]);
  },
  'manager',
);

it(
  'the month is chosen, and a month without packages drafts nothing',
  async (page) => {
    await open(page, monthBefore(1));
    const month = monthBefore(20);
    await page.getByRole('combobox', { name: 'Month' }).selectOption(month);
    await page.waitForURL(`**/console/bills/run?month=${month}`);
    await page.getByRole('button', { name: 'Draft all' }).click();
    await page.getByTestId('toasts').getByText('Nothing to draft').waitFor();
    await page.getByRole('button', { name: 'Publish all' }).click();
    await page.getByTestId('toasts').getByText('Nothing to publish').waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
  },
  'manager',
);
