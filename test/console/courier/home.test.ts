import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { insertBill } from '../../support/builders/bills.js';
import { insertMailedUser } from '../../support/builders/users.js';
import { makeParcels, newNumber } from '../../support/builders/parcels.js';
import { consoleSuite } from '../../support/console/suite.js';

// What a courier sees first.

const { it, service } = consoleSuite();
const { IEX } = DEMO.couriers;

const home = (page: Page) => page.evaluate("location.hash = '#/home'");
const steps = (page: Page) => page.getByTestId('set-up');
const step = (page: Page, name: string) => steps(page).getByRole('listitem').filter({ hasText: name });
const figure = (page: Page, title: string) =>
  page.locator('.figure').filter({ has: page.getByText(title, { exact: true }) });
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor();

const acceptAll = () =>
  service().owner.query(
    `insert into webhook_endpoints (tenant_id, courier_id, endpoint, last_success_at)
     values ($1, $2, 'add_package', now()) on conflict (tenant_id, courier_id, endpoint) do update set last_success_at = now()`,
    [DEMO.tenants.demo, IEX],
  );

it(
  'the first page lists the open steps with what is missing, and disappears when the last one is done',
  async (page) => {
    await heading(page, 'Home');
    await steps(page).getByText('4 of 6 done').waitFor();
    expect(await steps(page).getByRole('link').allTextContents()).toEqual([
      'Connect your system with a webhook',
      'Add a second user',
    ]);
    await step(page, 'Connect your system').getByText('No address is set.').waitFor();
    await step(page, 'Upload your logo').getByText('Done').waitFor();
    await steps(page).getByRole('link', { name: 'Connect your system' }).click();
    await heading(page, 'Webhooks');

    const body = { api_url_add_package: 'https://partner.example/packages' };
    expect((await service().call('updateCourierSettings', { as: 'iex', body })).status).toBe(200);
    await home(page);
    await step(page, 'Connect your system').getByText('Send it a test.').waitFor();
    await acceptAll();
    await page.getByRole('button', { name: 'Refresh' }).click();
    await steps(page).getByText('5 of 6 done').waitFor();

    await steps(page).getByRole('link', { name: 'Add a second user' }).click();
    await heading(page, 'Team');
    await insertMailedUser(service().owner, 'colleague', {
      full_name: 'Cora',
      role: 'courier',
      courier_id: IEX,
    });
    await home(page);
    await figure(page, 'Received today').waitFor();
    await steps(page).waitFor({ state: 'detached' });
    expect(await page.getByRole('button', { name: 'Show the set-up' }).count()).toBe(0);
  },
  'iex',
);

it(
  'the steps stay hidden on this device, and can be shown again',
  async (page) => {
    await service().owner.query('update couriers set phone_number1 = null where id = $1', [IEX]);
    await home(page);
    await page.getByRole('button', { name: 'Refresh' }).click();
    await step(page, 'Fill in your profile').getByText('A telephone number is missing.').waitFor();
    await steps(page).getByRole('button', { name: 'Hide' }).click();
    await steps(page).waitFor({ state: 'detached' });
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await page.reload();
    await figure(page, 'So far (USD)').waitFor();
    await figure(page, 'Received today').waitFor();
    expect(await steps(page).count()).toBe(0);
    // Hidden steps are not asked for, and no list is read.
    expect(asked.filter((path) => path.startsWith('/api/')).sort()).toEqual([
      '/api/Attention.php',
      '/api/GenerateCourierInvoice.php',
      '/api/PackageStatistics.php',
      '/api/Preferences',
      '/api/TenantSettings',
    ]);
    await page.getByRole('button', { name: 'Show the set-up' }).click();
    await step(page, 'Fill in your profile').waitFor();
  },
  'iex',
);

it(
  'counts what needs the courier, with links to the lists, and compares what was received',
  async (page) => {
    const parcels = makeParcels(service());
    const id = await parcels.receive(newNumber(), { user_code: 'IEX-1001' });
    for (const status of ['on_hold', 'customs_hold'] as const) {
      const held = await parcels.receive(newNumber(), { user_code: 'IEX-1001' });
      await service().call('recordPackageEvent', { as: 'manager', body: { package_id: held, status } });
    }
    await service().owner.query(
      `update packages set received_at = received_at - interval '7 days' where id = $1`,
      [id],
    );
    await insertBill(service().owner, {
      courierId: IEX,
      start: '2014-05-01',
      end: '2014-05-31',
      amount: '5.00',
      publishedAt: '2014-06-01T10:00:00Z',
    });
    await home(page);
    await page.getByRole('button', { name: 'Refresh' }).click();
    const { body } = await service().call('getAttention', { as: 'iex' });
    const items = body['data'].items as { kind: string; count: number }[];
    const countOf = (kind: string) => items.find((item) => item.kind === kind)?.count ?? 0;
    for (const [kind, title] of [
      ['packages_on_hold', 'On hold'],
      ['overdue_bills', 'Overdue bills'],
      ['flagged_prealerts', 'Flagged announcements'],
    ] as const) {
      expect(countOf(kind)).toBeGreaterThan(0);
      await figure(page, title)
        .getByRole('link', { name: String(countOf(kind)), exact: true })
        .click();
      await page
        .getByTestId('list-total')
        .getByText(`Records: ${countOf(kind)}`)
        .waitFor();
      await page.goBack();
    }
    const today = new Date().toISOString().slice(0, 10);
    const query = { from: today, to: today };
    const { total, total_before } = (await service().call('getPackageStatistics', { as: 'iex', query })).body[
      'data'
    ];
    await figure(page, 'Received today')
      .getByText(`The whole day last week: ${total_before.count}`)
      .waitFor();
    await figure(page, 'Received today')
      .getByRole('link', { name: String(total.count) })
      .click();
    await page.getByTestId('list-total').getByText(`Records: ${total.count}`).waitFor();
  },
  'iex',
);

it(
  'the names of the pages do not run into each other on a phone, in either language',
  async (page) => {
    await page.setViewportSize({ width: 390, height: 844 });
    const gaps = () =>
      page.evaluate<number[]>(
        `[...document.querySelectorAll('.menu span')].map((name) => name.getBoundingClientRect())
          .map(({ left }, index, all) => (index === 0 ? 99 : left - all[index - 1].right))`,
      );
    for (const language of ['en', 'es']) {
      await page.evaluate(
        `localStorage.setItem('crossdock-device', JSON.stringify({ ...JSON.parse(localStorage.getItem('crossdock-device') ?? '{}'), language: '${language}' }))`,
      );
      await page.reload();
      await heading(page, language === 'en' ? 'Home' : 'Inicio');
      expect((await gaps()).length).toBeGreaterThan(8);
      expect(Math.min(...(await gaps()))).toBeGreaterThan(4);
    }
  },
  'iex',
);
