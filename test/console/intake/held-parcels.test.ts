import { describe, expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DEMO } from '../../../fixtures/demo/demo.js';
import { findingsOf, pressTimed, scan, type } from '../../support/console/browser.js';
import { consoleSuite, expectWord, keysAt, press, weightsOf } from '../../support/console/suite.js';
import { until } from '../../support/service/processes.js';

const { it, service } = consoleSuite();

const statusOf = async (number: string): Promise<string | undefined> => {
  const { rows } = await service().owner.query<{ status: string }>(
    'select status from packages where tracking_number = $1',
    [number],
  );
  return rows[0]?.status;
};

const untilStatus = (number: string, status: string) =>
  until(async () => (await statusOf(number)) === status);

const announce = async (number: string, code: string) => {
  const body = { UserCode: code, TrackingNumber: number };
  const { status } = await service().call('submitPrealert', { key: DEMO.apiKeys.IEX, body });
  expect(status).toBe(201);
};

const button = (page: Page, name: string) => page.getByRole('button', { name });

/** A scale that types the weight and Enter. */
const weigh = (page: Page, text: string) => pressTimed(page, keysAt(4, text, 'Enter'));

describe('receive and hold', () => {
  it('is remembered until the weight comes, also that of a scale, and over a reload', async (page) => {
    await scan(page, 'HOLDFIRST001');
    await expectWord(page, 'UNKNOWN');
    await button(page, 'Receive and hold').click();
    await expectWord(page, 'WEIGH FIRST');
    expect(await findingsOf(page)).toEqual([]);
    await page.reload();
    await button(page, 'Do not hold').waitFor();
    await weigh(page, '3.25 lb');
    await untilStatus('HOLDFIRST001', 'on_hold');
    expect(await weightsOf(service(), 'HOLDFIRST001')).toEqual([3.25]);
    // It was for that parcel only.
    await scan(page, 'HOLDFIRST002');
    await expectWord(page, 'UNKNOWN');
    await weigh(page, '3.5 lb');
    await untilStatus('HOLDFIRST002', 'received');
  });

  it('is taken back before the weight', async (page) => {
    await scan(page, 'HOLDFIRST003');
    await expectWord(page, 'UNKNOWN');
    await button(page, 'Receive and hold').click();
    await button(page, 'Do not hold').click();
    await weigh(page, '4.25 lb');
    await untilStatus('HOLDFIRST003', 'received');
  });
});

describe('two labels on one parcel', () => {
  const scanBoth = async (page: Page, first: string, second: string) => {
    await scan(page, first);
    await expectWord(page, 'WEIGH');
    await scan(page, second);
    await expectWord(page, 'TWO NUMBERS');
    await button(page, 'Two labels on one parcel').click();
  };

  it('of two owners are shown, and the parcel is held', async (page) => {
    await announce('TWOLABELS0001', 'IEX-1001');
    await announce('TWOLABELS0002', 'IEX-1003');
    await scanBoth(page, 'TWOLABELS0001', 'TWOLABELS0002');
    await expectWord(page, 'CHECK OWNER');
    await page.getByText('The label TWOLABELS0002 belongs to IEX-1003').waitFor();
    await type(page, '5.5');
    await press(page, 'Enter');
    await untilStatus('TWOLABELS0001', 'on_hold');
    expect(await weightsOf(service(), 'TWOLABELS0001')).toEqual([5.5]);
  });

  it('of one owner are one parcel, which is not held', async (page) => {
    await announce('TWOLABELS0003', 'IEX-1001');
    await announce('TWOLABELS0004', 'IEX-1001');
    await scanBoth(page, 'TWOLABELS0003', 'TWOLABELS0004');
    await expectWord(page, 'WEIGH');
    await type(page, '6.5');
    await press(page, 'Enter');
    await untilStatus('TWOLABELS0003', 'received');
  });
});

describe('a scan right behind a weight without Enter', () => {
  /** A scanner that hesitates after its first key, so that the last digit of a weight may be that key. */
  const hesitant = (code: string, gapMs: number) =>
    keysAt(4, code, 'Enter').map((key, index) => ({ ...key, gapMs: [gapMs, 45][index] ?? key.gapMs }));

  /** Types a weight, and scans so shortly afterwards that nobody can tell where it ends. */
  const scanBehindWeight = async (page: Page, first: string, behind: string, gapMs: number) => {
    await pressTimed(page, hesitant(first, 4));
    await expectWord(page, 'UNKNOWN');
    await pressTimed(page, [...keysAt(120, '12.06'), ...hesitant(behind, gapMs)]);
  };

  for (const gapMs of [90, 150])
    it(`at ${gapMs} ms gives no weight to the first parcel before one is scanned again`, async (page) => {
      const [first, second] = [`BEHIND${gapMs}A001`, `BEHIND${gapMs}B001`];
      await scanBehindWeight(page, first, second, gapMs);
      await expectWord(page, 'SCAN AGAIN');
      expect(await findingsOf(page)).toEqual([]);
      await weigh(page, '12.07 lb');
      await expectWord(page, 'SCAN AGAIN');
      expect(await weightsOf(service(), first)).toEqual([]);
      await scan(page, second);
      await expectWord(page, 'UNKNOWN');
      await page.getByTestId('unreceived').getByText(first).first().waitFor();
      await weigh(page, '12.08 lb');
      await untilStatus(second, 'received');
      expect(await weightsOf(service(), second)).toEqual([12.08]);
      expect(await weightsOf(service(), first)).toEqual([]);
    });

  it('whose keys came slowly into the field is no weight, and the next weight is that of nobody', async (page) => {
    await scan(page, 'BEHINDSLOW01');
    await expectWord(page, 'UNKNOWN');
    await type(page, '21.22TBA305888880515');
    await press(page, 'Enter');
    await expectWord(page, 'SCAN AGAIN');
    await weigh(page, '12.07 lb');
    await expectWord(page, 'SCAN AGAIN');
    await scan(page, 'BEHINDSLOW01');
    await expectWord(page, 'WEIGH');
    await weigh(page, '12.09 lb');
    await untilStatus('BEHINDSLOW01', 'received');
    expect(await weightsOf(service(), 'BEHINDSLOW01')).toEqual([12.09]);
  });
});

describe('a scale that has not settled', () => {
  it('gives no weight, and its text is no parcel', async (page) => {
    await scan(page, 'UNSETTLED001');
    await expectWord(page, 'UNKNOWN');
    for (const text of ['US,GS,+0012.35lb', 'S D     12.35 kg', 'ST,GS,-0000.05kg']) {
      await weigh(page, text);
      await expectWord(page, 'WEIGH AGAIN');
      expect(await page.getByLabel('Weight (lb)').inputValue()).toBe('');
    }
    await weigh(page, 'ST,GS,+0012.35lb');
    await untilStatus('UNSETTLED001', 'received');
    expect(await weightsOf(service(), 'UNSETTLED001')).toEqual([12.35]);
    // The parcel is stored before the page knows it. Until then, the text of the scale is about this parcel.
    await expectWord(page, 'NO OWNER');
    await weigh(page, 'US,GS,+0012.35lb');
    await expectWord(page, 'SCAN FIRST');
  });
});
