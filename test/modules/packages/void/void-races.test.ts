import { expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { newNumber } from '../../../support/builders/parcels.js';
import { withService } from '../../../support/fixture/with-service.js';
import { rounds } from '../../../support/harness/effort.js';
import { makeManifests } from '../../../support/manifests/manifest-calls.js';
import { deviceScan, receiptScan } from '../../../support/scans/device-scans.js';
import { makeScanCalls } from '../../../support/scans/scan-calls.js';
import { untilAdmitted } from '../../../support/service/service.js';
import { unchecked } from '../../../support/fixture/sent.js';

const ROUNDS = rounds(2, 8);
const CALLERS = 250;
const PARCELS = 6;

const { api, db } = withService({ poolSize: 30 });
const { announce, receive } = makeScanCalls(api);
const manifests = makeManifests(api);

const today = () => new Date().toISOString().slice(0, 10);

type Ending = { status: number; body: Record<string, unknown> };

test(`${CALLERS} callers void receipts while others use the packages: each is voided once or stays, and nothing refers to what is gone`, async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const numbers = Array.from({ length: PARCELS }, newNumber);
    const ids: string[] = [];
    for (const number of numbers) {
      await announce(number);
      ids.push((await receive(number).created()).data.package_id);
    }
    const manifest = await manifests.draft();
    const staff = api.as('warehouse');
    const one = <Item>(items: Item[]): Item => {
      const item = items[Math.floor(Math.random() * items.length)];
      if (item === undefined) throw new Error('No items.');
      return item;
    };
    const calls: (() => Promise<Ending>)[] = [
      () => staff.voidReceipt({ package_id: one(ids), reason: 'Race' }).answer(),
      () => staff.voidReceipt({ package_id: one(ids), reason: 'Race' }).answer(),
      () => staff.updatePackage({ package_id: one(ids), weight: 1 + Math.random() }).answer(),
      () => staff.updatePackage({ package_id: one(ids), tracking_number: newNumber() }).answer(),
      () => staff.recordPackageEvent({ package_id: one(ids), status: 'on_hold' }).answer(),
      () => staff.recordPackageEvent({ package_id: one(ids), status: 'released' }).answer(),
      () => manifests.add(manifest.id, one(ids)).answer(),
      () =>
        staff
          .manageManifest({ action: 'remove_packages', manifest_id: manifest.id, package_ids: [one(ids)] })
          .answer(),
      () =>
        staff.createLabelJobs({ print_id: randomUUID(), station: 'Race', package_ids: [one(ids)] }).answer(),
      () => staff.queueDispatch({ package_ids: [one(ids)] }).answer(),
      () => staff.receivePackage({ tracking_number: one(numbers), weight: 1 }).answer(),
      () =>
        staff
          .sendScans(
            unchecked({
              station: 'Race',
              scans: [
                receiptScan(one(numbers), 1),
                deviceScan('locate', one(numbers), 0, { location: 'A1' }),
              ],
            }),
          )
          .answer(),
      () =>
        api
          .as('manager')
          .manageCourierBills({
            action: 'create_draft',
            courier_id: DEMO.couriers.IEX,
            start_date: today(),
            end_date: today(),
            service_type: 'Air',
          })
          .answer(),
    ];
    const endings = await Promise.all(Array.from({ length: CALLERS }, () => untilAdmitted(one(calls))));
    const codes = endings
      .filter(({ status }) => status >= 500)
      .map(({ status, body }) => `${status} ${String(body['code'])}`);
    // A draft that meets a void again and again gives up, and may be sent again.
    expect(codes.filter((code) => code !== '503 overloaded')).toEqual([]);
    const voids = await db.all('audit_entries', { action: 'package.voided', entity_id: ids });
    const left = await db.all('packages', { id: ids });
    expect(new Set(voids.map(({ entity_id }) => entity_id)).size).toBe(voids.length);
    expect(voids.length + left.length).toBe(PARCELS);
    const gone = voids.map(({ entity_id }) => entity_id);
    for (const table of [
      'package_events',
      'package_syncs',
      'label_jobs',
      'bill_lines',
      'package_weights',
    ] as const)
      expect(await db.count(table, { package_id: gone })).toBe(0);
    expect(
      (
        await db.query(
          "select type, count(*)::int n from events where data ? 'voided_at' and package_id = any($1) group by 1",
          [gone],
        )
      )[0] ?? { n: 0 },
    ).toMatchObject({ n: gone.length });
    await api.as('manager').listCourierBills().ok();
    for (const bill of await db.all('bills', { status: 'draft' }))
      await api.as('manager').manageCourierBills({ action: 'delete_draft', bill_id: bill.id }).answer();
  }
  const [tallies] = await db.query(
    'select (select sum(total) from package_tallies)::int as tallied, (select count(*) from packages)::int as stored',
  );
  expect(tallies?.['tallied']).toBe(tallies?.['stored']);
}, 120_000);
