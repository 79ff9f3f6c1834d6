import { expect, test } from '@jest/globals';
import { assertFlatPackage } from '../../../support/receivers/webhook-payloads.js';
import { TOKEN, withRegion } from '../../webhooks/flat-package-region.js';

const { api, db, receive, caused, record } = withRegion();

const REASON = 'It was scanned by mistake.';
const voidReceipt = (package_id: string) =>
  api.as('warehouse').voidReceipt({ package_id, reason: REASON }).ok();

test('a system of the region gets the package with a discrepancy that says so', async () => {
  let id = '';
  const created = await caused(async () => {
    id = await receive({ user_code: 'IEX-1001', length: 12, shipper: 'Amazon' });
  });
  const { path, body } = await caused(() => voidReceipt(id));
  assertFlatPackage('flatPackageUpdated', body);
  expect(path).toBe('/update');
  expect(body).toMatchObject({
    PackageID: id,
    TrackingNumber: created.body['TrackingNumber'],
    ControlNumber: created.body['ControlNumber'],
    UserCode: 'IEX-1001',
    Weight: 2.25,
    Length: 12,
    Width: 0,
    Shipper: 'Amazon',
    EntryDate: created.body['EntryDate'],
    APIToken: TOKEN,
    PackageStatus: 0,
    Discrepancy: true,
    DiscrepancyDescription: 'The receipt was a mistake, and was voided. The parcel is not at the warehouse.',
  });
  expect(JSON.stringify(body)).not.toContain(REASON);
});

test('what is sent again of a package whose receipt was voided says so too', async () => {
  let id = '';
  await caused(async () => {
    id = await receive();
  });
  await caused(() => record(id, 'on_hold'));
  await caused(() => voidReceipt(id));
  const sent = await api.as('iex').listWebhookDeliveries({ package_id: id }).ok();
  expect(sent.data.map(({ type }) => type)).toEqual([
    'package.updated',
    'package.status_changed',
    'package.created',
  ]);
  for (const { delivery_id, type } of sent.data) {
    const { path, body } = await caused(() =>
      api.as('iex').manageWebhookDeliveries({ action: 'redeliver', delivery_id }).ok(),
    );
    assertFlatPackage(type === 'package.created' ? 'flatPackageCreated' : 'flatPackageUpdated', body);
    expect([path, body['PackageID'], body['Discrepancy']]).toEqual([
      type === 'package.created' ? '/add' : '/update',
      id,
      true,
    ]);
  }
  expect(await db.count('webhook_deliveries', { status: 'failed' })).toBe(0);
});
