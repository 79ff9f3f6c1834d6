import { describe, expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { findingsOf, outcomeOf, pressTimed, scan, type } from '../../support/console/browser.js';
import { consoleSuite, expectWord, keysAt, press, weightsOf } from '../../support/console/suite.js';
import { until } from '../../support/service/processes.js';

// The worker who has received a wrong number takes the receipt back where the last parcel is corrected.

const { atWork, it, runs, service } = consoleSuite({ worksOffline: true });

const weights = (number: string) => weightsOf(service(), number);

async function receive(page: Page, code: string, weight = '2'): Promise<void> {
  await scan(page, code);
  await expectWord(page, 'UNKNOWN');
  await type(page, weight);
  await page.keyboard.press('Enter');
  await expectWord(page, 'NO OWNER');
}

const correction = (page: Page) => page.getByRole('dialog', { name: 'Correct a parcel' });
const voiding = (page: Page) => page.getByRole('dialog', { name: / · / });
const reason = (page: Page) => voiding(page).getByLabel('Why is the receipt void?');
const openButton = (page: Page) =>
  correction(page).getByRole('button', { name: 'Void the receipt …', exact: true });
const rowOf = (page: Page, code: string) => page.getByRole('row').filter({ hasText: code });

/** Opens the correction of the last parcel with the key, and from there the dialog that voids. */
async function openVoid(page: Page): Promise<void> {
  await press(page, 'F2');
  await openButton(page).click();
  await reason(page).waitFor();
}

const noDialog = (page: Page) => until(async () => (await page.getByRole('dialog').count()) === 0);

describe('the correction of the last parcel', () => {
  it('voids its receipt, drops nothing of the parcel in work, and gives the keys back to it', async (page) => {
    await receive(page, 'VOIDLAST01');
    await scan(page, 'VOIDLAST02');
    await expectWord(page, 'UNKNOWN');
    await type(page, '7');
    await openVoid(page);
    expect(await findingsOf(page)).toEqual([]);
    await voiding(page).getByText('This cannot be undone.', { exact: false }).waitFor();
    await voiding(page).getByRole('button', { name: 'Void the receipt', exact: true }).click();
    await voiding(page).getByText('Say why.').waitFor();
    expect(await weights('VOIDLAST01')).toEqual([2]);
    await reason(page).fill('The shelf was scanned.');
    await page.keyboard.press('Enter');
    await noDialog(page);
    expect(await weights('VOIDLAST01')).toEqual([]);
    await page.getByTestId('earlier').getByText('The receipt of VOIDLAST01 is void.').waitFor();
    await rowOf(page, 'VOIDLAST01').getByText('RECEIPT VOID').waitFor();
    expect(
      await rowOf(page, 'VOIDLAST01')
        .getByRole('button', { name: /^Correct/ })
        .count(),
    ).toBe(0);
    const field = page.getByLabel('Weight (lb)');
    expect(await field.inputValue()).toBe('7');
    expect(await field.evaluate('document.activeElement.name')).toBe('weight');
    await press(page, 'Enter');
    await expectWord(page, 'NO OWNER');
    expect(await weights('VOIDLAST02')).toEqual([7]);
    await press(page, 'F2');
    await correction(page).getByText('VOIDLAST02').waitFor();
  });

  it('gives the keys back to the field of the number, which receives the same parcel again', async (page) => {
    await receive(page, 'VOIDAGAIN1', '3');
    await openVoid(page);
    await reason(page).fill('Wrong parcel');
    await page.keyboard.press('Enter');
    await noDialog(page);
    await expectWord(page, 'RECEIPT VOID');
    await until(() => page.evaluate("document.activeElement.closest('[data-takes-keys]') !== null"));
    // The same code within 1.5 s is a repetition of the scanner.
    await page.waitForTimeout(1_500);
    await receive(page, 'VOIDAGAIN1', '4');
    expect(await weights('VOIDAGAIN1')).toEqual([4]);
  });

  it('keeps what was typed if the question is cancelled, and takes no weight behind it', async (page) => {
    await receive(page, 'VOIDCANCEL', '5');
    await press(page, 'F2');
    await type(page, '8.5');
    await openButton(page).click();
    await reason(page).waitFor();
    await pressTimed(page, keysAt(4, '1.42 lb', 'Enter'));
    await expectWord(page, 'WEIGH AGAIN');
    await press(page, 'Escape');
    await voiding(page).waitFor({ state: 'detached' });
    expect(await correction(page).getByLabel('Weight (lb)').inputValue()).toBe('8.5');
    expect(await weights('VOIDCANCEL')).toEqual([5]);
    await until(() => page.evaluate("document.activeElement.closest('dialog') !== null"));
    await press(page, 'Escape');
    await noDialog(page);
  });

  it('ends with the scan of the next parcel, and says that nothing was voided', async (page) => {
    await receive(page, 'VOIDSCAN01');
    await openVoid(page);
    await type(page, 'half a rea');
    await scan(page, 'VOIDSCAN02');
    await noDialog(page);
    await page.getByTestId('earlier').getByText('The receipt of VOIDSCAN01 was not voided').waitFor();
    await expectWord(page, 'UNKNOWN');
    expect(await weights('VOIDSCAN01')).toEqual([2]);
  });

  it('offers it when the service has the parcel, and not while the scan waits', async (page) => {
    await page.evaluate('navigator.serviceWorker.ready');
    await page.context().setOffline(true);
    await scan(page, 'VOIDWAITS1');
    await expectWord(page, 'WEIGH');
    await type(page, '2');
    await page.keyboard.press('Enter');
    await expectWord(page, 'SAVED');
    await press(page, 'F2');
    await correction(page).getByText('Nothing is stored at the service yet', { exact: false }).waitFor();
    expect(await openButton(page).count()).toBe(0);
    await page.context().setOffline(false);
    await openButton(page).waitFor();
  });

  it('says what keeps the receipt, and stays open', async (page) => {
    await receive(page, 'VOIDLATE01');
    await service().owner.query(
      "update packages set received_at = now() - interval '2 days' where tenant_id = $1 and tracking_number = $2",
      [DEMO.tenants.demo, 'VOIDLATE01'],
    );
    await openVoid(page);
    await reason(page).fill('Too late');
    await page.keyboard.press('Enter');
    await voiding(page).getByText('Ask a manager', { exact: false }).waitFor();
    expect(await reason(page).inputValue()).toBe('Too late');
    expect(await weights('VOIDLATE01')).toEqual([2]);
  });
});

it('A receipt that somebody else has voided is no longer listed as received', async (page) => {
  await receive(page, 'VOIDOTHER1');
  const { rows } = await service().owner.query(
    'select id from packages where tenant_id = $1 and tracking_number = $2',
    [DEMO.tenants.demo, 'VOIDOTHER1'],
  );
  const body = { package_id: String(rows[0].id), reason: 'Not here' };
  expect((await service().call('voidReceipt', { as: 'manager', body })).status).toBe(200);
  await page.reload();
  await rowOf(page, 'VOIDOTHER1').getByText('RECEIPT VOID').waitFor();
});

runs('In Spanish, the same dialog voids the receipt', async () => {
  const page = await atWork({
    device: { labels: 'off', hasSound: false, language: 'es', station: 'Dock', isNamed: true },
  });
  await scan(page, 'VOIDESP001');
  await outcomeOf(page).filter({ hasText: 'DESCONOCIDO' }).waitFor();
  await type(page, '2');
  await page.keyboard.press('Enter');
  await until(async () => (await weights('VOIDESP001')).length === 1);
  await press(page, 'F2');
  await page.getByRole('button', { name: 'Anular la recepción …' }).click();
  await page.getByLabel('¿Por qué se anula la recepción?').fill('Etiqueta equivocada');
  expect(await findingsOf(page)).toEqual([]);
  await page.keyboard.press('Enter');
  await outcomeOf(page).filter({ hasText: 'RECEPCIÓN ANULADA' }).waitFor();
  expect(await weights('VOIDESP001')).toEqual([]);
});
