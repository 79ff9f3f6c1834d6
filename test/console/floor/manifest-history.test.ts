import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DEMO } from '../../../fixtures/demo/demo.js';
import { newNumber } from '../../support/builders/parcels.js';
import { findingsOf, logIn } from '../../support/console/browser.js';
import { consoleSuite } from '../../support/console/suite.js';
import { deviceScan } from '../../support/scans/device-scans.js';

// Who has changed a manifest, and who has loaded what.

const { atWork, open, runs, service } = consoleSuite();

const call = async (
  id: Parameters<ReturnType<typeof service>['call']>[0],
  body: object,
  as = 'warehouse',
) => {
  const { status, body: answer } = await service().call(id, { as, body });
  if (status >= 300) throw new Error(`${id}: ${JSON.stringify(answer)}`);
  return answer['data'];
};

type Flight = { manifest_id: string; house: string };

/** Makes a flight that is ready, with one parcel, which is loaded and taken off. */
async function loadedFlight(): Promise<Flight> {
  const parcel = newNumber();
  const received = { tracking_number: parcel, weight: 2, user_code: 'IEX-1001' };
  const { package_id, house_number } = await call('receivePackage', received);
  const { manifest_id } = await call('createManifest', {});
  await call('manageManifest', { action: 'add_packages', manifest_id, package_ids: [package_id] });
  const meta = { action: 'update_meta', manifest_id, flight_number: 'BW 485', status: 'ready' };
  await call('manageManifest', meta, 'manager');
  for (const [kind, secondsAgo, station, as] of [
    ['load', 30, 'Dock 2', 'warehouse'],
    ['unload', 20, 'Dock 3', 'manager'],
  ] as const)
    await call('sendScans', { station, scans: [deviceScan(kind, parcel, secondsAgo, { manifest_id })] }, as);
  return { manifest_id, house: String(house_number) };
}

const openHistory = async (page: Page, manifestId: string, button: string) => {
  await page.evaluate(`location.hash = '#/manifests/${manifestId}'`);
  await page.getByRole('button', { name: button }).click();
};

runs('a worker sees who has loaded a parcel and taken it off, at which station, and each step', async () => {
  const { manifest_id, house } = await loadedFlight();
  const page = await atWork({ user: 'warehouse' });
  await openHistory(page, manifest_id, 'Show the history');
  const history = page.getByTestId('manifest-history');
  const rowsOf = async (name: string) => {
    const table = history.getByRole('region', { name });
    await table.getByRole('row').nth(1).waitFor();
    const rows = await table.locator('tbody tr').all();
    return Promise.all(rows.map(async (row) => (await row.locator('td').allInnerTexts()).slice(1)));
  };
  expect(await rowsOf('Loading')).toEqual([
    ['Demo Manager', 'Dock 3', 'Taken off', house],
    ['Demo Warehouse', 'Dock 2', 'Loaded', house],
  ]);
  expect(await rowsOf('Changes')).toEqual([
    ['Demo Manager', 'Status changed', 'Status: Draft → Ready'],
    ['Demo Manager', 'Flight changed', 'Flight number: BW 485'],
    ['Demo Warehouse', 'Packages added', `Packages: 1 ${house}`],
    ['Demo Warehouse', 'Created', expect.stringContaining('Status: Draft')],
  ]);
  expect(await findingsOf(page)).toEqual([]);

  // A scan on the page puts another parcel on the manifest, and the history is read again.
  const added = newNumber();
  await call('receivePackage', { tracking_number: added, weight: 1, user_code: 'IEX-1001' });
  await page.getByLabel('Number', { exact: true }).fill(added);
  await page.keyboard.press('Enter');
  await history.getByRole('region', { name: 'Changes' }).locator('tbody tr').nth(4).waitFor();
  await history.getByRole('button', { name: house }).first().click();
  await page.getByRole('heading', { level: 1, name: 'Find' }).waitFor();
  await page.getByText(house).first().waitFor();
});

runs('an override says who has shipped an open load, and why', async () => {
  const { manifest_id } = await loadedFlight();
  await call('manageManifest', { action: 'update_meta', manifest_id, loading_gate: 'on' }, 'manager');
  const ship = { action: 'update_meta', manifest_id, status: 'shipped' };
  await call('manageManifest', { ...ship, loading_override_reason: 'The scanner was broken' }, 'manager');
  const page = await atWork({ user: 'manager' });
  await page.goto(`${service().url}/console#/manifests/${manifest_id}`);
  await page.getByRole('button', { name: 'Show the history' }).click();
  const row = page.getByRole('region', { name: 'Loading' }).getByRole('row').nth(1);
  await row.getByText('Shipped with an open load').waitFor();
  await row.getByText('The scanner was broken').waitFor();
});

runs('the history fits on a phone, in Spanish and in the dark, without a finding of axe', async () => {
  const { manifest_id } = await loadedFlight();
  const { page } = await open({ width: 390, colorScheme: 'dark', locale: 'es-ES', isQuiet: false });
  await logIn(page, 'warehouse', DEMO.password);
  await page.locator('.workplace').waitFor();
  await openHistory(page, manifest_id, 'Mostrar el historial');
  await page.getByRole('region', { name: 'Carga' }).getByText('Bajado').waitFor();
  await page.getByRole('region', { name: 'Cambios' }).getByText('Paquetes añadidos').waitFor();
  expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
  expect(await findingsOf(page)).toEqual([]);
});
