import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { newNumber } from '../../../support/builders/parcels.js';
import { withService } from '../../../support/fixture/with-service.js';
import { deviceScan, receiptScan, sendScans } from '../../../support/scans/device-scans.js';

const { api, db } = withService();
const list = (query: object = {}, as = 'manager') => api.as(as).listStations(query).ok();
const names = async (query: object = {}) => (await list(query)).data.map(({ station }) => station);

const NOTHING = {
  last_scan_at: null,
  last_scan_by: null,
  bridge_seen_at: null,
  has_bridge: false,
  waiting_labels: 0,
  failed_labels: 0,
};
const TIME = expect.stringMatching(/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/);

const scanAt = (station: string, as = 'warehouse') =>
  sendScans(api, [receiptScan(newNumber(), 1)], { station, as });
const bridgeAt = (station: string) => api.as('warehouse').claimLabelJobs({ station, max_jobs: 1 }).ok();

async function requestLabels(station: string, count = 1): Promise<string[]> {
  const package_ids: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const { data } = await api
      .as('warehouse')
      .receivePackage({ tracking_number: newNumber(), weight: 1 })
      .created();
    package_ids.push(data.package_id);
  }
  const { data } = await api
    .as('warehouse')
    .createLabelJobs({ print_id: randomUUID(), station, package_ids })
    .ok();
  return data.jobs.map(({ job_id }) => job_id);
}

describe('listStations', () => {
  beforeEach(async () => {
    for (const table of ['scans', 'label_jobs', 'label_bridges']) await db.query(`delete from ${table}`);
  });

  test('lists by name each station that scans, has labels or has a bridge, once', async () => {
    expect(await list()).toMatchObject({
      message: '0 stations found.',
      data: [],
      meta: { total_records: 0 },
    });
    await scanAt('Dock 2');
    await scanAt('Belt');
    await scanAt('Belt', 'manager');
    await requestLabels('Desk', 2);
    await bridgeAt('Attic');
    await bridgeAt('Belt');
    const { data, message } = await list();
    expect(message).toBe('4 stations found.');
    expect(data).toEqual([
      { ...NOTHING, station: 'Attic', bridge_seen_at: TIME, has_bridge: true },
      {
        ...NOTHING,
        station: 'Belt',
        last_scan_at: TIME,
        last_scan_by: 'Demo Manager',
        bridge_seen_at: TIME,
        has_bridge: true,
      },
      { ...NOTHING, station: 'Desk', waiting_labels: 2 },
      { ...NOTHING, station: 'Dock 2', last_scan_at: TIME, last_scan_by: 'Demo Warehouse' },
    ]);
  });

  test('a bridge that has not asked for two minutes serves the station no more', async () => {
    await bridgeAt('Belt');
    const age = (interval: string) =>
      db.query(`update label_bridges set seen_at = now() - interval '${interval}'`);
    await age('119 seconds');
    expect((await list()).data).toMatchObject([{ has_bridge: true }]);
    await age('121 seconds');
    expect((await list()).data).toMatchObject([{ has_bridge: false, bridge_seen_at: TIME }]);
  });

  test('a label that failed, may be printed or expired counts until it is printed again', async () => {
    const [failed = '', unconfirmed, expired] = await requestLabels('Belt', 4);
    await db.query(
      `update label_jobs set status = 'failed', claim_id = gen_random_uuid(), lease_until = now(), ended_at = now() where id = $1`,
      [failed],
    );
    await db.query(
      `update label_jobs set status = 'sending', claim_id = gen_random_uuid(), lease_until = now() - interval '1 second'
       where id = $1`,
      [unconfirmed],
    );
    await db.query(`update label_jobs set expires_at = now() where id = $1`, [expired]);
    expect((await list()).data).toMatchObject([{ waiting_labels: 1, failed_labels: 3 }]);
    await api.as('warehouse').reprintLabelJob({ print_id: randomUUID(), job_id: failed }).ok();
    expect((await list()).data).toMatchObject([{ waiting_labels: 2, failed_labels: 2 }]);
  });

  test('only the newest 10,000 scans name a station', async () => {
    await scanAt('Old');
    await db.query(`update scans set arrived_at = now() - interval '1 day'`);
    await db.query(
      `insert into scans (tenant_id, id, station, kind, scanned_at, user_id, scan, parcel_key, details, content_hash, outcome)
       select tenant_id, gen_random_uuid(), 'New', kind, scanned_at, user_id, scan, parcel_key, details, content_hash, outcome
       from scans, generate_series(1, 9999)`,
    );
    expect(await names()).toEqual(['New', 'Old']);
    await scanAt('Newest');
    expect(await names()).toEqual(['New', 'Newest']);
  });

  test('has pages, and one behind the last has the number', async () => {
    for (const station of ['C', 'A', 'B']) await bridgeAt(station);
    expect(await names({ limit: 2 })).toEqual(['A', 'B']);
    expect(await names({ limit: 2, page: 2 })).toEqual(['C']);
    expect(await list({ limit: 2, page: 3 })).toMatchObject({
      data: [],
      meta: { current_page: 3, per_page: 2, total_records: 3, total_pages: 2 },
    });
  });

  test('is for staff, and has at most 500 stations per page', async () => {
    await bridgeAt('Belt');
    for (const as of ['admin', 'manager', 'warehouse']) expect((await list({}, as)).data).toHaveLength(1);
    await api.as('iex').listStations().refused(403, 'permission_denied');
    await api.anonymous.listStations().refused(401, 'token_missing');
    await api.as('manager').listStations({ limit: 501 }).refused(400, 'validation_failed');
  });
});

// Each layer must be sufficient alone.
describe.each([
  ['both layers', {}],
  ['row-level security alone', { applicationFilters: false }],
  ["the application's filters alone", { rowSecurity: false }],
] as const)('listStations with %s', (_name, options) => {
  const other = withService(options);

  test('lists and counts nothing of another tenant, also at a station of the same name', async () => {
    const as = (name: string) => other.api.as(name);
    await as('admin').claimLabelJobs({ station: 'Belt', max_jobs: 1 }).ok();
    const before = await as('admin').listStations().ok();
    const { data } = await as('two/admin')
      .receivePackage({ tracking_number: newNumber(), weight: 7 })
      .created();
    const package_ids = [data.package_id];
    for (const station of ['Belt', 'Two']) {
      await as('two/admin').createLabelJobs({ print_id: randomUUID(), station, package_ids }).ok();
      await sendScans(other.api, [deviceScan('locate', newNumber(), 1, { location: 'TWO-1' })], {
        as: 'two/admin',
        station,
      });
    }
    const after = await as('admin').listStations().ok();
    expect({ data: after.data, meta: after.meta }).toEqual({ data: before.data, meta: before.meta });
    const own = (await as('two/admin').listStations().ok()).data;
    expect(own.filter(({ last_scan_at }) => last_scan_at !== null)).toMatchObject([
      { station: 'Belt', waiting_labels: 1, has_bridge: false },
      { station: 'Two', waiting_labels: 1 },
    ]);
  });
});
