import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { plantPrealerts } from '../../support/builders/parcels.js';
import { findingsOf, logIn } from '../../support/console/browser.js';
import { consoleSuite } from '../../support/console/suite.js';

const { it, open: openWindow, runs, service } = consoleSuite();

type Row = { house: string; number: string; code: string | null };

const parcel = async (id: string | undefined): Promise<Row> => {
  const { rows } = await service().owner.query<Row>(
    `select house_number as house, tracking_number as number, user_code as code from packages
     where tenant_id = $1 and id = $2`,
    [DEMO.tenants.demo, id],
  );
  return rows[0] ?? { house: '', number: '', code: null };
};

const claim = async (courier: 'IEX' | 'HRB', user_code: string, tracking_number: string): Promise<string> => {
  const { body } = await service().call('claimParcel', {
    as: 'manager',
    body: { courier_id: DEMO.couriers[courier], user_code, tracking_number },
  });
  return String(body['data'].claim_id);
};

const statusOf = async (id: string): Promise<string | undefined> => {
  const { rows } = await service().owner.query<{ status: string }>(
    'select status from parcel_claims where tenant_id = $1 and id = $2',
    [DEMO.tenants.demo, id],
  );
  return rows[0]?.status;
};

/** Opens the panel of a parcel without an owner. */
async function open(page: Page, house: string) {
  await page.goto(`${service().url}/console/unknown/${house}`);
  return page.getByRole('complementary', { name: house });
}

const toasts = (page: Page) => page.getByTestId('toasts');
const [first, second, third] = DEMO.packages.ownerUnknown;

it(
  'a disputed parcel goes to one claimant, after the dialog has named what happens to the other',
  async (page) => {
    const { house, number } = await parcel(first);
    const right = await claim('IEX', 'IEX-1001', number);
    const wrong = await claim('HRB', 'HRB-2001', number);
    await page.goto(`${service().url}/console/unknown`);
    const row = page.locator('.grid tbody tr').filter({ hasText: house });
    await row.getByText('2: a dispute').waitFor();
    await row.click();
    const panel = page.getByRole('complementary', { name: house });
    await panel.getByText('IEX-1001 Marcia Campbell').waitFor();
    await panel.getByRole('button', { name: 'Give it to this customer IEX-1001' }).click();
    const dialog = page.getByRole('dialog', { name: `Who gets ${house}` });
    await dialog.getByText('IEX-1001 Marcia Campbell, Island Express').waitFor();
    expect(await dialog.getByTestId('others').textContent()).toMatch(
      /^HRB-2001 .*Harbour Couriers: the claim is refused\./,
    );
    // A decision needs a reason.
    await dialog.getByRole('button', { name: 'Give the parcel to IEX-1001' }).click();
    await dialog.locator('[name=reason][aria-invalid=true]').waitFor();
    expect((await parcel(first)).code).toBe(null);
    await dialog.getByLabel('Reason').fill('The name is on the label.');
    await dialog.getByRole('button', { name: 'Give the parcel to IEX-1001' }).click();
    await toasts(page).getByText(`${house} belongs to IEX-1001 now.`).waitFor();
    await panel.waitFor({ state: 'detached' });
    expect((await parcel(first)).code).toBe('IEX-1001');
    expect([await statusOf(right), await statusOf(wrong)]).toEqual(['approved', 'refused']);
  },
  'manager',
);

it(
  'a wrong claim is refused with a reason that its courier reads, and the parcel stays without an owner',
  async (page) => {
    const { house, number } = await parcel(second);
    const wrong = await claim('IEX', 'IEX-1002', number);
    const panel = await open(page, house);
    await panel.getByRole('button', { name: 'Refuse the claim IEX-1002' }).click();
    const dialog = page.getByRole('dialog', { name: 'Refuse the claim' });
    await dialog.getByText('The courier reads this.').waitFor();
    await dialog.getByLabel('Reason').fill('Another name is on the label.');
    await dialog.getByRole('button', { name: 'Refuse the claim' }).click();
    await toasts(page).getByText('The claim is refused.').waitFor();
    await panel.getByText(/^IEX-1002 /).waitFor({ state: 'detached' });
    expect([await statusOf(wrong), (await parcel(second)).code]).toEqual(['refused', null]);
  },
  'manager',
);

