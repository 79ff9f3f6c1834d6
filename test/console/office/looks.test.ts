import { expect } from '@jest/globals';
import { findingsOf, logIn } from '../../support/console/browser.js';
import { consoleSuite } from '../../support/console/suite.js';
import { DEMO } from '../../../fixtures/demo/seed.js';

const { open, runs, service } = consoleSuite();

/** Each page, and each part of an object. */
const PATHS = [
  'customers',
  'customers?search=nothing-has-this',
  'customers/IEX-1001',
  'customers?new=customer',
  'customers?new=import',
  'couriers',
  'couriers/new',
  'couriers/IEX',
  ...['users', 'key', 'webhooks', 'rates', 'bills', 'statement', 'sync'].map((tab) => `couriers/IEX/${tab}`),
  'rates',
  'team',
  'team/iex',
  'team?new=user',
  'audit',
];

for (const [width, colorScheme, locale] of [
  [1280, 'light', 'en-US'],
  [1280, 'dark', 'en-US'],
  [390, 'light', 'es-ES'],
  [390, 'dark', 'es-ES'],
] as const)
  runs(
    `no page of the office has a finding of axe, or scrolls sideways (${width} pixels, ${colorScheme}, ${locale})`,
    async () => {
      const { page } = await open({ width, colorScheme, locale, isQuiet: false });
      await logIn(page, 'admin', DEMO.password);
      await page.locator('.office').waitFor();
      const findings: Record<string, string[]> = {};
      for (const path of PATHS) {
        await page.goto(`${service().url}/console/${path}`);
        await page.locator('main h1').waitFor();
        await page.waitForLoadState('networkidle');
        const isWide = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');
        findings[path] = [...(isWide ? ['scrolls sideways'] : []), ...(await findingsOf(page))];
        if (process.env['SCREENSHOTS'])
          await page.screenshot({
            path: `${process.env['SCREENSHOTS']}/${path.replaceAll(/\W/g, '-')}-${width}-${colorScheme}.png`,
          });
      }
      expect(findings).toEqual(Object.fromEntries(PATHS.map((path) => [path, []])));
    },
  );
