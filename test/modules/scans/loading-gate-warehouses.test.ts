import { describe, expect, test } from '@jest/globals';
import { unchecked } from '../../support/fixture/sent.js';
import { withService } from '../../support/fixture/with-service.js';
import { changeMeanwhile } from '../../support/harness/meanwhile.js';
import { deviceScan, newScanNumber, receivedParcel, sendScan } from '../../support/scans/device-scans.js';
import { makeLoading } from '../../support/scans/loading.js';
import { makeManifests, newWarehouse } from '../../support/manifests/manifest-calls.js';
import { makeScanCalls } from '../../support/scans/scan-calls.js';

const NOT_SHIPPED = [400, 'manifest_invalid_transition'] as const;

const { api, db, service } = withService();
const { receive } = makeScanCalls(api);
const { received } = makeLoading(api);
const { draft, ship, update } = makeManifests(api);

const newNumber = () => newScanNumber('GATED');

describe('a receive scan that arrives late, of an earlier time and another warehouse', () => {
  const scanReceipt = async (number: string, secondsAgo: number, fields: object) => {
    const receipt = { user_code: 'IEX-1001', weight: 1, ...fields };
    const result = await sendScan(api, deviceScan('receive', number, secondsAgo, receipt));
    expect(result).toMatchObject({ result: 'done' });
    return receivedParcel(result).package_id;
  };

  async function readyManifest(warehouse_id: string, packageId: string): Promise<string> {
    const { id } = await draft([packageId], { warehouse_id });
    await update(id, { status: 'ready' }).ok();
    return id;
  }

  test('does not take a package on a manifest away from the gate', async () => {
    const [gated, open] = [await newWarehouse(api, true), await newWarehouse(api, false)];
    const number = newNumber();
    const packageId = await scanReceipt(number, 60, { warehouse_id: gated });
    const id = await readyManifest(open, packageId);
    await ship(id).refused(...NOT_SHIPPED);
    await scanReceipt(number, 3_600, { warehouse_id: open, weight: 2 });
    expect(await db.package(packageId)).toMatchObject({ warehouse_id: gated, weight_lb: '2.000' });
    await ship(id).refused(...NOT_SHIPPED);
  });

  test('does not take a package away from the gate before it is on a manifest', async () => {
    const [gated, open] = [await newWarehouse(api, true), await newWarehouse(api, false)];
    const number = newNumber();
    const packageId = await scanReceipt(number, 60, { warehouse_id: gated });
    await scanReceipt(number, 3_600, { warehouse_id: open });
    const id = await readyManifest(open, packageId);
    await ship(id).refused(...NOT_SHIPPED);
  });

  test('does not change the warehouse of a package on a manifest, also between warehouses without a gate', async () => {
    const [first, second] = [await newWarehouse(api, false), await newWarehouse(api, false)];
    const number = newNumber();
    const packageId = await scanReceipt(number, 60, { warehouse_id: first });
    const manifest_id = await readyManifest(first, packageId);
    await scanReceipt(number, 3_600, { warehouse_id: second });
    expect(await db.package(packageId)).toMatchObject({ warehouse_id: first });
    await api
      .as('warehouse')
      .manageManifest({ action: 'remove_packages', manifest_id, package_ids: [packageId] })
      .ok();
    await scanReceipt(number, 7_200, { warehouse_id: second });
    expect(await db.package(packageId)).toMatchObject({ warehouse_id: first });
  });

  test.each([
    ['to the gate', true],
    ['between warehouses without one', false],
  ])('moves a package %s', async (_name, hasGate) => {
    const [open, next] = [await newWarehouse(api, false), await newWarehouse(api, hasGate)];
    const number = newNumber();
    const packageId = await scanReceipt(number, 60, { warehouse_id: open });
    await scanReceipt(number, 3_600, { warehouse_id: next });
    expect(await db.package(packageId)).toMatchObject({ warehouse_id: next });
  });
});

test('the settings of the gate cannot be changed by the warehouse role, whatever the request', async () => {
  const [gated, open] = [await newWarehouse(api, true), await newWarehouse(api, false)];
  const staff = api.as('warehouse');
  const number = newNumber();
  const receipt = { user_code: 'IEX-1001', warehouse_id: gated };
  const { package_id } = (await receive(number, receipt).created()).data;
  const wanted = { warehouse_id: gated, loading_gate: 'off' };
  const { manifest_id: id } = (await staff.createManifest(unchecked(wanted)).ok()).data;
  await staff.manageManifest({ action: 'add_packages', manifest_id: id, package_ids: [package_id] }).ok();
  const change = { action: 'update_meta', manifest_id: id, status: 'ready', warehouse_id: open };
  expect((await staff.manageManifest(unchecked(change)).ok()).data.status).toBe('ready');
  await update(id, { status: 'shipped', loading_gate: 'off' }).refused(403, 'permission_denied');
  for (const body of [
    { action: 'update', warehouse_id: gated, loading_gate: false },
    { action: 'make_primary', warehouse_id: open },
  ])
    await staff.manageWarehouses(unchecked(body)).refused(403, 'permission_denied');
  await staff.updatePackage(unchecked({ package_id, warehouse_id: open, weight: 3 })).ok();
  await receive(number, { ...receipt, warehouse_id: open }).ok();
  await ship(id).refused(...NOT_SHIPPED);
  expect(await db.manifest(id)).toMatchObject({ warehouse_id: gated, loading_gate: 'warehouse' });
  expect(await db.package(package_id)).toMatchObject({ warehouse_id: gated, manifest_id: id });
});

test('the gate counts a package that was added while the shipment waited', async () => {
  const [gated, open] = [await newWarehouse(api, true), await newWarehouse(api, false)];
  const aboard = await received({ user_code: 'IEX-1001', warehouse_id: open });
  const added = await received({ user_code: 'IEX-1001', warehouse_id: gated });
  const { id } = await draft([aboard.id], { warehouse_id: open });
  await update(id, { status: 'ready' }).ok();
  const addition = {
    text: `with locked as materialized (select id from manifests where id = $1 for update)
      update packages p set manifest_id = locked.id from locked where p.id = $2`,
    values: [id, added.id],
  };
  await changeMeanwhile(service().owner, addition, () => ship(id).refused(...NOT_SHIPPED));
});
