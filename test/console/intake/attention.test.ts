import { expect } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { findingsOf, logIn, scan, type } from '../../support/console/browser.js';
import { consoleSuite, expectWord } from '../../support/console/suite.js';

// What needs a person is one line below the page. It hides nothing, and loses what is solved.

const { atWork, runs, service } = consoleSuite();

const attentionOf = (page: Page) => page.getByTestId('attention');
const summaryOf = (page: Page) => attentionOf(page).locator('summary');

async function readyManifest(): Promise<string> {
  const { body } = await service().call('createManifest', { as: 'warehouse', body: {} });
  const manifest_id = String(body['data'].manifest_id);
  const ready = { action: 'update_meta', manifest_id, status: 'ready' };
  expect((await service().call('manageManifest', { as: 'manager', body: ready })).status).toBe(200);
  return manifest_id;
}

async function openLoad(page: Page, manifestId: string): Promise<void> {
  await page.evaluate(`location.hash = '#/load/${manifestId}'`);
  await page.getByTestId('count-expected').waitFor();
}

async function atLoad(width: number, height: number): Promise<Page> {
  const manifestId = await readyManifest();
  const page = await atWork({ width, height });
  await openLoad(page, manifestId);
  return page;
}

async function toReceive(page: Page): Promise<void> {
  await page.keyboard.press('Alt+1');
  await page.getByRole('heading', { level: 1, name: 'Receive' }).waitFor();
}

/** Whether the middle of an element can be seen and clicked where it is, without scrolling. */
const isUncovered = (locator: Locator) =>
  locator.evaluate((element) => {
    const { left, top, width, height } = element.getBoundingClientRect();
    const found = element.ownerDocument.elementFromPoint(left + width / 2, top + height / 2);
    return found !== null && element.contains(found);
  });

for (const [width, height] of [
  [853, 533],
  [1280, 800],
  [390, 800],
] as const)
  runs(`${width} x ${height} pixels: it covers neither the word nor the weight nor the buttons`, async () => {
    const page = await atLoad(width, height);
    for (const code of ['COVERED001', 'COVERED002', 'COVERED003']) {
      await scan(page, `${code}${width}`);
      await page
        .getByTestId('outcome')
        .filter({ hasText: `${code}${width}` })
        .waitFor();
    }
    await toReceive(page);
    await summaryOf(page).filter({ hasText: 'Of other pages: 3' }).waitFor();
    await scan(page, 'WORK000001');
    await expectWord(page, 'UNKNOWN');
    const work = [page.getByTestId('outcome'), page.getByLabel('Weight (lb)')];
    for (const shown of work) expect(await isUncovered(shown)).toBe(true);
    for (const name of [/^Receive Enter/, 'Receive and hold', /^Cancel/]) {
      const button = page.getByRole('button', { name });
      await button.evaluate((element) => element.scrollIntoView({ block: 'nearest' }));
      expect([name, await isUncovered(button)]).toEqual([name, true]);
    }
    expect((await attentionOf(page).boundingBox())?.height ?? 0).toBeLessThan(60);
    // Opened, it scrolls in itself, and the word stays in view.
    await summaryOf(page).click();
    await attentionOf(page).getByText(`COVERED001${width}`).first().waitFor();
    expect((await attentionOf(page).boundingBox())?.height ?? 0).toBeLessThanOrEqual(height * 0.31);
    expect(await findingsOf(page)).toEqual([]);
  });

runs(
  'a parcel is one entry however often it is scanned, and leaves the list when it is received',
  async () => {
    const page = await atLoad(1280, 800);
    for (const code of ['STALE00001', 'STALE00002', 'STALE00001', 'STALE00002']) {
      await scan(page, code);
      await page.getByTestId('outcome').filter({ hasText: code }).waitFor();
    }
    await summaryOf(page).filter({ hasText: 'Scans that need you: 2' }).waitFor();
    await summaryOf(page).click();
    expect(await attentionOf(page).getByRole('listitem').count()).toBe(2);
    expect(await attentionOf(page).innerText()).toContain('× 2');
    // Received at this station.
    await toReceive(page);
    await scan(page, 'STALE00001');
    await expectWord(page, 'UNKNOWN');
    await type(page, '2.5');
    await page.keyboard.press('Enter');
    await summaryOf(page).filter({ hasText: 'Of other pages: 1' }).waitFor();
    expect(await attentionOf(page).innerText()).not.toContain('STALE00001');
    // Received by somebody else. The page asks again after a login.
    const body = { tracking_number: 'STALE00002', weight: 1 };
    expect((await service().call('receivePackage', { as: 'manager', body })).status).toBe(201);
    await page.getByRole('button', { name: /Account/ }).click();
    await page.getByRole('button', { name: 'Log out' }).click();
    await logIn(page, 'warehouse', DEMO.password);
    await page.locator('.workplace').waitFor();
    await attentionOf(page).getByText('NOT RECEIVED', { exact: true }).waitFor({ state: 'detached' });
  },
);
