import { expect } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { plantFailingHooks } from '../../support/console/failing-hooks.js';
import { findingsOf, logIn } from '../../support/console/browser.js';
import { consoleSuite } from '../../support/console/suite.js';
import { rowOf, task, toasts } from '../trial/trial.js';

const suite = consoleSuite();
const { atWork, it, open, runs, service } = suite;

const resent = async () =>
  (
    await service().owner.query<{ count: number }>(
      "select count(*)::int as count from webhook_deliveries where origin = 'redelivery' and courier_id = $1",
      [DEMO.couriers.IEX],
    )
  ).rows[0]?.count;

it(
  'the office lists the addresses that fail first, and shows what was sent and answered',
  async (page) => {
    await plantFailingHooks(service().owner);
    await page.goto(`${service().url}/console/webhooks`);
    const first = page.locator('.grid tbody tr').first();
    await first.getByText('Failing').waitFor();
    expect(await first.textContent()).toContain('422 Refused');
    await first.click();
    const panel = page.getByRole('complementary', { name: 'Island Express' });
    await panel.getByRole('button', { name: 'package.created' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Webhook package.created' });
    await dialog.getByText('Unknown customer IEX-1001').waitFor();
    expect(await dialog.textContent()).toContain('POST https://partner.example/hooks');
    await dialog.getByText('Headers').first().click();
    await dialog.getByText('authorization: ***').waitFor();
    await dialog.getByText('Headers').last().click();
    await dialog.getByText('Only the beginning is kept.').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.goto(`${service().url}/console/webhooks?state=paused`);
    await page.getByText('Nothing matches').waitFor();
  },
  'manager',
);

it(
  'an address that was never called does not count as working, for the office and for its courier',
  async (page) => {
    const untried = 'Nothing sent yet';
    await service().owner.query('delete from webhook_endpoints where courier_id = $1', [DEMO.couriers.IEX]);
    await service().owner.query(
      "update couriers set api_url_add_package = 'https://partner.example/hooks', api_url_update_package = null where id = $1",
      [DEMO.couriers.IEX],
    );
    const statesOf = (list: Locator) => list.locator('.tag').allTextContents();
    await page.goto(`${service().url}/console/couriers/IEX/webhooks`);
    const cards = page.locator('.groups .card');
    await cards.first().getByText(untried).waitFor();
    expect(await statesOf(cards)).toEqual([untried, 'Not used']);
    await page.goto(`${service().url}/console/webhooks/IEX?courier=${DEMO.couriers.IEX}&state=active`);
    await page.getByRole('complementary').getByText(untried).first().waitFor();
    await rowOf(page, untried).first().waitFor();
    const courier = await atWork({ user: 'iex' });
    await courier.goto(`${service().url}/console#/webhooks`);
    await courier.locator('.groups .card').first().getByText(untried).waitFor();
    expect(await statesOf(courier.locator('.groups .card'))).toEqual([untried, 'Not used']);
    // A success shows that it works.
    await service().owner.query(
      `insert into webhook_endpoints (tenant_id, courier_id, endpoint, failures, last_success_at)
       values ($1, $2, 'add_package', 0, now())`,
      [DEMO.tenants.demo, DEMO.couriers.IEX],
    );
    await courier.reload();
    await courier.locator('.groups .card').first().getByText('Last success').waitFor();
    expect(await statesOf(courier.locator('.groups .card'))).toEqual(['Working', 'Not used']);
    await service().owner.query('delete from webhook_endpoints where courier_id = $1', [DEMO.couriers.IEX]);
  },
  'manager',
);

runs('an address that is refused is marked at its field, with the cure, in both languages', async () => {
  const cures = { 'en-US': 'It must begin with https://', 'es-ES': 'Debe empezar por https://' } as const;
  for (const [locale, change, label] of [
    ['en-US', /^(Change|Set) the address/, /^Address/],
    ['es-ES', /^(Cambiar|Configurar|Poner)/, /^Dirección/],
  ] as const) {
    const page = await atWork({ user: 'iex', locale, width: 390, isQuiet: false, device: {} });
    await page.goto(`${service().url}/console#/webhooks`);
    await page.locator('.groups .card').first().getByRole('button', { name: change }).click();
    const dialog = page.getByRole('dialog');
    const field = dialog.getByLabel(label);
    await field.fill('http://10.0.0.1/hook');
    await page.keyboard.press('Enter');
    await dialog.locator('.field-error').getByText(cures[locale]).waitFor();
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    expect(await dialog.textContent()).not.toContain('api_url');
    expect(await findingsOf(page)).toEqual([]);
    const office = await atWork({ user: 'manager', locale, isQuiet: false, device: {} });
    await office.goto(`${service().url}/console/couriers/IEX/webhooks`);
    await office.locator('[name=api_url_update_package]').fill('http://10.0.0.1/hook');
    await office.locator('.office-form button[type=submit]').first().click();
    await office.locator('.field-error').getByText(cures[locale]).waitFor();
    expect(await office.locator('.office-form').first().textContent()).not.toContain('api_url');
  }
});

runs('the panel and the dialogs of Webhooks have no finding of axe, and fit on a phone', async () => {
  await plantFailingHooks(service().owner);
  for (const [width, colorScheme, locale] of [
    [1280, 'light', 'en-US'],
    [390, 'dark', 'es-ES'],
  ] as const) {
    const { page } = await open({ width, colorScheme, locale, isQuiet: false });
    await logIn(page, 'admin', DEMO.password);
    await page.locator('.workplace').waitFor();
    await page.goto(`${service().url}/console/webhooks/IEX`);
    await page.getByRole('button', { name: 'package.created' }).first().click();
    await page.getByTestId('delivery').getByText('Unknown customer IEX-1001').waitFor();
    expect(await findingsOf(page)).toEqual([]);
    expect(await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')).toBe(false);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: locale === 'es-ES' ? 'Reenviar …' : 'Send again …' }).click();
    await page.getByTestId('resend-count').waitFor();
    expect(await findingsOf(page)).toEqual([]);
  }
});

it(
  'a courier sees its own webhooks with request and response, and sends them again',
  async (page) => {
    await plantFailingHooks(service().owner);
    const before = Number(await resent());
    await page.goto(`${service().url}/console#/webhooks`);
    await page.getByRole('button', { name: 'package.created' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Webhook package.created' });
    await dialog.getByText('Unknown customer IEX-1001').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Send again …' }).click();
    await page.getByRole('dialog').getByLabel('Which').selectOption('');
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    expect(await resent()).toBe(before);
    await page.getByRole('button', { name: 'Send again …' }).click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Send \d+ again$/ })
      .click();
    await toasts(page)
      .getByText(/webhooks are sent again/)
      .waitFor();
    expect(await resent()).toBeGreaterThan(before);
  },
  'iex',
);

task(suite, {
  title: 'finds out why a courier gets no webhooks, and sends again what failed',
  user: 'manager',
  most: 5,
  prepare: async (page) => {
    await service().owner.query('delete from webhook_deliveries');
    await plantFailingHooks(service().owner);
    await page.reload();
  },
  work: async (page) => {
    await page.locator('.figure', { hasText: 'Failing webhooks' }).getByRole('link').click();
    await rowOf(page, 'Failing').first().click();
    await page.getByRole('button', { name: 'package.created' }).first().click();
    await page.getByRole('dialog').getByText('Unknown customer IEX-1001').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Send again …' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('3 webhooks are sent to Island Express again').waitFor();
    await dialog.getByRole('button', { name: 'Send 3 again' }).click();
    await toasts(page).getByText('3 webhooks are sent again.').waitFor();
    expect(await resent()).toBe(3);
  },
});

it(
  'the office sees how far the parcels are that were sent to a courier again',
  async (page) => {
    await service().owner.query('update couriers set api_url_update_package = $2 where id = $1', [
      DEMO.couriers.IEX,
      'https://partner.example/hooks',
    ]);
    const package_ids = DEMO.packages.shipped.IEX.slice(0, 2);
    const { status } = await service().call('queueDispatch', { as: 'manager', body: { package_ids } });
    expect(status).toBe(200);
    await page.goto(`${service().url}/console/webhooks`);
    await page.getByRole('button', { name: 'Batches sent again' }).click();
    const row = page.getByRole('dialog', { name: 'Batches sent again' }).getByRole('row').nth(1);
    await row.getByRole('cell', { name: 'The warehouse' }).waitFor();
    expect((await row.getByRole('cell').allTextContents()).slice(2)).toEqual(['2', '2', '0', '0']);
  },
  'manager',
);
