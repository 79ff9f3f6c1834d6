import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/demo.js';
import { deviceScan, sendScans } from '../../support/scans/device-scans.js';
import { rounds } from '../../support/harness/effort.js';
import { startService, type Reply, type Service } from '../../support/service/service.js';

const RACES = rounds(10, 100);

let service: Service;

beforeAll(async () => {
  service = await startService({ poolSize: 20 });
});

afterAll(async () => {
  await service.stop();
});

let serials = 0;
const newNumber = () => `GATE-${(serials += 1)}-0O1IL`;

async function receive(fields: object = { user_code: 'IEX-1001' }) {
  const body = { tracking_number: newNumber(), weight: 1, ...fields };
  const reply = await service.call('receivePackage', { as: 'warehouse', body });
  expect(reply.status).toBe(201);
  return { id: String(reply.body['data'].package_id), number: body.tracking_number };
}

const manage = (manifest_id: string, fields: object, as = 'warehouse') =>
  service.call('manageManifest', { as, body: { manifest_id, ...fields } });
const update = (id: string, fields: object, as = 'warehouse') =>
  manage(id, { action: 'update_meta', ...fields }, as);

async function readyManifest(packageIds: string[], gate?: 'on' | 'off'): Promise<string> {
  const { body } = await service.call('createManifest', { as: 'warehouse', body: {} });
  const id = String(body['data'].manifest_id);
  if (packageIds.length > 0) await manage(id, { action: 'add_packages', package_ids: packageIds });
  const reply = await update(id, { status: 'ready', ...(gate ? { loading_gate: gate } : {}) }, 'manager');
  expect(reply.status).toBe(200);
  return id;
}

const load = async (manifest_id: string, ...numbers: string[]) =>
  (
    await sendScans(
      service,
      numbers.map((number) => deviceScan('load', number, 5, { manifest_id })),
    )
  ).results;
const unload = (manifest_id: string, number: string) =>
  sendScans(service, [deviceScan('unload', number, 1, { manifest_id })]);

async function loading(manifest_id: string, query: object = {}): Promise<Reply['body']> {
  const { status, body } = await service.call('getManifestLoading', {
    as: 'warehouse',
    query: { manifest_id, ...query },
  });
  expect(status).toBe(200);
  return body;
}

async function reasonsOf(manifest: string): Promise<Record<string, string>> {
  const { data } = await loading(manifest, { list: 'extra' });
  return Object.fromEntries(
    data.parcels.map((parcel: { tracking_number: string; reason: string }) => [
      parcel.tracking_number,
      parcel.reason,
    ]),
  );
}

