import { expect } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { plantFailingHooks } from '../../support/console/failing-hooks.js';
import { findingsOf, logIn } from '../../support/console/browser.js';
import { consoleSuite } from '../../support/console/suite.js';
import { rowOf, task, toasts } from '../trial/trial.js';

const suite = consoleSuite();
const { it, open, runs, service } = suite;

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
