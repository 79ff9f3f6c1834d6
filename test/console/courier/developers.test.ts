import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { newNumber } from '../../support/builders/parcels.js';
import { consoleSuite } from '../../support/console/suite.js';

// The key and the secret of a courier's system, and its profile.

const { it, service } = consoleSuite();

const open = (page: Page, path: string) => page.evaluate(`location.hash = '#/${path}'`);
const dialogOf = (page: Page) => page.getByRole('dialog');
const toasts = (page: Page) => page.getByTestId('toasts');

const settings = async () =>
  (await service().call('getCourierSettings', { as: 'iex' })).body['data'] as Record<string, string | null>;

const statusWith = async (key: string) =>
  (
    await service().call('submitPrealert', {
      key,
      body: { UserCode: 'IEX-1001', TrackingNumber: newNumber() },
    })
  ).status;

it(
  'a courier sees its key when it asks, and renews it after reading what happens to its system',
  async (page) => {
    const before = String((await settings())['api_key']);
    await open(page, 'developers');
    const card = page.getByRole('region', { name: 'API key' });
    await card.getByText(`…${before.slice(-6)}`).waitFor();
    expect(await page.content()).not.toContain(before);
    await card.getByRole('button', { name: 'Show the key' }).click();
    await card.getByText(before).waitFor();
    await card.getByRole('button', { name: 'Make a new key' }).click();
    await dialogOf(page).getByText('stops working at once').waitFor();
    // The focus is on Cancel.
    await page.keyboard.press('Enter');
    await dialogOf(page).waitFor({ state: 'detached' });
    expect(await statusWith(before)).toBe(201);
    await card.getByRole('button', { name: 'Make a new key' }).click();
    await dialogOf(page).getByRole('button', { name: 'Make a new key' }).click();
    const made = String(await dialogOf(page).getByTestId('secret').textContent());
    await dialogOf(page).getByRole('button', { name: 'I have stored it' }).click();
    await card.getByText(made).waitFor();
    expect([await statusWith(before), await statusWith(made)]).toEqual([403, 201]);
  },
  'iex',
);

it(
  'the secret of the webhooks is rotated, and the previous one is ended before its 24 hours',
  async (page) => {
    await open(page, 'developers');
    const card = page.getByRole('region', { name: 'Secret of the signatures' });
    await card.getByText('You get a secret when you set the first address').waitFor();
    const body = { api_url_add_package: 'https://api.island-express.example/packages' };
    expect((await service().call('updateCourierSettings', { as: 'iex', body })).status).toBe(200);
    const before = String((await settings())['webhook_secret']);
    await page.reload();
    await card.getByRole('button', { name: 'New secret' }).click();
    await dialogOf(page).getByText('for 24 hours').waitFor();
    await dialogOf(page).getByRole('button', { name: 'New secret' }).click();
    const made = String(await dialogOf(page).getByTestId('secret').textContent());
    await dialogOf(page).getByRole('button', { name: 'I have stored it' }).click();
    await card.getByText('The previous secret signs too').waitFor();
    const after = await settings();
    expect([made === before, after['webhook_secret']]).toEqual([false, made]);
    expect(after['webhook_previous_secret_id']).not.toBeNull();
    await card.getByRole('button', { name: 'End the previous secret' }).click();
    await dialogOf(page).getByRole('button', { name: 'End the previous secret' }).click();
    await card.getByText('The previous secret signs too').waitFor({ state: 'detached' });
    expect((await settings())['webhook_previous_secret_id']).toBeNull();
    // The other parts, and the documentation.
    await page.getByRole('link', { name: 'Deliveries' }).click();
    await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'Documentation' }).waitFor();
    const guides = page.getByRole('listitem').getByRole('link');
    const paths = await guides.evaluateAll((links) => links.map((link) => link.getAttribute('href')));
    for (const path of paths.filter((each) => each?.startsWith('/docs/')))
      expect((await page.request.get(`${service().url}${path}`)).status()).toBe(200);
    expect(paths.filter((each) => each?.startsWith('/docs/'))).toHaveLength(7);
  },
  'iex',
);

const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 20"><circle cx="10" cy="10" r="9"/></svg>';

it(
  'a courier changes its address and colour with an undo, and replaces and deletes its logo',
  async (page) => {
    await open(page, 'profile');
    await page.getByLabel('City (optional)').fill('Portmore');
    await page.getByLabel('Colour').fill('#aa3300');
    await page.getByRole('region', { name: 'Address' }).getByRole('button', { name: 'Save' }).click();
    await toasts(page).getByRole('button', { name: 'Undo' }).waitFor();
    expect(await settings()).toMatchObject({ city_town: 'Portmore', house_color: '#aa3300' });
    await toasts(page).getByRole('button', { name: 'Undo' }).click();
    await toasts(page).getByText('Undone.').waitFor();
    expect((await settings())['city_town']).not.toBe('Portmore');

    const logo = page.getByRole('img', { name: 'Logo of' });
    const isShown = () => logo.evaluate((image) => (image as { naturalWidth?: number }).naturalWidth !== 0);
    const choose = (text: string) =>
      page
        .getByLabel(/Replace the logo|Upload a logo/)
        .setInputFiles({ name: 'logo.svg', mimeType: 'image/svg+xml', buffer: Buffer.from(text) });
    await choose('no picture');
    await page.getByRole('alert').waitFor();
    await choose(SVG);
    await toasts(page).getByText('The logo is stored.').waitFor();
    const path = String((await settings())['logo_path']);
    await page.locator(`img[src="/${path}"]`).waitFor();
    expect(await isShown()).toBe(true);
    await page.getByRole('button', { name: 'Delete the logo' }).click();
    await dialogOf(page).getByText('bills are printed without it').waitFor();
    await dialogOf(page).getByRole('button', { name: 'Delete the logo' }).click();
    await page.getByText('No logo yet.').waitFor();
    expect((await settings())['logo_path']).toBeNull();
    expect(DEMO.couriers.IEX).toBe((await settings())['courier_id']);
  },
  'iex',
);