describe('the load of a manifest', () => {
  test('lists what is expected, loaded and missing, one page at a time', async () => {
    const [first, second, third] = [await receive(), await receive(), await receive()];
    const id = await readyManifest([first.id, second.id, third.id]);
    await sendScans(service, [deviceScan('locate', second.number, 5, { location: 'Shelf 7' })]);
    const [loaded] = await load(id, first.number);
    expect(loaded).toMatchObject({ result: 'done', parcel: { loaded_manifest_id: id, manifest_id: id } });
    const { data, meta } = await loading(id, { limit: 1 });
    expect(data).toMatchObject({
      gate: false,
      counts: { expected: 3, loaded: 1, missing: 2, extra: 0 },
      list: 'missing',
    });
    expect(meta).toEqual({ current_page: 1, per_page: 1, total_records: 2, total_pages: 2 });
    expect(data.parcels).toMatchObject([
      { package_id: second.id, location: 'Shelf 7', loaded: false, station: null },
    ]);
    const next = await loading(id, { limit: 1, page: 2 });
    expect(next.data.parcels).toMatchObject([{ package_id: third.id }]);
    const { data: listed } = await loading(id, { list: 'loaded' });
    expect(listed.parcels).toMatchObject([
      { package_id: first.id, loaded: true, station: 'Dock 1', reason: null },
    ]);
    expect((await loading(id, { list: 'expected' })).data.parcels).toHaveLength(3);
  });

  test('names each reason of an extra parcel, as the scan does', async () => {
    const aboard = await receive();
    const held = await receive();
    const elsewhere = await receive();
    const [unassigned, foreign] = [await receive(), await receive({ user_code: 'HRB-2001' })];
    const unknown = newNumber();
    const id = await readyManifest([aboard.id, held.id]);
    await readyManifest([elsewhere.id]);
    await sendScans(service, [deviceScan('hold', held.number, 5)]);
    const numbers = [aboard, held, elsewhere, unassigned, foreign].map(({ number }) => number);
    const results = await load(id, ...numbers, unknown);
    expect(results.map(({ reason }: { reason: string | null }) => reason)).toEqual([
      ...[null, 'on_hold', 'other_manifest', 'not_assigned', 'other_courier', 'not_received'],
    ]);
    expect(await reasonsOf(id)).toEqual({
      [held.number]: 'on_hold',
      [elsewhere.number]: 'other_manifest',
      [unassigned.number]: 'not_assigned',
      [foreign.number]: 'other_courier',
      [unknown]: 'unknown',
    });
    expect((await loading(id)).data.counts).toEqual({ expected: 1, loaded: 1, missing: 0, extra: 5 });
    for (const number of [...numbers.slice(1), unknown]) await unload(id, number);
    expect((await loading(id)).data.counts).toEqual({ expected: 1, loaded: 1, missing: 0, extra: 0 });
  });

  test('shows who loaded what, when and where, newest first', async () => {
    const parcel = await receive();
    const id = await readyManifest([parcel.id]);
    await load(id, parcel.number);
    await unload(id, parcel.number);
    const { data } = await loading(id, { list: 'history' });
    expect(data.history).toMatchObject([
      { kind: 'unload', station: 'Dock 1', user: 'Demo Warehouse', outcome: 'done', package_id: parcel.id },
      { kind: 'load', scan: parcel.number, reason: null },
    ]);
    expect(data.parcels).toEqual([]);
  });

  test('a manifest that is not ready takes no load', async () => {
    const parcel = await receive();
    const { body } = await service.call('createManifest', { as: 'warehouse', body: {} });
    const [refused] = await load(body['data'].manifest_id, parcel.number);
    expect(refused).toMatchObject({
      result: 'conflict',
      reason: 'manifest_not_ready',
      parcel: { loaded_manifest_id: null },
    });
  });

  test('does not exist for an unknown manifest or another tenant', async () => {
    const id = await readyManifest([]);
    for (const [as, manifest_id] of [
      ['warehouse', randomUUID()],
      ['two/admin', id],
    ] as const)
      expect((await service.call('getManifestLoading', { as, query: { manifest_id } })).status).toBe(404);
    expect((await service.call('getManifestLoading', { as: 'iex', query: { manifest_id: id } })).status).toBe(
      403,
    );
  });
});

