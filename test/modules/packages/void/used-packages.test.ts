import { expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { newNumber } from '../../../support/builders/parcels.js';
import { withService } from '../../../support/fixture/with-service.js';
import { makeManifests } from '../../../support/manifests/manifest-calls.js';
import { deviceScan, sendScan } from '../../../support/scans/device-scans.js';
import { makeScanCalls } from '../../../support/scans/scan-calls.js';

// What keeps a receipt from being voided. Then nothing changes.

const { IEX } = DEMO.couriers;

const { api, db } = withService();
const { receive } = makeScanCalls(api);
const manifests = makeManifests(api);

const voidReceipt = (package_id: string, as = 'warehouse') =>
  api.as(as).voidReceipt({ package_id, reason: 'The number of the shelf was scanned.' });

async function receiveFor(user_code: string) {
  const number = newNumber();
  return { number, id: (await receive(number, { user_code }).created()).data.package_id };
}

test('a receipt is not voided if the package is on a manifest, and after it has left', async () => {
  const { id } = await receiveFor('IEX-1001');
  const manifest = await manifests.draft([id]);
  const before = await db.fingerprint();
  const refusal = await voidReceipt(id, 'admin').refused(409, 'receipt_not_voidable');
  expect(refusal.message).toBe(
    `The package is on manifest ${manifest.number}. Remove it from the manifest, then void the receipt.`,
  );
  expect(await db.fingerprint()).toEqual(before);
  await manifests.update(manifest.id, { status: 'ready' }).ok();
  await manifests.ship(manifest.id).ok();
  expect((await voidReceipt(id, 'admin').refused(409, 'receipt_not_voidable')).message).toContain(
    'is shipped',
  );
});

test('a receipt is not voided if it has come back from a flight', async () => {
  const { id } = await receiveFor('IEX-1001');
  for (const status of ['in_transit', 'on_hold'] as const)
    await api.as('warehouse').recordPackageEvent({ package_id: id, status }).succeeded();
  await voidReceipt(id, 'admin').refused(409, 'receipt_not_voidable');
});

test.each(['customs_hold', 'returned', 'lost'] as const)(
  'a receipt is not voided if it is %s',
  async (status) => {
    const { id } = await receiveFor('IEX-1001');
    await api.as('warehouse').recordPackageEvent({ package_id: id, status }).succeeded();
    const { message } = await voidReceipt(id, 'admin').refused(409, 'receipt_not_voidable');
    expect(message).toContain(status);
  },
);

test('a receipt is voided if the package is on hold', async () => {
  const { id } = await receiveFor('IEX-1001');
  await api.as('warehouse').recordPackageEvent({ package_id: id, status: 'on_hold' }).succeeded();
  await voidReceipt(id).ok();
});

test('a receipt is not voided if it is loaded, until it is taken off', async () => {
  const [{ id, number }, aboard] = [await receiveFor('IEX-1001'), await receiveFor('IEX-1001')];
  const manifest = await manifests.ready([aboard.id]);
  await sendScan(api, deviceScan('load', number, 5, { manifest_id: manifest.id }));
  const { message } = await voidReceipt(id).refused(409, 'receipt_not_voidable');
  expect(message).toBe(
    `The parcel is loaded for manifest ${manifest.number}. Take it off, then void the receipt.`,
  );
  await sendScan(api, deviceScan('unload', number, 4, { manifest_id: manifest.id }));
  await voidReceipt(id).ok();
  const loading = await api.as('warehouse').getManifestLoading({ manifest_id: manifest.id }).ok();
  expect(JSON.stringify(loading.data)).not.toContain(number);
});

test('a receipt is not voided if it is on a bill, until the draft is deleted', async () => {
  const { id } = await receiveFor('IEX-1001');
  const today = new Date().toISOString().slice(0, 10);
  const draft = {
    action: 'create_draft',
    courier_id: IEX,
    start_date: today,
    end_date: today,
    service_type: 'Air',
  } as const;
  const bill = await api.as('manager').manageCourierBills(draft).succeeded();
  const { message } = await voidReceipt(id).refused(409, 'receipt_not_voidable');
  expect(message).toContain(`is on bill ${bill.data.invoice_number}`);
  await api.as('manager').manageCourierBills({ action: 'delete_draft', bill_id: bill.data.bill_id }).ok();
  await voidReceipt(id).ok();
});

test('a receipt is not voided by a worker a day later, but by a manager', async () => {
  const { id } = await receiveFor('IEX-1001');
  await db.query("update packages set received_at = now() - interval '25 hours' where id = $1", [id]);
  const { message } = await voidReceipt(id).refused(403, 'permission_denied');
  expect(message).toContain('Ask a manager');
  await voidReceipt(id, 'manager').ok();
});

test('a receipt is not voided by a courier, of another tenant, without a reason, and the second time', async () => {
  const { id } = await receiveFor('IEX-1001');
  await voidReceipt(id, 'iex').refused(403, 'permission_denied');
  await voidReceipt(id, 'two/admin').refused(404, 'package_not_found');
  for (const reason of ['', '  '])
    await api
      .as('warehouse')
      .voidReceipt({ package_id: id, reason })
      .refused(400, 'validation_failed', 'reason');
  await voidReceipt(id).ok();
  await voidReceipt(id).refused(404, 'package_not_found');
});
