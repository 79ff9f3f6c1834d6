import { expect } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { consoleSuite } from '../../support/console/suite.js';

const { it, service } = consoleSuite();

it(
  'a courier chooses the events of an address, and the page shows them',
  async (page) => {
    await service().owner.query(
      "update couriers set api_url_add_package = 'https://x.example', add_package_format = 'event' where id = $1",
      [DEMO.couriers.IEX],
    );
    await page.evaluate("location.hash = '#/webhooks'");
    await page
      .getByRole('button', { name: /^Choose events/ })
      .first()
      .click();
    const dialog = page.getByRole('dialog', { name: /^Events for/ });
    await dialog.getByLabel(/A bill is paid/).waitFor();
    expect(await dialog.getByRole('checkbox', { checked: true }).count()).toBe(1);
    await dialog.getByLabel(/A bill is paid/).check();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('package.created, bill.paid').waitFor();
    const { rows } = await service().owner.query<{ events: string[] }>(
      'select add_package_events as events from couriers where id = $1',
      [DEMO.couriers.IEX],
    );
    expect(rows).toEqual([{ events: ['package.created', 'bill.paid'] }]);
  },
  'iex',
);
