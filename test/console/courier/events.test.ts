import { expect } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { insertEvent } from '../../support/builders/deliveries.js';
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

it(
  'a courier reads the events that its systems read, the newest first, page by page',
  async (page) => {
    const { owner } = service();
    for (let made = 0; made < 60; made += 1) await insertEvent(owner);
    const { meta } = (await service().call('listEvents', { as: 'iex', query: { after: 0, limit: 1 } })).body;
    const last = Number(meta['last_sequence']);
    await page.getByRole('navigation').getByRole('link', { name: 'Developers' }).first().click();
    await page.getByRole('link', { name: 'Events', exact: true }).click();
    const table = page.getByRole('table', { name: 'Events' });
    const numbers = async () => (await table.locator('tbody td:first-child').allTextContents()).map(Number);
    const down = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, n) => from - n);
    await table.waitFor();
    expect(await numbers()).toEqual(down(last, last - 49));
    expect(await page.getByRole('button', { name: 'Newer' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Older' }).click();
    await table.getByRole('button', { name: new RegExp(` ${last - 50}$`) }).waitFor();
    expect((await numbers())[0]).toBe(last - 50);
    await page.getByRole('button', { name: 'Newer' }).click();
    await table.getByRole('button', { name: new RegExp(` ${last}$`) }).click();
    const { body } = await service().call('listEvents', { as: 'iex', query: { after: last - 1, limit: 1 } });
    const shown = await page.getByRole('group', { name: 'Content of the event' }).textContent();
    expect(JSON.parse(shown ?? '')).toEqual(body['data'][0]);
  },
  'iex',
);
