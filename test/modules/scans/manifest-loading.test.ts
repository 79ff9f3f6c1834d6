import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { withService } from '../../support/fixture/with-service.js';
import { deviceScan, newScanNumber, sendScan, sendScans } from '../../support/scans/device-scans.js';
import { makeLoading } from '../../support/scans/loading.js';
import { makeManifests } from '../../support/manifests/manifest-calls.js';

// GetManifestLoading: what is expected on a manifest, and what is loaded.

const { api } = withService();
const manifests = makeManifests(api);
const { received, load, unload, loadingOf } = makeLoading(api);

test('lists what is expected, loaded and missing, one page at a time', async () => {
  const [first, second, third] = [await received(), await received(), await received()];
  const { id } = await manifests.ready([first.id, second.id, third.id]);
  await sendScans(api, [deviceScan('locate', second.number, 5, { location: 'Shelf 7' })]);
  expect(await load(id, first.number)).toMatchObject([
    { result: 'done', parcel: { loaded_manifest_id: id, manifest_id: id } },
  ]);
  const { data, meta } = await loadingOf(id, { limit: 1 });
  expect(data).toMatchObject({
    gate: false,
    counts: { expected: 3, loaded: 1, missing: 2, extra: 0 },
    list: 'missing',
  });
  expect(meta).toEqual({ current_page: 1, per_page: 1, total_records: 2, total_pages: 2 });
  expect(data.parcels).toMatchObject([
    { package_id: second.id, location: 'Shelf 7', loaded: false, station: null },
  ]);
  const next = await loadingOf(id, { limit: 1, page: 2 });
  expect(next.data.parcels).toMatchObject([{ package_id: third.id }]);
  const loaded = await loadingOf(id, { list: 'loaded' });
  expect(loaded.data.parcels).toMatchObject([
    { package_id: first.id, loaded: true, station: 'Dock 1', reason: null },
  ]);
  const expected = await loadingOf(id, { list: 'expected' });
  expect(expected.data.parcels).toHaveLength(3);
});

test('names each reason of an extra parcel, as the scan does', async () => {
  const [aboard, held, elsewhere] = [await received(), await received(), await received()];
  const [unassigned, foreign] = [await received(), await received({ user_code: 'HRB-2001' })];
  const unknown = newScanNumber('GATE');
  const { id } = await manifests.ready([aboard.id, held.id]);
  await manifests.ready([elsewhere.id]);
  await sendScans(api, [deviceScan('hold', held.number, 5)]);
  const numbers = [aboard, held, elsewhere, unassigned, foreign].map(({ number }) => number);
  const results = await load(id, ...numbers, unknown);
  expect(results.map(({ reason }) => reason)).toEqual([
    null,
    'on_hold',
    'other_manifest',
    'not_assigned',
    'other_courier',
    'not_received',
  ]);
  const { parcels } = (await loadingOf(id, { list: 'extra' })).data;
  expect(Object.fromEntries(parcels.map((each) => [each.tracking_number, each.reason]))).toEqual({
    [held.number]: 'on_hold',
    [elsewhere.number]: 'other_manifest',
    [unassigned.number]: 'not_assigned',
    [foreign.number]: 'other_courier',
    [unknown]: 'unknown',
  });
  const { counts } = (await loadingOf(id)).data;
  expect(counts).toEqual({ expected: 1, loaded: 1, missing: 0, extra: 5 });
  for (const number of [...numbers.slice(1), unknown])
    expect(await unload(id, number)).toMatchObject({ outcome: 'done', message: 'The parcel is taken off.' });
  const after = (await loadingOf(id)).data;
  expect(after.counts).toEqual({ expected: 1, loaded: 1, missing: 0, extra: 0 });
});

test('shows who loaded what, when and where, newest first', async () => {
  const parcel = await received();
  const { id } = await manifests.ready([parcel.id]);
  await load(id, parcel.number);
  await unload(id, parcel.number);
  const { data } = await loadingOf(id, { list: 'history' });
  expect(data.history).toMatchObject([
    { kind: 'unload', station: 'Dock 1', user: 'Demo Warehouse', outcome: 'done', package_id: parcel.id },
    { kind: 'load', scan: parcel.number, reason: null },
  ]);
  expect(data.parcels).toEqual([]);
});

test('a manifest that is not ready takes no load', async () => {
  const parcel = await received();
  const draft = await manifests.draft();
  const scan = deviceScan('load', parcel.number, 5, { manifest_id: draft.id });
  expect(await sendScan(api, scan)).toMatchObject({
    result: 'conflict',
    reason: 'manifest_not_ready',
    parcel: { loaded_manifest_id: null },
  });
});

test('does not exist for an unknown manifest or another tenant, and is not for couriers', async () => {
  const { id } = await manifests.ready();
  const unknown = { manifest_id: randomUUID() };
  await api.as('warehouse').getManifestLoading(unknown).refused(404, 'manifest_not_found');
  await api.as('two/admin').getManifestLoading({ manifest_id: id }).refused(404, 'manifest_not_found');
  await api.as('iex').getManifestLoading({ manifest_id: id }).refused(403, 'permission_denied');
});
