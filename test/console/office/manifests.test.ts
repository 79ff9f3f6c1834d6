import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { newNumber } from '../../support/builders/parcels.js';
import { savedFile } from '../../support/console/saved-file.js';
import { consoleSuite } from '../../support/console/suite.js';
import { pagesOf } from '../../support/readers/pdf.js';
import { deviceScan } from '../../support/scans/device-scans.js';

const { it, service } = consoleSuite();

const call = async (id: Parameters<ReturnType<typeof service>['call']>[0], body: object) =>
  (await service().call(id, { as: 'warehouse', body })).body['data'];

const numberOf = async (id: string): Promise<string> => {
  const { rows } = await service().owner.query<{ manifest_number: string }>(
    'select manifest_number from manifests where id = $1',
    [id],
  );
  return rows[0]?.manifest_number ?? '';
};

/** Makes a flight with one package that is ready, and returns its id and the number of the parcel. */
async function readyFlight(): Promise<{ id: string; parcel: string }> {
  const parcel = newNumber();
  const { package_id } = await call('receivePackage', {
    tracking_number: parcel,
    weight: 2,
    user_code: 'IEX-1001',
  });
  const { manifest_id } = await call('createManifest', {});
  await call('manageManifest', { action: 'add_packages', manifest_id, package_ids: [package_id] });
  await call('manageManifest', { action: 'update_meta', manifest_id, status: 'ready' });
  return { id: manifest_id, parcel };
}

const statusOf = async (id: string) =>
  (await service().owner.query<{ status: string }>('select status from manifests where id = $1', [id]))
    .rows[0]?.status;

const load = (kind: 'load' | 'unload', parcel: string, manifest_id: string) =>
  call('sendScans', {
    station: 'Dock 2',
    scans: [deviceScan(kind, parcel, kind === 'load' ? 5 : 1, { manifest_id })],
  });

const rows = (page: Page) => page.locator('.grid tbody tr');

it(
  'a flight is found by its air waybill and its days, opens beside the list, and is saved as a PDF',
  async (page) => {
    const number = await numberOf(DEMO.manifests.draft);
    await page.goto(`${service().url}/console/manifests`);
    await rows(page).nth(1).waitFor();
    await page.getByLabel('Number, air waybill or flight').fill('1061234');
    await page.waitForURL(/search=1061234/);
    await rows(page).nth(1).waitFor({ state: 'detached' });
    expect(await rows(page).count()).toBe(1);
    await rows(page).first().click();
    await page.waitForURL(new RegExp(`/console/manifests/${number}`));
    const panel = page.getByRole('complementary', { name: number });
    await panel.getByText('106-12345675').waitFor();
    await panel.getByRole('row', { name: /^IEX/ }).waitFor();
    const file = await savedFile(page, () =>
      panel.getByRole('button', { name: 'PDF Cargo manifest' }).click(),
    );
    expect(file.name).toBe(`DRAFT-${number}.pdf`);
    expect((await pagesOf(file.bytes)).join('\n')).toContain(number);
    await panel.getByRole('link', { name: 'Open the manifest' }).click();
    await page.waitForURL(new RegExp(`#/manifests/${DEMO.manifests.draft}`));
  },
  'manager',
);

it(
  'the list is ordered by the day of the flight, and a status without manifests says so',
  async (page) => {
    await page.goto(`${service().url}/console/manifests?sort=flight_date`);
    const [draft, shipped] = [await numberOf(DEMO.manifests.draft), await numberOf(DEMO.manifests.shipped)];
    await page.getByRole('link', { name: shipped }).waitFor();
    const numbers = (await rows(page).allTextContents()).map(
      (text) => /MAN-\d{8}-\w{4}/.exec(text)?.[0] ?? '',
    );
    expect(numbers.filter((each) => each === draft || each === shipped)).toEqual([shipped, draft]);
    await page.goto(`${service().url}/console/manifests?status=completed&from=2020-01-01&to=2020-01-02`);
    await page.getByRole('button', { name: 'Remove all filters' }).waitFor();
    await page.goto(`${service().url}/console/manifests/MAN-20200101-NONE`);
    await page.getByText('It may have been deleted.').waitFor();
  },
  'manager',
);

it(
  'a ready manifest goes back to draft after its loaded parcels were taken off',
  async (page) => {
    const { id, parcel } = await readyFlight();
    await load('load', parcel, id);
    await page.goto(`${service().url}/console#/manifests/${id}`);
    const dialog = page.getByRole('dialog', { name: /^Back to draft/ });
    await page.getByRole('button', { name: 'Back to draft' }).click();
    await dialog.getByText('Loaded parcels: 1.').waitFor();
    expect(await dialog.getByRole('button', { name: /^Back to draft/ }).count()).toBe(0);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await load('unload', parcel, id);
    await page.getByRole('button', { name: 'Back to draft' }).click();
    await dialog.getByText('They stay on the manifest').waitFor();
    await dialog.getByRole('button', { name: 'Back to draft (1)' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Make ready' }).waitFor();
    expect(await statusOf(id)).toBe('draft');
  },
  'warehouse',
);
