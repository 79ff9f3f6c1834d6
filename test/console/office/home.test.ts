import type { Page } from 'playwright-core';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { consoleSuite } from '../../support/console/suite.js';

const { it, service } = consoleSuite();

const count = async (where: string, values: unknown[] = []): Promise<number> => {
  const { rows } = await service().owner.query<{ count: number }>(
    `select count(*)::int as count from packages where tenant_id = $1 and ${where}`,
    [DEMO.tenants.demo, ...values],
  );
  return rows[0]?.count ?? 0;
};

/** Moves the receipt of parcels to the first second of a day in UTC. */
const receive = (ids: readonly string[], daysAgo: number) =>
  service().owner.query(
    `update packages set received_at = date_trunc('day', now() at time zone 'utc') at time zone 'utc' - make_interval(days => $3)
     where tenant_id = $1 and id = any($2)`,
    [DEMO.tenants.demo, ids, daysAgo],
  );

const figure = (page: Page, title: string) =>
  page.locator('.figure').filter({ has: page.getByText(title, { exact: true }) });

it(
  'compares today with the same day of last week, and each figure leads to its list',
  async (page) => {
    const today = DEMO.packages.available.HRB.slice(0, 3);
    await receive(today, 0);
    await receive(DEMO.packages.available.HRB.slice(3, 5), 7);
    await service().call('recordPackageEvent', {
      as: 'manager',
      body: { package_id: today[0] ?? '', status: 'on_hold' },
    });
    await page.goto(`${service().url}/console/home`);
    const received = figure(page, 'Received today');
    await received.getByRole('link', { name: '3', exact: true }).waitFor();
    await received.getByText(/until this hour: [1-9]/).waitFor();
    const row = page.getByRole('row', { name: /^Harbour Couriers/ });
    await row.getByRole('link', { name: '3', exact: true }).waitFor();
    await row.getByRole('link').first().click();
    await page.getByTestId('list-total').getByText('Records: 3').waitFor();
    await page.goBack();
    const { body } = await service().call('getAttention', { as: 'manager' });
    const items = body['data'].items as { kind: string; count: number }[];
    const unknown = items.find(({ kind }) => kind === 'unknown_packages')?.count;
    await figure(page, 'Here without a customer')
      .getByRole('link', { name: String(unknown) })
      .waitFor();
    await figure(page, 'On hold').getByRole('link', { name: '1', exact: true }).click();
    await page.getByTestId('list-total').getByText('Records: 1').waitFor();
    await page.goBack();
    const inWarehouse = await count(`status in ('received', 'on_hold')`);
    await figure(page, 'In the warehouse').getByRole('link').click();
    await page.getByTestId('list-total').getByText(`Records: ${inWarehouse}`).waitFor();
  },
  'manager',
);

it(
  'shows ages and open manifests with links into the list',
  async (page) => {
    await page.goto(`${service().url}/console/home`);
    const old = await count(
      `status in ('received', 'on_hold') and received_at <= now() - interval '30 days'`,
    );
    const ages = page.getByRole('region', { name: 'How long parcels have been here' });
    await ages
      .getByRole('row', { name: /^30 – 59/ })
      .getByRole('link', { name: String(old) })
      .click();
    await page.getByTestId('list-total').getByText(`Records: ${old}`).waitFor();
    await page.goBack();
    const aboard = await count('manifest_id = $2', [DEMO.manifests.draft]);
    const manifests = page.getByRole('region', { name: 'Open manifests' });
    await manifests.getByRole('link', { name: String(aboard), exact: true }).click();
    await page.getByTestId('list-total').getByText(`Records: ${aboard}`).waitFor();
    await page.goBack();
    await manifests.getByRole('link', { name: /^MAN-/ }).click();
    await page.waitForURL(/#\/manifests\//);
  },
  'manager',
);
