import { expect } from '@jest/globals';
import { findingsOf } from '../../../support/console/browser.js';
import { consoleSuite } from '../../../support/console/suite.js';
import { dialogOf, draftAll, makeRunPage, monthBefore, result } from './run-page.js';

const { it, service } = consoleSuite();
const { couriersIn, mailedOf, open } = makeRunPage(service);

it(
  'the bills of chosen couriers are sent, each once, and the list and the bills show it',
  async (page) => {
    const month = monthBefore(6);
    const couriers = await couriersIn(month, 2);
    const [one = '', other = ''] = couriers;
    const { owner } = service();
    await owner.query(
      `update couriers set name = 'A ' || name, email = 'billing@quay.example' where id = any($1)`,
      [couriers],
    );
    await open(page, month);
    await draftAll(page);
    await result(page).getByText('Done. Drafts: 2, ').waitFor();
    const row = (id: string) =>
      page
        .getByRole('table', { name: 'Billing run' })
        .getByRole('row')
        .filter({ hasText: `A Courier ${id}` });
    const sendThese = async (ids: string[]) => {
      for (const id of ids) await page.getByRole('checkbox', { name: `Select A Courier ${id}` }).check();
      await page.getByRole('button', { name: 'Send these' }).click();
      await dialogOf(page, /^Send /).waitFor();
    };
    await page.getByRole('button', { name: 'Send all' }).click();
    await page.getByTestId('toasts').getByText('Nothing to send').waitFor();
    await page.getByRole('button', { name: 'Publish all' }).click();
    await dialogOf(page, /^Publish /)
      .getByRole('button', { name: 'Publish bills: 2' })
      .click();
    await row(one).getByText('0 of 1').waitFor();

    await sendThese([one]);
    const question = dialogOf(page, /^Send /);
    await question.getByText('Bills: 1. Couriers: 1. A mail cannot be taken back.').waitFor();
    await question.getByLabel('Language of the mails').selectOption('es');
    await question.getByRole('button', { name: 'Send bills: 1' }).click();
    await result(page).getByText('Done. Mails queued: 1. Unchanged: 0. Refused: 0.').waitFor();
    await row(one).getByText('1 of 1').waitFor();
    await row(other).getByText('0 of 1').waitFor();

    await page.getByRole('button', { name: 'Send all' }).click();
    await question.getByText('Bills that were sent already, which are not sent again: 1.').waitFor();
    await question.getByRole('button', { name: 'Send bills: 1' }).click();
    await result(page).getByText('Done. Mails queued: 1. Unchanged: 1. Refused: 0.').waitFor();
    expect(await findingsOf(page)).toEqual([]);
    expect(await mailedOf(couriers)).toEqual(couriers.toSorted());
    const { rows } = await owner.query('select language from bill_mails where courier_id = $1', [one]);
    expect(rows).toEqual([{ language: 'es' }]);
    await page.goto(`${service().url}/console/bills?courier=${one}`);
    await page.getByRole('table', { name: 'Bills' }).getByText('Waits').waitFor();
  },
  'manager',
);
