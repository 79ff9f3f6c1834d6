import { createHmac } from 'node:crypto';
import { expect } from '@jest/globals';
import { newNumber } from '../../support/builders/parcels.js';
import { findingsOf } from '../../support/console/browser.js';
import { consoleSuite } from '../../support/console/suite.js';
import { shopifyOrder } from '../../modules/feeds/feed-calls.js';

const { atWork, runs, service } = consoleSuite();

/** Sends an order of nobody to a feed, which refuses its parcel. */
async function refuse(feedId: string, secret: string): Promise<string> {
  const number = newNumber();
  const body = JSON.stringify(shopifyOrder({ numbers: [number] }));
  const signature = createHmac('sha256', secret).update(body).digest('base64');
  const sent = await fetch(`${service().url}/api/FeedEvents.php?feed_id=${feedId}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-shopify-hmac-sha256': signature },
    body,
  });
  expect(sent.status).toBe(200);
  return number;
}

runs(
  'a manager makes a feed of a shop for a courier, and the courier sees what could not be announced',
  async () => {
    const page = await atWork({ user: 'manager' });
    await page.goto(`${service().url}/console/couriers/IEX/feeds`);
    await page.getByRole('button', { name: 'New feed' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Example Books');
    await page.getByLabel('Sender', { exact: true }).selectOption('shopify');
    await page.getByLabel('Customer of orders that name none').fill('IEX-9999');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.locator('dialog[open]').getByRole('alert').waitFor();
    await page.getByLabel('Customer of orders that name none').fill('');
    await page.getByRole('button', { name: 'Create' }).click();
    const secret = (await page.getByTestId('feed-secret').textContent()) ?? '';
    const url = (await page.getByTestId('feed-url').textContent()) ?? '';
    await page.getByRole('button', { name: 'I have stored it' }).click();
    const number = await refuse(url.split('feed_id=')[1]?.trim() ?? '', secret.trim());

    const courier = await atWork({ user: 'iex' });
    await courier.evaluate("location.hash = '#/feeds'");
    await courier.getByRole('heading', { name: 'Parcels of orders that were not announced' }).waitFor();
    await courier.getByText(number).waitFor();
    await courier.getByText('The order names no customer, and the feed has none.').waitFor();
    await courier.getByRole('button', { name: /^Customer/ }).click();
    await courier.getByLabel('Customer of orders that name none').fill('IEX-1001');
    await courier.getByRole('button', { name: 'Save' }).click();
    await courier.getByText('IEX-1001').waitFor();
  },
);

runs('the table of feeds is no wider than a window of 1,280 pixels, because addresses wrap', async () => {
  const body = {
    action: 'create',
    kind: 'woocommerce',
    name: 'A shop with a long name',
    user_code: 'IEX-1001',
  };
  expect((await service().call('manageFeeds', { as: 'iex', body })).status).toBe(200);
  for (const [user, path] of [
    ['iex', '#/feeds'],
    ['manager', '/couriers/IEX/feeds'],
  ]) {
    const page = await atWork({ user });
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto(`${service().url}/console${path}`);
    const table = page.getByRole('region', { name: 'Feeds' });
    await table.getByRole('cell', { name: 'A shop with a long name', exact: true }).waitFor();
    const isWide = await page.evaluate<boolean>(
      `(() => { const table = document.querySelector('.table[aria-label="Feeds"]'); return table.scrollWidth > table.clientWidth; })()`,
    );
    expect([user, isWide]).toEqual([user, false]);
    expect(await findingsOf(page)).toEqual([]);
  }
});
