import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/demo.js';
import { withService } from '../../support/fixture/with-service.js';
import { rounds } from '../../support/harness/effort.js';
import { newScanNumber } from '../../support/scans/device-scans.js';
import { makeLoading } from '../../support/scans/loading.js';
import { makeManifests, newWarehouse } from '../../support/manifests/manifest-calls.js';

const RACES = rounds(10, 100);
const NOT_SHIPPED = [400, 'manifest_invalid_transition'] as const;

const { api, db } = withService({ poolSize: 20 });
const { draft, ready, ship, update } = makeManifests(api);
const { received, load, unload, loadingOf } = makeLoading(api);

describe('the gate', () => {
  test('is off by default: a manifest is shipped without a load', async () => {
    const { id } = await ready([(await received()).id]);
    await ship(id).ok();
  });

  test('refuses to ship while a package is missing or a parcel is extra, and names them', async () => {
    const [aboard, extra] = [await received(), await received()];
    const { id } = await ready([aboard.id], 'on');
    await load(id, extra.number);
    const refused = await ship(id).refused(...NOT_SHIPPED);
    expect(refused.message).toContain('1 missing, 1 extra');
    expect(refused.errors).toMatchObject([
      { field: 'status', code: 'not_loaded' },
      { field: 'status', code: 'extra' },
    ]);
    await load(id, aboard.number);
    await unload(id, extra.number);
    await ship(id).ok();
  });

  test('names at most 100 parcels', async () => {
    const { id } = await ready([(await received()).id], 'on');
    await load(id, ...Array.from({ length: 130 }, () => newScanNumber('GATE')));
    const refused = await ship(id).refused(...NOT_SHIPPED);
    expect(refused.message).toContain('1 missing, 130 extra');
    expect(refused.errors).toHaveLength(100);
  });

  test('lets a manager ship with a reason, which is audited and shown', async () => {
    const { id } = await ready([(await received()).id], 'on');
    const wanted = { status: 'shipped', loading_override_reason: 'It flies tomorrow.' } as const;
    const refused = await update(id, wanted).refused(403, 'permission_denied');
    expect(refused.errors).toMatchObject([{ field: 'loading_override_reason' }]);
    await update(id, wanted, 'manager').ok();
    const { data } = await loadingOf(id, { list: 'history' });
    expect(data.override).toMatchObject({
      reason: 'It flies tomorrow.',
      overridden_by: 'Demo Manager',
      missing: 1,
      extra: 0,
    });
    expect(data.history).toMatchObject([
      { kind: 'override', remarks: 'It flies tomorrow.', user: 'Demo Manager', scan_id: null },
    ]);
    const audit = await db.auditOf(id);
    const overridden = audit.filter(({ action }) => action === 'manifest.gate_overridden');
    expect(overridden.map(({ after, remarks }) => ({ after, remarks }))).toEqual([
      { after: { missing: 1, extra: 0 }, remarks: 'It flies tomorrow.' },
    ]);
  });

  test('ignores the reason if nothing is open', async () => {
    const { id } = await ready([], 'on');
    await update(id, { status: 'shipped', loading_override_reason: 'None' }).ok();
    expect((await loadingOf(id)).data.override).toBeNull();
  });

  describe('a warehouse with a gate', () => {
    const setGate = (loading_gate: boolean, as = 'manager') =>
      api.as(as).manageWarehouses({ action: 'update', warehouse_id: DEMO.warehouses.primary, loading_gate });

    test('decides unless the manifest has its own setting, which only a manager changes', async () => {
      await setGate(true, 'warehouse').refused(403, 'permission_denied');
      try {
        expect((await setGate(true).ok()).data.loading_gate).toBe(true);
        const { id } = await ready([(await received()).id]);
        expect((await loadingOf(id)).data.gate).toBe(true);
        await ship(id).refused(...NOT_SHIPPED);
        const denied = await update(id, { loading_gate: 'off' }).refused(403, 'permission_denied');
        expect(denied.errors).toMatchObject([{ field: 'loading_gate' }]);
        await update(id, { loading_gate: 'off' }, 'manager').ok();
        const { data } = await api.as('warehouse').getManifest({ id }).ok();
        expect(data.info.loading_gate).toBe('off');
        await ship(id).ok();
      } finally {
        expect((await setGate(false).ok()).data.loading_gate).toBe(false);
      }
    });

    test('packages of a warehouse with a gate are not shipped unscanned by a manifest of another warehouse', async () => {
      const [gated, open] = [await newWarehouse(api, true), await newWarehouse(api, false)];
      const parcel = await received({ user_code: 'IEX-1001', warehouse_id: gated });
      const { id } = await draft([parcel.id], { warehouse_id: open });
      await update(id, { status: 'ready' }).ok();
      expect((await loadingOf(id)).data.gate).toBe(true);
      await ship(id).refused(...NOT_SHIPPED);
      await load(id, parcel.number);
      await ship(id).ok();
    });
  });

  test(`an unload and a shipment at the same time: ${RACES} times, nothing is shipped that was taken off before`, async () => {
    for (let round = 0; round < RACES; round += 1) {
      const parcel = await received();
      const { id } = await ready([parcel.id], 'on');
      await load(id, parcel.number);
      const [status, taken] = await Promise.all([ship(id).status(), unload(id, parcel.number)]);
      const { data } = await loadingOf(id);
      // The unload was first, and the gate closed; or the shipment was first, and the manifest takes no unload any more.
      if (status === 200) expect([data.counts.missing, taken.reason]).toEqual([0, 'manifest_not_ready']);
      else expect([data.counts.missing, taken.result, data.status]).toEqual([1, 'done', 'ready']);
    }
  });
});

