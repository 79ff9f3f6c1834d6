import { expect } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { findingsOf } from '../../support/console/browser.js';
import { consoleSuite } from '../../support/console/suite.js';
import { BROWSER } from '../../modules/tracking/tracking-calls.js';

const { atWork, open, runs, service } = consoleSuite();
const [PARCEL = ''] = DEMO.packages.shipped.IEX;

runs('a courier switches its pages on, and copies the link of a parcel, which opens its page', async () => {
  const page = await atWork({ user: 'iex' });
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.evaluate("location.hash = '#/profile'");
  const settings = page.getByRole('region', { name: 'Tracking pages' });
  await settings.getByLabel('Links to tracking pages work').check();
  await settings.getByLabel('Customers also find parcels with the number and their last name').check();
  await settings.getByLabel(/^Days from the flight/).fill('3');
  await settings.getByLabel(/^Text for customers in Spanish/).fill('Abre a las nueve');
  await settings.getByRole('button', { name: 'Save' }).click();
  await settings.getByText('/track?courier=IEX').waitFor();
  await page.evaluate(`location.hash = '#/parcels/${PARCEL}'`);
  const link = page.getByRole('region', { name: 'Tracking page' });
  await link.getByLabel(/^To pay/).fill('18.50');
  await link.getByRole('button', { name: 'Set amount' }).click();
  await link.getByRole('link', { name: 'Open the page' }).waitFor();
  await link.getByRole('button', { name: 'Copy link' }).click();
  await page.getByTestId('toasts').getByText('The link is copied').waitFor();
  const copied = await page.evaluate<string>('navigator.clipboard.readText()');
  expect(copied).toMatch(/^http.*\/track\/[\w-]{22}$/);
  const shown = await (await fetch(copied, { headers: { ...BROWSER, 'accept-language': 'es' } })).text();
  expect(shown).toContain('Abre a las nueve');
  await link.getByRole('button', { name: 'Replace link' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Replace link' }).click();
  await page.getByTestId('toasts').getByText('The link is replaced').waitFor();
  expect((await fetch(copied, { headers: BROWSER })).status).toBe(404);
});

runs('a manager does the same for a courier', async () => {
  const page = await atWork({ user: 'manager' });
  await page.goto(`${service().url}/console/couriers/HRB/tracking`);
  await page.getByLabel('Links to tracking pages work').check();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The settings of tracking pages are saved.').waitFor();
  const { body } = await service().call('getTrackingSettings', { as: 'hrb' });
  expect(body['data']).toMatchObject({ is_enabled: true, is_search_enabled: false });
  await page.goto(`${service().url}/console/parcels/${DEMO.packages.shipped.HRB[0]}`);
  await page
    .getByRole('region', { name: 'Tracking page' })
    .getByRole('button', { name: 'Copy link' })
    .waitFor();
});

const MODES = [
  [1280, 'light', 'en-US'],
  [1280, 'dark', 'es-ES'],
  [390, 'light', 'es-ES'],
  [390, 'dark', 'en-US'],
] as const;

for (const [width, colorScheme, locale] of MODES)
  runs(
    `no public page has a finding of axe, or scrolls sideways (${width} pixels, ${colorScheme}, ${locale})`,
    async () => {
      const body = {
        courier_id: DEMO.couriers.IEX,
        ...{ is_enabled: true, is_search_enabled: true, shows_amount_due: true, transit_days: 3 },
        note_en: `Ask ${'for '.repeat(40)} it`,
      };
      await service().call('updateTrackingSettings', { as: 'admin', body });
      const amount = { action: 'set_amount_due', package_id: PARCEL, amount_due: 99_999_999.99 };
      const { body: made } = await service().call('manageTrackingLinks', { as: 'admin', body: amount });
      const { page } = await open({ width, colorScheme, locale });
      const findings: Record<string, string[]> = {};
      for (const path of [
        made['data'].link.path,
        '/track?courier=IEX',
        '/track/nothing',
        '/track?courier=NONE',
      ]) {
        await page.goto(`${service().url}${path}`);
        await page.locator('main h1').waitFor();
        const isWide = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');
        findings[path] = [...(isWide ? ['scrolls sideways'] : []), ...(await findingsOf(page))];
      }
      await page.goto(`${service().url}/track?courier=IEX`);
      await page.locator('#number').fill('NOTHING10001');
      await page.locator('#name').fill('Nobody');
      await page.locator('form button').click();
      await page.getByRole('alert').waitFor();
      findings['nothing found'] = await findingsOf(page);
      expect(Object.values(findings).flat()).toEqual([]);
      expect(Object.keys(findings)).toHaveLength(5);
    },
  );
