import { appendFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { jestOfFile } from '../../support/fixture/jest-of-file.js';
import { countClicks } from '../../support/console/clicks.js';
import type { Suite } from '../../support/console/suite.js';

type Task = {
  title: string;
  user: string;
  /** The most clicks, from the page that the person sees after the login. */
  most: number;
  /** Does the task with the mouse and the keyboard, as a person does, and asserts its result. */
  work: (page: Page) => Promise<void>;
  /** Makes what the task needs, before the clicks are counted. */
  prepare?: (page: Page) => Promise<void>;
};

/** A file that gets a line per task, with its clicks, for people who compare them. */
const table = process.env['CLICKS'];

/** Writes the clicks of a task to the file. */
export function noteClicks(user: string, clicks: number, most: number, title: string): void {
  if (table) appendFileSync(table, `${user}\t${clicks}\t${most}\t${title}\n`);
}

/** One task of the trial of the console, from the first page after the login to its end. */
export function task(suite: Suite, { title, user, most, work, prepare }: Task): void {
  const { expect } = jestOfFile();
  suite.it(
    `${title}: at most ${most} clicks`,
    async (page) => {
      await prepare?.(page);
      const clicks = await countClicks(page);
      await work(page);
      noteClicks(user, clicks(), most, title);
      expect(clicks()).toBeGreaterThan(0);
      expect(clicks()).toBeLessThanOrEqual(most);
    },
    user,
  );
}

/** Chooses an entry of the menu. */
export const choose = (page: Page, name: string) =>
  page.getByRole('navigation').getByRole('link', { name, exact: true }).first().click();

export const dialogOf = (page: Page) => page.getByRole('dialog');
export const toasts = (page: Page) => page.getByTestId('toasts');
export const rowOf = (page: Page, text: string) => page.locator('.grid tbody tr').filter({ hasText: text });
