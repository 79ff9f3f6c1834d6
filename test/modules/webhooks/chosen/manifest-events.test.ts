import { beforeEach, describe, expect, test } from '@jest/globals';
import { makeParcels, newNumber, shipPackages } from '../../../support/builders/parcels.js';
import { insertPackages } from '../../../support/manifests/packages.js';
import { makeManifests } from '../../../support/manifests/manifest-calls.js';
import { HRB, IEX, withChosenEvents } from './chosen-receivers.js';

const { api, db, service, received, choose, forget } = withChosenEvents();
const ALL = ['manifest.departed', 'manifest.arrived'];

beforeEach(async () => {
  await forget();
  await choose(IEX, ...ALL);
  await choose(HRB, ...ALL);
});

const manifestsOf = async (courierId: string) =>
  (await received(courierId)).filter(({ type }) => type.startsWith('manifest.'));

const receive = (user_code: string, weight: number) =>
  makeParcels(service()).receive(newNumber(), { user_code, weight });

describe('manifest events', () => {
  test('each courier aboard gets its own packages and weight when the flight leaves and arrives', async () => {
    const mine = [await receive('IEX-1001', 1.125), await receive('IEX-1001', 2.2)].sort();
    const theirs = await receive('HRB-2001', 7);
    const { manifestId, manifestNumber } = await shipPackages(api, [...mine, theirs]);
    await api
      .as('warehouse')
      .manageManifest({ action: 'update_meta', manifest_id: manifestId, status: 'completed' })
      .ok();
    const flight = { manifest_id: manifestId, manifest_number: manifestNumber, package_ids_are_cut: false };
    const own = { ...flight, total_packages: 2, total_weight: 3.325 };
    const events = await manifestsOf(IEX);
    expect(events.map(({ data }) => (data['package_ids'] as string[]).sort())).toEqual([mine, mine]);
    expect(events).toMatchObject([
      { type: 'manifest.departed', data: { ...own, status: 'shipped' } },
      { type: 'manifest.arrived', data: { ...own, status: 'completed' } },
    ]);
    const other = { ...flight, total_packages: 1, total_weight: 7, package_ids: [theirs] };
    expect(await manifestsOf(HRB)).toMatchObject([
      { type: 'manifest.departed', data: other },
      { type: 'manifest.arrived', data: other },
    ]);
  });

  test('names at most 1,000 packages, counts all, and sends nothing when the status stays', async () => {
    const { draft, update } = makeManifests(api);
    const { id } = await draft();
    await insertPackages(db, 1_001, { manifestId: id, status: 'on_hold' });
    await update(id, { status: 'ready' }).ok();
    await update(id, { status: 'shipped' }).ok();
    await update(id, { status: 'shipped' }).ok();
    await update(id, { status: 'shipped', notes: 'Late.' }).ok();
    const [event, ...more] = await manifestsOf(IEX);
    expect(more).toEqual([]);
    expect(event?.data).toMatchObject({ total_packages: 1_001, package_ids_are_cut: true });
    expect(event?.data['package_ids']).toHaveLength(1_000);
    expect(await manifestsOf(HRB)).toEqual([]);
  });

  test('of 20 requests that ship a manifest at once, one sends an event', async () => {
    const packageId = await receive('IEX-1001', 1);
    const { draft, update } = makeManifests(api);
    const { id } = await draft();
    await api
      .as('warehouse')
      .manageManifest({ action: 'add_packages', manifest_id: id, package_ids: [packageId] })
      .ok();
    await update(id, { status: 'ready' }).ok();
    await Promise.all(Array.from({ length: 20 }, () => update(id, { status: 'shipped' }).answer()));
    expect(await manifestsOf(IEX)).toHaveLength(1);
  });
});
