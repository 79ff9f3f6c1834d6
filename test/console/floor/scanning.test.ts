import { describe, expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { findingsOf, pressTimed, scan, type } from '../../support/console/browser.js';
import { consoleSuite, expectWord, keysAt, press, weightsOf } from '../../support/console/suite.js';

const { it, service } = consoleSuite({ worksOffline: true });

const weights = (number: string) => weightsOf(service(), number);

/** Scans two numbers without a weight between them. */
async function scanTwo(page: Page, first: string, second: string): Promise<void> {
  await scan(page, first);
  await expectWord(page, 'UNKNOWN');
  await scan(page, second);
  await expectWord(page, 'TWO NUMBERS');
}

const unreceived = (page: Page) => page.getByTestId('unreceived');

describe('a second number before the weight of the first', () => {
  it('takes no weight, of a scale or typed, and lists the second as not received', async (page) => {
    await scanTwo(page, 'FIRST00001', 'OTHER00001');
    await pressTimed(page, keysAt(4, '31.5 lb', 'Enter'));
    await expectWord(page, 'TWO NUMBERS');
    await type(page, '31.5');
    await press(page, 'Enter');
    await expectWord(page, 'TWO NUMBERS');
    expect(await page.getByLabel('Weight (lb)').count()).toBe(0);
    expect(await findingsOf(page)).toEqual([]);
    expect(await weights('FIRST00001')).toEqual([]);
    await page.getByRole('button', { name: 'FIRST00001 is on the scale' }).click();
    await unreceived(page).getByText('OTHER00001').first().waitFor();
    await type(page, '2.5');
    await press(page, 'Enter');
    await expectWord(page, 'NO OWNER');
    expect(await weights('FIRST00001')).toEqual([2.5]);
    expect(await weights('OTHER00001')).toEqual([]);
    // It is gone from the list when it is scanned again.
    await scan(page, 'OTHER00001');
    await expectWord(page, 'UNKNOWN');
    await unreceived(page).waitFor({ state: 'detached' });
  });

  it('is decided by scanning one of them again, also after a reload', async (page) => {
    await scanTwo(page, 'FIRST00002', 'OTHER00002');
    await page.reload();
    await page.getByTestId('which').waitFor();
    await scan(page, 'OTHER00002');
    await expectWord(page, 'UNKNOWN');
    await unreceived(page).getByText('FIRST00002').first().waitFor();
    await pressTimed(page, keysAt(4, '31.5 lb', 'Enter'));
    await expectWord(page, 'NO OWNER');
    expect(await weights('OTHER00002')).toEqual([31.5]);
    expect(await weights('FIRST00002')).toEqual([]);
    await scanTwo(page, 'FIRST00003', 'OTHER00003');
    await scan(page, 'FIRST00003');
    await expectWord(page, 'WEIGH');
    await pressTimed(page, keysAt(4, '3.5 lb', 'Enter'));
    await expectWord(page, 'NO OWNER');
    expect(await weights('FIRST00003')).toEqual([3.5]);
    await unreceived(page).getByText('OTHER00003').first().waitFor();
  });

  it('may be another label of the same parcel, or the first is cancelled', async (page) => {
    await scanTwo(page, 'FIRST00004', 'OTHER00004');
    await page.getByRole('button', { name: 'Two labels on one parcel' }).click();
    expect(await unreceived(page).count()).toBe(0);
    await type(page, '4.5');
    await press(page, 'Enter');
    await expectWord(page, 'NO OWNER');
    expect(await weights('FIRST00004')).toEqual([4.5]);
    await scanTwo(page, 'FIRST00005', 'OTHER00005');
    await press(page, 'Escape');
    await expectWord(page, 'CANCELLED');
    await unreceived(page).getByText('OTHER00005').first().waitFor();
    await pressTimed(page, keysAt(4, '31.5 lb', 'Enter'));
    await expectWord(page, 'SCAN FIRST');
    expect(await weights('FIRST00005')).toEqual([]);
  });
});

describe('a slow scanner, at 60, 80 and 120 ms per key', () => {
  /** Scans a parcel that is received already, after which no field has the focus. */
  const scanReceived = async (page: Page, number: string) => {
    await service().call('receivePackage', {
      as: 'warehouse',
      body: { tracking_number: number, weight: 1 },
    });
    await scan(page, number);
    await expectWord(page, 'ALREADY RECEIVED');
  };

  for (const gapMs of [60, 80, 120])
    it(`scans and weighs after a parcel that is received already (${gapMs} ms)`, async (page) => {
      const number = `SLOW-${gapMs}-AB`;
      await scanReceived(page, `KNOWN-${gapMs}-AB`);
      await pressTimed(page, keysAt(gapMs, number, 'Enter'));
      await expectWord(page, 'UNKNOWN');
      await pressTimed(page, keysAt(gapMs, '5.5 lb', 'Enter'));
      await expectWord(page, 'NO OWNER');
      expect(await weights(number)).toEqual([5.5]);
    });

  for (const end of ['Tab', 'a pause'])
    it(`is heard when ${end} ends the scan`, async (page) => {
      await scanReceived(page, `KNOWN-${end.length}-XY`);
      await pressTimed(page, keysAt(80, 'SLOWEND001', ...(end === 'Tab' ? [end] : [])));
      await expectWord(page, 'UNKNOWN');
      expect(await page.locator('.facts').innerText()).toContain('SLOWEND001');
    });

  it('changes no select, and presses no button', async (page) => {
    await page.getByRole('button', { name: /Account/ }).click();
    await page.getByLabel('Language').focus();
    await pressTimed(page, keysAt(80, 'ESS999 S1', 'Enter'));
    await expectWord(page, 'UNKNOWN');
    expect(await page.getByLabel('Language').inputValue()).toBe('en');
    await page.getByRole('button', { name: 'Log out' }).focus();
    await pressTimed(page, keysAt(80, 'ESS 888', 'Enter'));
    await pressTimed(page, keysAt(80, 'E9', 'Enter'));
    await expectWord(page, 'TWO NUMBERS');
    expect(await page.getByLabel('Language').count()).toBe(1);
  });

  it('ends the number in a field for it with Tab', async (page) => {
    await pressTimed(page, keysAt(80, 'SLOWTAB001', 'Tab'));
    await expectWord(page, 'UNKNOWN');
    await pressTimed(page, keysAt(4, '5.25 lb', 'Tab'));
    await expectWord(page, 'NO OWNER');
    expect(await weights('SLOWTAB001')).toEqual([5.25]);
  });
});

describe('a weight of a scale', () => {
  it('is not dropped when another field or a dialog has the focus', async (page) => {
    await scan(page, 'ELSEWHERE1');
    await expectWord(page, 'UNKNOWN');
    await page.getByLabel('Whose parcel is it?').focus();
    await pressTimed(page, keysAt(4, '5.5 lb', 'Enter'));
    expect(await page.getByLabel('Weight (lb)').inputValue()).toBe('5.5 lb');
    expect(await page.getByLabel('Whose parcel is it?').inputValue()).toBe('');
    await page.getByRole('button', { name: /Account/ }).click();
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByRole('button', { name: 'Stay' }).waitFor();
    await pressTimed(page, keysAt(4, '6.5 lb', 'Enter'));
    await page.getByRole('button', { name: 'Receive it with 6.5 lb, then log out' }).waitFor();
    expect(await weights('ELSEWHERE1')).toEqual([]);
  });
});

it('A number that is one character off an announced one is offered', async (page) => {
  const body = { user_code: 'IEX-1001', tracking_number: '1ZA17R92YW97893937', vendor: 'Example Books' };
  expect((await service().call('createPrealert', { as: 'iex', body })).status).toBe(201);
  await scan(page, '1ZA17R92YW97893932');
  await expectWord(page, 'UNKNOWN');
  await page.getByTestId('outcome').getByText('look for a second label').waitFor();
  await type(page, '7.5');
  await page.getByRole('button', { name: /1ZA17R92YW97893937/ }).click();
  await expectWord(page, 'WEIGH');
  await page.getByLabel('Weight (lb)').focus();
  await press(page, 'Enter');
  await expectWord(page, 'RECEIVED');
  expect(await weights('1ZA17R92YW97893937')).toEqual([7.5]);
});

it('The badge says at once that the network is gone, and Find says that a parcel is announced', async (page) => {
  const body = { user_code: 'IEX-1001', tracking_number: 'ANNOUNCED-77', vendor: 'Example Books' };
  expect((await service().call('createPrealert', { as: 'iex', body })).status).toBe(201);
  await page.evaluate(`location.hash = '#/find'`);
  await page.getByLabel('Code, number, customer or name').waitFor();
  await scan(page, 'ANNOUNCED-77');
  await page.getByText('Announced, but not received yet.').waitFor();
  expect(await page.getByText('No package found').count()).toBe(0);
  await page.context().setOffline(true);
  await page
    .getByTestId('queue')
    .filter({ hasText: /^Offline$/ })
    .waitFor({ timeout: 500 });
});
