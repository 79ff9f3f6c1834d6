import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DEMO } from '../../fixtures/demo/seed.js';
import { pressTimed, scan, type } from '../support/console/browser.js';
import { consoleSuite, expectWord, keysAt, press } from '../support/console/suite.js';

// What Receive and Find say about a scan: whose it is, who has announced it, and that it is no parcel.

const { it, service } = consoleSuite();

let serials = 0;
const newNumber = () => `CLAIM-${(serials += 1)}-0O1IL`;

const announce = async (number: string, as: string, code: string) => {
  const body = { user_code: code, tracking_number: number, vendor: 'Example Books' };
  expect((await service().call('createPrealert', { as, body })).status).toBe(201);
};

const receive = async (number: string, fields: object = {}) =>
  (
    await service().call('receivePackage', {
      as: 'warehouse',
      body: { tracking_number: number, weight: 1, ...fields },
    })
  ).body['data'];

/** Scans on a page, and waits for the big word. Returns the text of the page. */
async function scanOn(page: Page, text: string, word: string): Promise<string> {
  await scan(page, text);
  await expectWord(page, word);
  return page.locator('main').innerText();
}

const hasWeight = (page: Page) => page.getByLabel('Weight (lb)').isVisible();

it('Receive shows all claims of a parcel that two couriers announced, and no owner', async (page) => {
  const number = newNumber();
  await announce(number, 'iex', 'IEX-1001');
  await announce(number.toLowerCase(), 'hrb', 'HRB-2001');
  const shown = await scanOn(page, `*${number}*`, 'CHECK OWNER');
  expect(shown).toContain('Open: see who announced it');
  expect(shown).toMatch(/IEX-1001 · .+ · Island Express/);
  expect(shown).toMatch(/HRB-2001 · .+ · Harbour Couriers/);
  await page.keyboard.press('Escape');
  const { house_number } = await receive(number);
  const received = await scanOn(page, house_number, 'ALREADY RECEIVED');
  expect(received).toMatch(/HRB-2001 · .+ · Harbour Couriers/);
  expect(received).toContain('Open: see who announced it');
  await page.keyboard.press('Escape');
});

it("Receive shows the package's own owner for its house number, whoever announced it", async (page) => {
  const number = newNumber();
  const { house_number } = await receive(number, { user_code: 'IEX-1001' });
  await announce(number, 'hrb', 'HRB-2001');
  const shown = await scanOn(page, house_number, 'ALREADY RECEIVED');
  expect(shown).toMatch(/Owner\s+IEX-1001 · .+ · Island Express/i);
  await page.keyboard.press('Escape');
});

it('Receive says that a manifest, a customer code or two codes are no parcel, and asks for no weight', async (page) => {
  const { body } = await service().call('createManifest', { as: 'warehouse', body: {} });
  const manifest = body['data'].manifest_number;
  expect(await scanOn(page, manifest, 'NOT A PARCEL')).toContain(
    `This is the number of the manifest ${manifest}.`,
  );
  expect(await hasWeight(page)).toBe(false);
  expect(await scanOn(page, 'IEX-1001', 'NOT A PARCEL')).toContain('This is a customer code: IEX-1001');
  expect(await hasWeight(page)).toBe(false);
  const number = newNumber();
  await scanOn(page, number, 'UNKNOWN');
  expect(await hasWeight(page)).toBe(true);
  await page.keyboard.press('Escape');
});

const storedWeights = async () => {
  const { rows } = await service().owner.query<{ tracking_number: string; weight: number }>(
    'select tracking_number, weight_lb::float as weight from packages where tenant_id = $1 order by tracking_number',
    [DEMO.tenants.demo],
  );
  return Object.fromEntries(rows.map(({ tracking_number, weight }) => [tracking_number, weight]));
};

/** Two codes that no record decides between. */
const TWO_CODES = 'TWO1-XY\u001dZIP00961';

it('What is no parcel to receive is not received: by Enter, by a scale, by the next scan, or by a page change', async (page) => {
  const { body } = await service().call('createManifest', { as: 'warehouse', body: {} });
  const { house_number: house } = await receive(newNumber());
  const before = await storedWeights();
  const received: Record<string, number> = {};
  const kinds: [text: string, word: string][] = [
    [body['data'].manifest_number, 'NOT A PARCEL'],
    ['IEX-1001', 'NOT A PARCEL'],
    [TWO_CODES, 'ONE CODE'],
    [house, 'ALREADY RECEIVED'],
  ];
  for (const [text, word] of kinds) {
    await page.getByLabel('Number', { exact: true }).fill(text);
    await press(page, 'Enter');
    await expectWord(page, word);
    await press(page, 'Enter');
    await pressTimed(page, keysAt(4, '5.5 lb', 'Enter'));
    await expectWord(page, 'SCAN FIRST');
    await press(page, 'Alt+6');
    await page.getByRole('heading', { level: 1, name: 'Today' }).waitFor();
    expect(await page.getByTestId('waiting-parcel').count()).toBe(0);
    await page.keyboard.press('Alt+1');
    await expectWord(page, word);
    expect(await hasWeight(page)).toBe(false);
    const next = newNumber();
    await scanOn(page, next, 'UNKNOWN');
    await type(page, '2.5');
    await page.keyboard.press('Enter');
    await expectWord(page, 'NO OWNER');
    received[next] = 2.5;
  }
  expect(await storedWeights()).toEqual({ ...before, ...received });
});

it('A weight that was typed before the service says that the scan is a customer receives nothing', async (page) => {
  const before = await storedWeights();
  let answer = (): void => undefined;
  const isTyped = new Promise<void>((resolve) => (answer = resolve));
  await page.route(
    '**/api/ResolveScan.php',
    async (route) => {
      await isTyped;
      await route.continue();
    },
    { times: 1 },
  );
  await scan(page, 'IEX-1001');
  await page.getByLabel('Weight (lb)').waitFor();
  await type(page, '2.5');
  answer();
  await expectWord(page, 'NOT A PARCEL');
  await press(page, 'Enter');
  const next = newNumber();
  await scanOn(page, next, 'UNKNOWN');
  expect(await page.getByLabel('Weight (lb)').inputValue()).toBe('');
  await type(page, '3.5');
  await page.keyboard.press('Enter');
  await expectWord(page, 'NO OWNER');
  expect(await storedWeights()).toEqual({ ...before, [next]: 3.5 });
});

it('Find says the same', async (page) => {
  const number = newNumber();
  await announce(number, 'iex', 'IEX-1001');
  await announce(number, 'hrb', 'HRB-2001');
  await page.getByRole('link', { name: 'Find' }).first().click();
  await page.getByRole('heading', { level: 1, name: 'Find' }).waitFor();
  await scan(page, number);
  await page.getByText('Open: see who announced it').waitFor({ timeout: 10_000 });
  const shown = await page.locator('main').innerText();
  expect(shown).toMatch(/IEX-1001 · .+ · Island Express/);
  expect(shown).toMatch(/HRB-2001 · .+ · Harbour Couriers/);
  await scan(page, 'IEX-1001');
  await page.getByText('This is a customer code: IEX-1001').waitFor({ timeout: 10_000 });
});
