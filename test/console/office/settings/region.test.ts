import { afterEach, expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { consoleSuite } from '../../../support/console/suite.js';

const { atWork, it, runs, service } = consoleSuite({ worksOffline: true });

const [PARCEL] = DEMO.packages.available.IEX;
/** An evening in Miami, when it is the next day in UTC. */
const EVENING = '2026-07-02T02:30:00Z';

afterEach(() => service().owner.query('delete from tenant_settings'));

const setZone = (time_zone: string) =>
  service().call('updateTenantSettings', { as: 'admin', body: { time_zone } });
const receiveAt = (moment: string) =>
  service().owner.query('update packages set received_at = $1 where id = $2', [moment, PARCEL]);
const times = (page: Page) => page.getByTestId('times');

it(
  'an administrator sets the time zone, all times follow it, and the change is undone',
  async (page) => {
    await page.goto(`${service().url}/console/settings/region`);
    await times(page).getByText('Times: UTC.', { exact: true }).waitFor();
    await page.getByLabel('Time zone of the warehouse').selectOption('America/New_York');
    await page.getByRole('button', { name: 'Save' }).click();
    await times(page)
      .getByText(/^Times: America\/New_York \(GMT-[45]\)\. Days of bills: UTC\.$/)
      .waitFor();
    const stored = async () => (await service().call('getTenantSettings', { as: 'iex' })).body['data'];
    expect(await stored()).toMatchObject({ time_zone: 'America/New_York', currency: 'USD' });
    await page.getByTestId('toasts').getByRole('button', { name: 'Undo' }).click();
    await times(page).getByText('Times: UTC.', { exact: true }).waitFor();
    expect(await stored()).toMatchObject({ time_zone: 'UTC' });
  },
  'admin',
);

it(
  'a currency that cannot change is refused at its field',
  async (page) => {
    await page.goto(`${service().url}/console/settings/region`);
    await page.getByLabel('Currency').fill('jmd');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Bills were published in USD').waitFor();
    expect(await page.getByLabel('Currency').getAttribute('aria-invalid')).toBe('true');
  },
  'admin',
);

it(
  'an administrator sets after how many hours a delivered parcel is missing',
  async (page) => {
    await page.goto(`${service().url}/console/settings/region`);
    const hours = page.getByLabel('Hours until a delivered parcel is missing');
    expect(await hours.inputValue()).toBe('24');
    await hours.fill('721');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.locator('[name=missing_after_hours][aria-invalid=true]').waitFor();
    await hours.fill('48');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByTestId('toasts').getByRole('button', { name: 'Undo' }).waitFor();
    const stored = await service().call('getTenantSettings', { as: 'iex' });
    expect(stored.body['data']).toMatchObject({ missing_after_hours: 48, time_zone: 'UTC' });
  },
  'admin',
);

runs('lists show and filter by the days of the warehouse, whatever the zone of the device is', async () => {
  await setZone('America/New_York');
  await receiveAt(EVENING);
  const page = await atWork({ user: 'manager', timezoneId: 'Asia/Tokyo' });
  await page.goto(`${service().url}/console/parcels?from=2026-07-01&to=2026-07-01`);
  await page.locator('.grid tbody tr').first().waitFor();
  expect(await page.locator('.grid tbody tr').count()).toBe(1);
  await page.locator('.grid tbody').getByText('Jul 1, 10:30').waitFor();
  await page.goto(`${service().url}/console/parcels?from=2026-07-02&to=2026-07-02`);
  await page.getByText('Nothing matches the search').first().waitFor();
});

runs('a station and a courier name the zone, also without a connection', async () => {
  await setZone('America/Jamaica');
  const station = await atWork({ user: 'warehouse' });
  await times(station).getByText('Times: America/Jamaica (GMT-5).', { exact: true }).waitFor();
  await station.context().setOffline(true);
  await station.getByRole('link', { name: 'Today' }).click();
  await times(station).getByText('Times: America/Jamaica (GMT-5).', { exact: true }).waitFor();
  await station.context().setOffline(false);
  const courier = await atWork({ user: 'iex' });
  await times(courier).getByText('Times: America/Jamaica (GMT-5). Days of bills: UTC.').waitFor();
});

runs('amounts are named by the currency of the tenant', async () => {
  await service().owner.query(
    "insert into tenant_settings (tenant_id, time_zone, currency) values ($1, 'America/Jamaica', 'JMD')",
    [DEMO.tenants.demo],
  );
  const page = await atWork({ user: 'manager' });
  await page.goto(`${service().url}/console/bills/accounts`);
  await page.getByText('To pay (JMD)').first().waitFor();
});
