import { expect } from '@jest/globals';
import { countClicks } from '../../../support/console/clicks.js';
import { findingsOf } from '../../../support/console/browser.js';
import { consoleSuite } from '../../../support/console/suite.js';
import { noteClicks } from '../../trial/trial.js';
import { COURIERS, dialogOf, draftAll, EACH, makeRunPage, money, monthBefore, result } from './run-page.js';

const { it, service } = consoleSuite();

const { couriersIn, billsIn, totals, toSend, mailedOf, open } = makeRunPage(service);

it(
  'bills the last month of all couriers, and sends the bills, with at most 12 clicks from Home',
  async (page) => {
    const month = monthBefore(1);
    const couriers = await couriersIn(month);
    const [nowhere = '', ...reachable] = couriers;
    await service().owner.query(`update couriers set email = 'billing@quay.example' where id = any($1)`, [
      reachable,
    ]);
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    const clicks = await countClicks(page);
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

    // Those of the demo data may have bills too.
    const { bills, couriers: many, without, sent } = await toSend(month);
    await page.getByRole('button', { name: 'Send all' }).click();
    const sending = dialogOf(page, /^Send /);
    await sending.getByText(`Bills: ${bills}. Couriers: ${many}.`).waitFor();
    await sending.getByText(`Couriers without a usable address, which are left out: ${without}.`).waitFor();
    expect(without).toBeGreaterThan(0);
    expect(sent).toBe(0);
    expect(await findingsOf(page)).toEqual([]);
    await sending.getByRole('button', { name: `Send bills: ${bills}` }).click();
    await result(page)
      .getByText(`Done. Mails queued: ${bills}. Unchanged: 0. Refused: ${without}.`)
      .waitFor();
    await result(page).getByText('No usable e-mail address.').first().waitFor();
    noteClicks('manager', clicks(), 12, `bills the month of ${COURIERS} couriers`);
    expect(clicks()).toBeGreaterThan(0);
    expect(clicks()).toBeLessThanOrEqual(12);

    const billed = await billsIn(month, couriers);
    expect(billed).toHaveLength(COURIERS);
    expect(billed).toEqual(billed.map(() => ({ status: 'published', usd: EACH, packages: 2 })));
    expect(await mailedOf(couriers)).toEqual(reachable.toSorted());
    expect(await mailedOf([nowhere])).toEqual([]);
    // The list is loaded again, and each number leads to the bill.
    await page
      .getByRole('table', { name: 'Billing run' })
      .getByRole('link', { name: /^INV-\d+ 25\.80$/ })
      .first()
      .click();
    await page.getByRole('heading', { level: 1, name: /^INV-\d+ · Courier / }).waitFor();
    await page.goBack();
    // The result is still there.
    await result(page).getByText('Done. Mails queued').waitFor();
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
    await page.getByRole('button', { name: 'Send all' }).click();
    await page.getByTestId('toasts').getByText('Nothing to send').waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
  },
  'manager',
);