it(
  'a claim that fits no parcel is found in the list of claims, and refused there',
  async (page) => {
    const wrong = await claim('HRB', 'HRB-2002', '1Z999AA19999999990');
    await page.goto(`${service().url}/console/unknown`);
    await page.getByRole('link', { name: 'Claims of parcels' }).click();
    await page.getByRole('combobox', { name: 'Status' }).selectOption({ label: 'Open' });
    await page.waitForURL(/\/console\/unknown\/claims\?status=open/);
    await page.locator('.grid tbody tr').filter({ hasText: 'HRB-2002' }).click();
    await page.getByRole('complementary').getByRole('button', { name: 'Refuse the claim' }).click();
    const dialog = page.getByRole('dialog', { name: 'Refuse the claim' });
    await dialog.getByLabel('Reason').fill('No such parcel is here.');
    await dialog.getByRole('button', { name: 'Refuse the claim' }).click();
    await toasts(page).getByText('The claim is refused.').waitFor();
    expect(await statusOf(wrong)).toBe('refused');
  },
  'manager',
);

it('a warehouse user comes from Flagged, decides, and has no other page of the office', async (page) => {
  const { house, number } = await parcel(third);
  await claim('HRB', 'HRB-2003', number);
  await page.getByRole('link', { name: 'Flagged', exact: true }).click();
  await page.getByRole('link', { name: 'Parcels without an owner, and who claims them' }).click();
  await page.waitForURL('**/console/unknown');
  const menu = page.getByRole('navigation', { name: 'Pages', exact: true });
  await menu.getByRole('link').first().waitFor();
  expect(await menu.getByRole('link').allTextContents()).toEqual(['Unknown parcels']);
  await page.locator('.grid tbody tr').filter({ hasText: house }).click();
  await page.getByRole('button', { name: 'Give it to this customer HRB-2003' }).click();
  const dialog = page.getByRole('dialog', { name: `Who gets ${house}` });
  await dialog.getByLabel('Reason').fill('The label says so.');
  await page.keyboard.press('Enter');
  await toasts(page).getByText(`${house} belongs to HRB-2003 now.`).waitFor();
  expect((await parcel(third)).code).toBe('HRB-2003');
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').getByRole('combobox').fill('HRB-2003');
  await page.getByText('Nothing found.').waitFor();
  await page.keyboard.press('Escape');
  await page.goto(`${service().url}/console/parcels`);
  await page.getByRole('heading', { level: 1, name: 'Receive' }).waitFor();
});

runs(
  'staff are warned of a courier that announces numbers of which few arrive, also in the dialog',
  async () => {
    const number = 'GUESSED0000000001';
    const { body } = await service().call('receivePackage', {
      as: 'warehouse',
      body: { tracking_number: number, weight: 2 },
    });
    const { house } = await parcel(String(body['data'].package_id));
    await plantPrealerts(service().owner, { courierId: DEMO.couriers.HRB, count: 2_000 });
    await plantPrealerts(service().owner, { courierId: DEMO.couriers.HRB, count: 3, status: 'received' });
    for (const [courier, UserCode] of [
      ['HRB', 'HRB-2001'],
      ['IEX', 'IEX-1001'],
    ] as const)
      await service().call('submitPrealert', {
        key: DEMO.apiKeys[courier],
        body: { UserCode, TrackingNumber: number },
      });
    for (const [width, colorScheme, locale, late, warning] of [
      [
        1280,
        'light',
        'en-US',
        'Announced after the parcel was received',
        /^Only \d+ of the newest 2,\d+ numbers/,
      ],
      [390, 'dark', 'es-ES', 'Anunciado después de recibirse el paquete', /^De los últimos 2\D?\d+ números/],
    ] as const) {
      const { page } = await openWindow({ width, colorScheme, locale, isQuiet: false });
      await logIn(page, 'manager', DEMO.password);
      await page.locator('.workplace').waitFor();
      const panel = await open(page, house);
      await panel.getByText('HRB-2001').first().waitFor();
      const claimant = (code: string) => panel.getByRole('listitem').filter({ hasText: code });
      expect(await claimant('HRB-2001').getByText(late).count()).toBe(1);
      expect(await claimant('HRB-2001').getByTestId('guessing').textContent()).toMatch(warning);
      expect(await claimant('IEX-1001').getByText(late).count()).toBe(1);
      expect(await claimant('IEX-1001').getByTestId('guessing').count()).toBe(0);
      const check = async () => {
        expect(await findingsOf(page)).toEqual([]);
        expect(await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')).toBe(false);
      };
      await check();
      await claimant('HRB-2001').getByRole('button').click();
      const dialog = page.getByRole('dialog');
      expect(await dialog.getByTestId('guessing').textContent()).toMatch(warning);
      await check();
      await page.keyboard.press('Escape');
      await claimant('IEX-1001').getByRole('button').click();
      await dialog.getByText('IEX-1001').first().waitFor();
      expect(await dialog.getByTestId('guessing').count()).toBe(0);
    }
  },
);