const record = (package_ids: string[], status: 'on_hold' | 'customs_hold' | 'lost' | Next) =>
  api.as('warehouse').recordPackageEvent({ package_ids, status });
type Next = 'released' | 'in_transit' | 'delivered';

async function stateOf(packageId: string) {
  const { status, manifest_id: manifestId } = await db.package(packageId);
  return { status, manifestId };
}

describe.each(['on_hold', 'customs_hold', 'lost'] as const)(
  'a package that is %s while its manifest ships',
  (status) => {
    test.each(['released', 'in_transit', 'delivered'] as const)(
      'has left the manifest, so that %s ships nothing without a scan',
      async (then) => {
        const ids = [(await received()).id, (await received()).id, (await received()).id];
        const { id } = await ready(ids, 'on');
        await ship(id).refused(...NOT_SHIPPED);
        await record(ids, status).ok();
        await ship(id).ok();
        await record(ids, then).ok();
        const expected = { status: then === 'released' ? 'received' : then, manifestId: null };
        expect(await Promise.all(ids.map(stateOf))).toEqual(ids.map(() => expected));
        const removed = await db.query<{ id: string }>(
          `select jsonb_array_elements_text(after -> 'package_ids') as id from audit_entries
           where entity_id = $1 and action = 'manifest.packages_removed' order by id`,
          [id],
        );
        expect(removed.map((each) => each.id)).toEqual([...ids].sort());
      },
    );
  },
);

test('a package that was left behind can be added to another manifest, and must be loaded there', async () => {
  const parcel = await received();
  const first = await ready([parcel.id], 'on');
  await record([parcel.id], 'on_hold').ok();
  await ship(first.id).ok();
  await record([parcel.id], 'released').ok();
  const second = await ready([parcel.id], 'on');
  await ship(second.id).refused(...NOT_SHIPPED);
  await load(second.id, parcel.number);
  await ship(second.id).ok();
  expect(await stateOf(parcel.id)).toEqual({ status: 'shipped', manifestId: second.id });
});

test('a package that is on hold and loaded stays on the manifest that a manager ships', async () => {
  const parcel = await received();
  const { id } = await ready([parcel.id], 'on');
  await load(id, parcel.number);
  await record([parcel.id], 'on_hold').ok();
  const wanted = { status: 'shipped', loading_override_reason: 'It is on board.' } as const;
  await ship(id).refused(...NOT_SHIPPED);
  await update(id, wanted).refused(403, 'permission_denied');
  await update(id, wanted, 'manager').ok();
  await record([parcel.id], 'released').ok();
  expect(await stateOf(parcel.id)).toEqual({ status: 'shipped', manifestId: id });
});

test('without a gate, a package on hold stays on the manifest and is shipped when it is released', async () => {
  const parcel = await received();
  const { id } = await ready([parcel.id], 'off');
  await record([parcel.id], 'on_hold').ok();
  await ship(id).ok();
  await record([parcel.id], 'released').ok();
  expect(await stateOf(parcel.id)).toEqual({ status: 'shipped', manifestId: id });
});

test(`a release and a shipment at the same time: ${RACES} times, nothing is shipped that was not loaded`, async () => {
  for (let round = 0; round < RACES; round += 1) {
    const parcel = await received();
    const { id } = await ready([parcel.id], 'on');
    await record([parcel.id], 'on_hold').ok();
    const [status] = await Promise.all([ship(id).status(), record([parcel.id], 'released').ok()]);
    // The release was first, and the gate closed; or the shipment was first, and left the package behind.
    const manifestId = status === 200 ? null : id;
    expect(await stateOf(parcel.id)).toEqual({ status: 'received', manifestId });
  }
});
