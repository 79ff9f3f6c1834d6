import { expect } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { holdBack } from '../../support/console/hold-back.js';
import { consoleSuite } from '../../support/console/suite.js';
import { until } from '../../support/service/processes.js';

const { it, service } = consoleSuite();

const hasFocus = async (page: Page, field: Locator) =>
  (await page.locator(':focus').getAttribute('id')) === (await field.getAttribute('id'));

const open = (page: Page, path: string) => page.goto(`${service().url}/console/${path}`);

it(
  'what a person types into a filter stays while the rows arrive',
  async (page) => {
    const release = await holdBack(page, 'api/AuditLog.php*');
    await open(page, 'audit');
    const kind = page.getByLabel('Kind of record');
    await kind.pressSequentially('couri', { delay: 60 });
    release();
    await page.locator('.grid tbody tr').first().waitFor();
    expect(await kind.inputValue()).toBe('couri');
    await kind.pressSequentially('er', { delay: 60 });
    await kind.press('Enter');
    await page.waitForURL(/entity=courier$/);
    expect(await hasFocus(page, kind)).toBe(true);
    await page.goBack();
    await page.waitForURL(/audit$/);
    await until(async () => (await kind.inputValue()) === '');
  },
  'admin',
);

it(
  'a text is taken when the person clicks elsewhere',
  async (page) => {
    await open(page, 'audit');
    await page.getByLabel('Kind of record').fill('courier');
    await page.getByRole('heading', { name: 'Audit', exact: true }).click();
    await page.waitForURL(/entity=courier$/);
  },
  'admin',
);

it(
  'a day is typed by keys without a stop after the first digit of the year',
  async (page) => {
    await open(page, 'audit');
    const from = page.getByLabel('From', { exact: true });
    await from.focus();
    await page.keyboard.type('11202026', { delay: 60 });
    await page.waitForURL(/from=2026-11-20/);
    expect(await from.inputValue()).toBe('2026-11-20');
    expect(await hasFocus(page, from)).toBe(true);
  },
  'admin',
);
