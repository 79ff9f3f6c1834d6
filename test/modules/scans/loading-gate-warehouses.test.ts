import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { changeMeanwhile } from '../../support/harness/meanwhile.js';
import { deviceScan, sendScans } from '../../support/scans/device-scans.js';
import { startService, type Service } from '../../support/service/service.js';

let service: Service;

beforeAll(async () => {
  service = await startService();
});

afterAll(async () => {
  await service.stop();
});

let serials = 0;
const newNumber = () => `GATED-${(serials += 1)}-0O1IL`;

const manage = (manifest_id: string, fields: object) =>
  service.call('manageManifest', { as: 'warehouse', body: { manifest_id, ...fields } });
const update = (id: string, fields: object) => manage(id, { action: 'update_meta', ...fields });

async function makeWarehouse(hasGate: boolean): Promise<string> {
  const call = (body: object) => service.call('manageWarehouses', { as: 'manager', body });
  const { body } = await call({ action: 'create', name: `Warehouse ${(serials += 1)}` });
  const warehouse_id = String(body['data'].warehouse_id);
  await call({ action: 'update', warehouse_id, loading_gate: hasGate });
  return warehouse_id;
}

describe('a receive scan that arrives late, of an earlier time and another warehouse', () => {
  const scanReceipt = async (number: string, secondsAgo: number, fields: object) => {
    const receipt = { user_code: 'IEX-1001', weight: 1, ...fields };
    const { results } = await sendScans(service, [deviceScan('receive', number, secondsAgo, receipt)]);
    expect(results).toMatchObject([{ result: 'done' }]);
    return String(results[0].parcel.package_id);
  };

  async function warehouseAndWeight(packageId: string) {
    const { rows } = await service.owner.query(
      'select warehouse_id as warehouse, weight_lb::float8 as weight from packages where id = $1',
      [packageId],
    );
    return rows[0];
  }

  async function manifestOf(warehouse_id: string, packageId: string): Promise<string> {
    const { body } = await service.call('createManifest', { as: 'warehouse', body: { warehouse_id } });
    const id = String(body['data'].manifest_id);
    expect((await manage(id, { action: 'add_packages', package_ids: [packageId] })).status).toBe(200);
    expect((await update(id, { status: 'ready' })).status).toBe(200);
    return id;
  }

  test('does not take a package on a manifest away from the gate', async () => {
    const [gated, open] = [await makeWarehouse(true), await makeWarehouse(false)];
    const number = newNumber();
    const packageId = await scanReceipt(number, 60, { warehouse_id: gated });
    const id = await manifestOf(open, packageId);
    expect((await update(id, { status: 'shipped' })).body['code']).toBe('manifest_invalid_transition');
    await scanReceipt(number, 3_600, { warehouse_id: open, weight: 2 });
    expect(await warehouseAndWeight(packageId)).toEqual({ warehouse: gated, weight: 2 });
    expect((await update(id, { status: 'shipped' })).body['code']).toBe('manifest_invalid_transition');
  });

  test('does not take a package away from the gate before it is on a manifest', async () => {
    const [gated, open] = [await makeWarehouse(true), await makeWarehouse(false)];
    const number = newNumber();
    const packageId = await scanReceipt(number, 60, { warehouse_id: gated });
    await scanReceipt(number, 3_600, { warehouse_id: open });
    const id = await manifestOf(open, packageId);
    expect((await update(id, { status: 'shipped' })).body['code']).toBe('manifest_invalid_transition');
  });

  test('does not change the warehouse of a package on a manifest, also between warehouses without a gate', async () => {
    const [first, second] = [await makeWarehouse(false), await makeWarehouse(false)];
    const number = newNumber();
    const packageId = await scanReceipt(number, 60, { warehouse_id: first });
    const id = await manifestOf(first, packageId);
    await scanReceipt(number, 3_600, { warehouse_id: second });
    expect((await warehouseAndWeight(packageId)).warehouse).toBe(first);
    await manage(id, { action: 'remove_packages', package_ids: [packageId] });
    await scanReceipt(number, 7_200, { warehouse_id: second });
    expect((await warehouseAndWeight(packageId)).warehouse).toBe(first);
  });

  test('moves a package to the gate, and between warehouses without one', async () => {
    const [gated, open, other] = [
      await makeWarehouse(true),
      await makeWarehouse(false),
      await makeWarehouse(false),
    ];
    for (const next of [gated, other]) {
      const number = newNumber();
      const packageId = await scanReceipt(number, 60, { warehouse_id: open });
      await scanReceipt(number, 3_600, { warehouse_id: next });
      expect((await warehouseAndWeight(packageId)).warehouse).toBe(next);
    }
  });
});

test('the settings of the gate cannot be changed by the warehouse role, whatever the request', async () => {
  const [gated, open] = [await makeWarehouse(true), await makeWarehouse(false)];
  const number = newNumber();
  const receipt = { tracking_number: number, user_code: 'IEX-1001', weight: 1 };
  const receive = (warehouse_id: string) =>
    service.call('receivePackage', { as: 'warehouse', body: { ...receipt, warehouse_id } });
  const packageId = String((await receive(gated)).body['data'].package_id);
  const created = await service.call('createManifest', {
    as: 'warehouse',
    body: { warehouse_id: gated, loading_gate: 'off' },
  });
  const id = String(created.body['data'].manifest_id);
  await manage(id, { action: 'add_packages', package_ids: [packageId] });
  expect((await update(id, { status: 'ready', warehouse_id: open })).body['data'].status).toBe('ready');
  expect((await update(id, { status: 'shipped', loading_gate: 'off' })).status).toBe(403);
  for (const body of [
    { action: 'update', warehouse_id: gated, loading_gate: false },
    { action: 'make_primary', warehouse_id: open },
  ])
    expect((await service.call('manageWarehouses', { as: 'warehouse', body })).status).toBe(403);
  await service.call('updatePackage', {
    as: 'warehouse',
    body: { package_id: packageId, warehouse_id: open, weight: 3 },
  });
  await receive(open);
  expect((await update(id, { status: 'shipped' })).body['code']).toBe('manifest_invalid_transition');
  const { rows } = await service.owner.query(
    `select m.warehouse_id as manifest, p.warehouse_id as package, m.loading_gate as gate
     from manifests m join packages p on p.manifest_id = m.id where m.id = $1`,
    [id],
  );
  expect(rows).toEqual([{ manifest: gated, package: gated, gate: 'warehouse' }]);
});

test('the gate counts a package that was added while the shipment waited', async () => {
  const [gated, open] = [await makeWarehouse(true), await makeWarehouse(false)];
  const receive = async (warehouse_id: string) => {
    const body = { tracking_number: newNumber(), user_code: 'IEX-1001', weight: 1, warehouse_id };
    return String((await service.call('receivePackage', { as: 'warehouse', body })).body['data'].package_id);
  };
  const [aboard, added] = [await receive(open), await receive(gated)];
  const created = await service.call('createManifest', { as: 'warehouse', body: { warehouse_id: open } });
  const id = String(created.body['data'].manifest_id);
  await manage(id, { action: 'add_packages', package_ids: [aboard] });
  expect((await update(id, { status: 'ready' })).status).toBe(200);
  const addition = {
    text: `with locked as materialized (select id from manifests where id = $1 for update)
      update packages p set manifest_id = locked.id from locked where p.id = $2`,
    values: [id, added],
  };
  const reply = await changeMeanwhile(service.owner, addition, () => update(id, { status: 'shipped' }));
  expect(reply.body['code']).toBe('manifest_invalid_transition');
});