describe('the gate', () => {
  test('is off by default: a manifest is shipped without a load', async () => {
    const id = await readyManifest([(await receive()).id]);
    expect((await update(id, { status: 'shipped' })).status).toBe(200);
  });

  test('refuses to ship while a package is missing or a parcel is extra, and names them', async () => {
    const [aboard, extra] = [await receive(), await receive()];
    const id = await readyManifest([aboard.id], 'on');
    await load(id, extra.number);
    const refused = await update(id, { status: 'shipped' });
    expect(refused.status).toBe(400);
    expect(refused.body).toMatchObject({ code: 'manifest_invalid_transition' });
    expect(refused.body['message']).toContain('1 missing, 1 extra');
    expect(refused.body['errors']).toMatchObject([
      { field: 'status', code: 'not_loaded' },
      { field: 'status', code: 'extra' },
    ]);
    await load(id, aboard.number);
    await unload(id, extra.number);
    expect((await update(id, { status: 'shipped' })).status).toBe(200);
  });

  test('names at most 100 parcels', async () => {
    const id = await readyManifest([(await receive()).id], 'on');
    await load(id, ...Array.from({ length: 130 }, newNumber));
    const { body } = await update(id, { status: 'shipped' });
    expect(body['message']).toContain('1 missing, 130 extra');
    expect(body['errors']).toHaveLength(100);
  });

  test('lets a manager ship with a reason, which is audited and shown', async () => {
    const parcel = await receive();
    const id = await readyManifest([parcel.id], 'on');
    const wanted = { status: 'shipped', loading_override_reason: 'It flies tomorrow.' };
    const refused = await update(id, wanted, 'warehouse');
    expect(refused.body).toMatchObject({
      code: 'permission_denied',
      errors: [{ field: 'loading_override_reason' }],
    });
    expect((await update(id, wanted, 'manager')).status).toBe(200);
    const { data } = await loading(id, { list: 'history' });
    expect(data.override).toMatchObject({
      reason: 'It flies tomorrow.',
      overridden_by: 'Demo Manager',
      missing: 1,
      extra: 0,
    });
    expect(data.history).toMatchObject([
      { kind: 'override', remarks: 'It flies tomorrow.', user: 'Demo Manager', scan_id: null },
    ]);
    const { rows } = await service.owner.query(
      `select after, remarks from audit_entries where entity_id = $1 and action = 'manifest.gate_overridden'`,
      [id],
    );
    expect(rows).toEqual([{ after: { missing: 1, extra: 0 }, remarks: 'It flies tomorrow.' }]);
  });

  test('ignores the reason if nothing is open', async () => {
    const id = await readyManifest([], 'on');
    expect((await update(id, { status: 'shipped', loading_override_reason: 'None' })).status).toBe(200);
    expect((await loading(id)).data.override).toBeNull();
  });

  test('follows the warehouse unless the manifest has its own setting, which only a manager changes', async () => {
    const { rows } = await service.owner.query(
      'select id from warehouses where tenant_id = $1 and is_primary',
      [DEMO.tenants.demo],
    );
    const warehouse_id = rows[0]?.id;
    const setWarehouse = (loading_gate: boolean, as = 'manager') =>
      service.call('manageWarehouses', { as, body: { action: 'update', warehouse_id, loading_gate } });
    expect((await setWarehouse(true, 'warehouse')).status).toBe(403);
    expect((await setWarehouse(true)).body['data'].loading_gate).toBe(true);
    const id = await readyManifest([(await receive()).id]);
    expect((await loading(id)).data.gate).toBe(true);
    expect((await update(id, { status: 'shipped' })).status).toBe(400);
    const denied = await update(id, { loading_gate: 'off' });
    expect(denied.body).toMatchObject({ code: 'permission_denied', errors: [{ field: 'loading_gate' }] });
    expect((await update(id, { loading_gate: 'off' }, 'manager')).status).toBe(200);
    const { body } = await service.call('getManifest', { as: 'warehouse', query: { id } });
    expect(body['data'].info.loading_gate).toBe('off');
    expect((await update(id, { status: 'shipped' })).status).toBe(200);
    expect((await setWarehouse(false)).body['data'].loading_gate).toBe(false);
  });

  test(`an unload and a shipment at the same time: ${RACES} times, nothing is shipped that was taken off before`, async () => {
    for (let round = 0; round < RACES; round += 1) {
      const parcel = await receive();
      const id = await readyManifest([parcel.id], 'on');
      await load(id, parcel.number);
      const [shipped, taken] = await Promise.all([
        update(id, { status: 'shipped' }),
        unload(id, parcel.number),
      ]);
      const { data } = await loading(id);
      // The unload was first, and the gate closed; or the shipment was first, and the manifest takes no unload any more.
      if (shipped.status === 200)
        expect([data.counts.missing, taken.results[0].reason]).toEqual([0, 'manifest_not_ready']);
      else expect([data.counts.missing, taken.results[0].result, data.status]).toEqual([1, 'done', 'ready']);
    }
  });

  const record = (package_ids: string[], status: string) =>
    service.call('recordPackageEvent', { as: 'warehouse', body: { package_ids, status } });

  async function stateOf(packageId: string) {
    const { rows } = await service.owner.query(
      'select status, manifest_id as "manifestId" from packages where id = $1',
      [packageId],
    );
    return rows[0];
  }

  describe.each(['on_hold', 'customs_hold', 'lost'])(
    'a package that is %s while its manifest ships',
    (status) => {
      test.each(['released', 'in_transit', 'delivered'])(
        'has left the manifest, so that %s ships nothing without a scan',
        async (then) => {
          const parcels = [await receive(), await receive(), await receive()];
          const ids = parcels.map(({ id }) => id);
          const id = await readyManifest(ids, 'on');
          expect((await update(id, { status: 'shipped' })).status).toBe(400);
          expect((await record(ids, status)).status).toBe(200);
          expect((await update(id, { status: 'shipped' })).status).toBe(200);
          expect((await record(ids, then)).status).toBe(200);
          const expected = { status: then === 'released' ? 'received' : then, manifestId: null };
          expect(await Promise.all(ids.map(stateOf))).toEqual(ids.map(() => expected));
          const { rows } = await service.owner.query(
            `select after from audit_entries where entity_id = $1 and action = 'manifest.packages_removed'`,
            [id],
          );
          expect(rows[0].after.package_ids.sort()).toEqual([...ids].sort());
        },
      );
    },
  );

  test('a package that was left behind can be added to another manifest, and must be loaded there', async () => {
    const parcel = await receive();
    const first = await readyManifest([parcel.id], 'on');
    await record([parcel.id], 'on_hold');
    expect((await update(first, { status: 'shipped' })).status).toBe(200);
    await record([parcel.id], 'released');
    const second = await readyManifest([parcel.id], 'on');
    expect((await update(second, { status: 'shipped' })).status).toBe(400);
    await load(second, parcel.number);
    expect((await update(second, { status: 'shipped' })).status).toBe(200);
    expect(await stateOf(parcel.id)).toEqual({ status: 'shipped', manifestId: second });
  });

  test('a package that is on hold and loaded stays on the manifest that a manager ships', async () => {
    const parcel = await receive();
    const id = await readyManifest([parcel.id], 'on');
    await load(id, parcel.number);
    await record([parcel.id], 'on_hold');
    const wanted = { status: 'shipped', loading_override_reason: 'It is on board.' };
    expect((await update(id, { status: 'shipped' })).status).toBe(400);
    expect((await update(id, wanted)).status).toBe(403);
    expect((await update(id, wanted, 'manager')).status).toBe(200);
    await record([parcel.id], 'released');
    expect(await stateOf(parcel.id)).toEqual({ status: 'shipped', manifestId: id });
  });

  test('without a gate, a package on hold stays on the manifest and is shipped when it is released', async () => {
    const parcel = await receive();
    const id = await readyManifest([parcel.id], 'off');
    await record([parcel.id], 'on_hold');
    expect((await update(id, { status: 'shipped' })).status).toBe(200);
    await record([parcel.id], 'released');
    expect(await stateOf(parcel.id)).toEqual({ status: 'shipped', manifestId: id });
  });

  test(`a release and a shipment at the same time: ${RACES} times, nothing is shipped that was not loaded`, async () => {
    for (let round = 0; round < RACES; round += 1) {
      const parcel = await receive();
      const id = await readyManifest([parcel.id], 'on');
      await record([parcel.id], 'on_hold');
      const [shipped] = await Promise.all([
        update(id, { status: 'shipped' }),
        record([parcel.id], 'released'),
      ]);
      // The release was first, and the gate closed; or the shipment was first, and left the package behind.
      const manifestId = shipped.status === 200 ? null : id;
      expect(await stateOf(parcel.id)).toEqual({ status: 'received', manifestId });
    }
  });

  test('packages of a warehouse with a gate are not shipped unscanned by a manifest of another warehouse', async () => {
    const warehouses = (action: object) => service.call('manageWarehouses', { as: 'manager', body: action });
    const make = async (name: string) =>
      String((await warehouses({ action: 'create', name })).body['data'].warehouse_id);
    const [gated, open] = [await make('With a gate'), await make('Without a gate')];
    await warehouses({ action: 'update', warehouse_id: gated, loading_gate: true });
    const parcel = await receive({ user_code: 'IEX-1001', warehouse_id: gated });
    const { body } = await service.call('createManifest', { as: 'warehouse', body: { warehouse_id: open } });
    const id = String(body['data'].manifest_id);
    await manage(id, { action: 'add_packages', package_ids: [parcel.id] });
    expect((await update(id, { status: 'ready' })).status).toBe(200);
    expect((await loading(id)).data.gate).toBe(true);
    expect((await update(id, { status: 'shipped' })).body['code']).toBe('manifest_invalid_transition');
    await load(id, parcel.number);
    expect((await update(id, { status: 'shipped' })).status).toBe(200);
  });
});
