import { expect } from '@jest/globals';
import { makeBilling, newBill } from '../../../support/builders/billing.js';
import { findingsOf } from '../../../support/console/browser.js';
import { consoleSuite } from '../../../support/console/suite.js';

const { it, service } = consoleSuite();

it(
  'a bill is sent after a question, is listed with its address, and is sent again only after a second question',
  async (page) => {
    const billing = makeBilling(service());
    const courierId = await billing.newCourier();
    const email = 'billing@quay.example';
    const setAddress = (address: string | null) =>
      service().owner.query('update couriers set email = $2 where id = $1', [courierId, address]);
    const billId = await newBill(billing, courierId);
    await billing.publish(billId);

    await page.goto(`${service().url}/console/bills/${billId}`);
    const mails = page.getByTestId('mails');
    await mails.getByText('Not sent yet.').waitFor();
    await mails.getByRole('button', { name: 'Send by mail' }).click();
    const dialog = page.getByRole('dialog', { name: /^Send INV-/ });
    await dialog.getByText('A mail cannot be taken back.').waitFor();
    expect(await findingsOf(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Send by mail' }).click();
    await dialog.getByText('has no usable e-mail address. Set email in the profile').waitFor();

    await setAddress(email);
    await dialog.getByRole('button', { name: 'Send by mail' }).click();
    await dialog.waitFor({ state: 'detached' });
    const rows = mails.getByRole('row').filter({ hasText: email });
    await rows.first().waitFor();

    await mails.getByRole('button', { name: 'Send by mail' }).click();
    await dialog.getByText(`to be sent to ${email}. Send it once more?`).waitFor();
    await dialog.getByRole('button', { name: 'Send again' }).click();
    await dialog.waitFor({ state: 'detached' });
    await rows.nth(1).waitFor();
    const { rows: stored } = await service().owner.query(
      'select recipient from bill_mails where bill_id = $1',
      [billId],
    );
    expect(stored).toEqual([{ recipient: email }, { recipient: email }]);
  },
  'manager',
);
