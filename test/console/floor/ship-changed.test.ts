import { expect } from '@jest/globals';
import { newNumber } from '../../support/builders/parcels.js';
import { findingsOf } from '../../support/console/browser.js';
import { consoleSuite } from '../../support/console/suite.js';
import { until } from '../../support/service/processes.js';
import { deviceScan } from '../../support/scans/device-scans.js';

const { it, service } = consoleSuite();

const asWarehouse = async (id: 'receivePackage' | 'manageManifest' | 'sendScans', body: object) => {
  const reply = await service().call(id, { as: 'warehouse', body });
  expect(reply.status).toBeLessThan(300);
  return reply.body['data'];
};

it('what was loaded while the question was open is shown before anything is shipped', async (page) => {
  const numbers = [newNumber(), newNumber()];
  const package_ids: string[] = [];
  for (const tracking_number of numbers) {
    const parcel = { tracking_number, weight: 1, user_code: 'IEX-1001' };
    package_ids.push((await asWarehouse('receivePackage', parcel)).package_id);
  }
  const { body } = await service().call('createManifest', { as: 'warehouse', body: {} });
  const { manifest_id } = body['data'];
  await asWarehouse('manageManifest', { action: 'add_packages', manifest_id, package_ids });
  await asWarehouse('manageManifest', { action: 'update_meta', manifest_id, status: 'ready' });
  const statusNow = async () => {
    const { rows } = await service().owner.query<{ status: string }>(
      'select status from manifests where id = $1',
      [manifest_id],
    );
    return rows[0]?.status;
  };

  await page.evaluate(`location.hash = '#/manifests/${manifest_id}'`);
  await page.getByRole('button', { name: 'Ship', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByTestId('ask-missing').filter({ hasText: '2' }).waitFor();
  await asWarehouse('sendScans', {
    station: 'Dock',
    scans: [deviceScan('load', numbers[0] ?? '', 1, { manifest_id })],
  });
  await dialog.getByRole('button', { name: 'Ship (2)', disabled: false }).click();
  await dialog.getByText('Somebody has changed the flight meanwhile.').waitFor();
  await dialog.getByTestId('ask-missing').filter({ hasText: '1' }).waitFor();
  expect(await findingsOf(page)).toEqual([]);
  expect(await statusNow()).toBe('ready');
  // Another parcel in the place of one: the figures are the same.
  const other = { tracking_number: newNumber(), weight: 1, user_code: 'IEX-1001' };
  const { package_id } = await asWarehouse('receivePackage', other);
  const change = (action: string, id: string) =>
    asWarehouse('manageManifest', { action, manifest_id, package_ids: [id] });
  await change('remove_packages', package_ids[1] ?? '');
  await change('add_packages', package_id);
  await dialog.getByRole('button', { name: 'Ship (2)', disabled: false }).click();
  await dialog.getByText(other.tracking_number).or(dialog.getByText('Missing')).first().waitFor();
  await until(
    async () => (await dialog.getByRole('button', { name: 'Ship (2)', disabled: false }).count()) === 1,
  );
  expect(await statusNow()).toBe('ready');
  await dialog.getByRole('button', { name: 'Ship (2)', disabled: false }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(await statusNow()).toBe('shipped');
});
