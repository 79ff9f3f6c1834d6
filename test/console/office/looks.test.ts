import { expect } from '@jest/globals';
import { findingsOf, logIn } from '../../support/console/browser.js';
import { consoleSuite } from '../../support/console/suite.js';
import { share } from '../../support/harness/effort.js';
import { DEMO } from '../../../fixtures/demo/seed.js';

const { open, runs, service } = consoleSuite();

/** A day that many days from today, in UTC. */
const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

/** Each page. */
const PAGES = [
  'home',
  'parcels',
  'parcels?status=shipped,on_hold&owner=customer&search=no-such-parcel',
  `parcels/${DEMO.packages.shipped.IEX[0]}`,
  `parcels/${DEMO.packages.ownerUnknown[0]}`,
  'places',
  'places?search=nowhere&sort=-packages',
  'manifests',
  'manifests?sort=flight_date&status=draft&from=2026-01-01',
  'manifests/nothing',
  `manifests/MAN-${day(-1).replaceAll('-', '')}-K7Q2`,
  'unknown',
  'unknown/claims',
  'customers',
  'customers?search=nothing-has-this',
  'customers/IEX-1001',
  'customers?new=customer',
  'customers?new=import',
  'couriers',
  'couriers/new',
  'rates',
  'webhooks',
  'webhooks/IEX',
  'reports',
  'reports?by=week&from=2026-01-01&to=2026-01-31',
  'reports?from=2026-01-01&to=2026-03-31',
  'team',
  'team/iex',
  'team?new=user',
  'audit',
  'me',
];

/** Each page of announcements, bills and settings. */
const MORE = [
  'announcements',
  'announcements?new=announcement',
  'announcements?new=upload',
  'announcements?status=missing',
  'announcements/5870824153',
  'bills',
  'bills?status=draft&from=2020-01-01',
  'bills/month',
  `bills/month?of=${DEMO.couriers.IEX}&from=${day(-60)}&to=${day(0)}`,
  'bills/run',
  `bills/run?month=${day(-30).slice(0, 7)}`,
  'bills/accounts',
  'bills/accounts?overdue=true',
  `bills/${DEMO.bills.draft}`,
  `bills/${DEMO.bills.published}`,
  'bills/nothing',
  'settings',
  `settings/warehouses?of=${DEMO.warehouses.second}`,
  'settings/warehouses?new=warehouse',
  'settings/carriers',
  'settings/stations',
  'settings/stations?of=Dock 1',
  'settings/billing',
  'settings/region',
  'settings/security',
  'settings/tokens',
];

/** Each part of a courier. */
const PARTS = [
  'profile',
  'users',
  'key',
  'tokens',
  'webhooks',
  'feeds',
  'calls',
  'sandbox',
  'rates',
  'bills',
  'statement',
  'sync',
].map((tab) => `couriers/IEX/${tab}`);

/** Each page of a courier, whose addresses are behind the hash. */
const OF_COURIER = [
  'home',
  'parcels',
  'parcels?search=nothing-has-this',
  `parcels/${DEMO.packages.shipped.IEX[0]}`,
  'unknown',
  `unknown/${DEMO.packages.customerUnknown.IEX[0]}`,
  'claims',
  'claims?new=claim',
  'announce',
  'announce?new=file',
  'announce?status=missing',
  `announce/${DEMO.prealerts.flagged.IEX[0]}`,
  'customers',
  'customers?new=import',
  'customers/IEX-1001',
  'syncs',
  'bills',
  `bills/${DEMO.bills.paid}`,
  'month',
  'statement',
  'developers',
  'webhooks',
  'tokens',
  'feeds',
  'events',
  'calls',
  'calls?status_class=4xx&parcel=NOTHING10001',
  'team',
  'team/iex',
  'profile',
].map((path) => `#/${path}`);

const MODES = [
  [1280, 'light', 'en-US'],
  [1280, 'dark', 'en-US'],
  [390, 'light', 'es-ES'],
  [390, 'dark', 'es-ES'],
] as const;

/** A folder for pictures of the pages, for people who look at them. */
const pictures = process.env['SCREENSHOTS'];

for (const [title, user, paths] of [
  ['no page of the office', 'admin', PAGES],
  ['no page of announcements, bills and settings', 'admin', MORE],
  ['no part of a courier', 'admin', PARTS],
  ['no page that a courier has', 'iex', OF_COURIER],
] as const)
  for (const [index, [width, colorScheme, locale]] of MODES.entries())
    runs(
      `${title} has a finding of axe, or scrolls sideways (${width} pixels, ${colorScheme}, ${locale})`,
      async () => {
        const { page } = await open({ width, colorScheme, locale, isQuiet: false });
        await logIn(page, user, DEMO.password);
        await page.locator('.workplace').waitFor();
        const findings: Record<string, string[]> = {};
        // In a default run each page is looked at in one mode.
        const looked = share(paths, index, MODES.length);
        for (const path of looked) {
          // Another hash alone would not load the page again.
          if (path.startsWith('#')) await page.goto('about:blank');
          await page.goto(`${service().url}/console${path.startsWith('#') ? '' : '/'}${path}`);
          await page.locator('main h1').waitFor();
          await page.waitForLoadState('networkidle');
          const isWide = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');
          findings[path] = [...(isWide ? ['scrolls sideways'] : []), ...(await findingsOf(page))];
          const name = `${path.replaceAll(/\W/g, '-')}-${width}-${colorScheme}-${locale}.png`;
          if (pictures) await page.screenshot({ path: `${pictures}/${name}` });
        }
        expect(findings).toEqual(Object.fromEntries(looked.map((path) => [path, []])));
      },
    );
