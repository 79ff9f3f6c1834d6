import type { Page } from 'playwright-core';
import { DEMO } from '../../../fixtures/demo/demo.js';

// A station that nobody uses (decision 0136).

/** The station looks every 5 seconds. */
export const LONGER_THAN_A_CHECK_MS = 7_000;

export const locked = (page: Page) => page.getByRole('dialog', { name: 'Locked' });

export const loginPage = (page: Page): Promise<void> =>
  page.locator('[autocomplete="username"]:enabled').waitFor();

/** Nobody has used the device for some minutes. */
export const leaveAlone = (page: Page, minutes: number): Promise<unknown> =>
  page.evaluate(`localStorage.setItem('crossdock-last-input', String(Date.now() - ${minutes} * 60000))`);

export async function lockNow(page: Page): Promise<void> {
  await page.getByRole('button', { name: /Account/ }).click();
  await page.getByRole('button', { name: /^Lock or change worker/ }).click();
  await locked(page).waitFor();
}

export async function unlock(page: Page): Promise<void> {
  await locked(page).getByLabel('Password').fill(DEMO.password);
  await page.keyboard.press('Enter');
  await locked(page).waitFor({ state: 'detached' });
}
