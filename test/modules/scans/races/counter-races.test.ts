import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { deadlocksOf } from '../../../support/failures/deadlocks.js';
import { unchecked } from '../../../support/fixture/sent.js';
import { withService } from '../../../support/fixture/with-service.js';
import { rounds } from '../../../support/harness/effort.js';
import { setWebhookUrls } from '../../../support/receivers/outbound.js';
import { deviceScan } from '../../../support/scans/device-scans.js';

// Transactions for packages of two couriers, in opposite orders. They lock the couriers' counters and delivery queues only when their
// work is done, all in order (decision 0086).

const { IEX, HRB } = DEMO.couriers;
const ROUNDS = rounds(6, 40);

const { api, db, service } = withService({ poolSize: 30 });
const staff = api.as('warehouse');

beforeAll(() => setWebhookUrls(service().owner, [IEX, HRB]));

const newNumber = () => `CR-${randomUUID()}`;
/** The couriers in one order or the other. */
const inOrder = (station: number) => (station % 2 ? [IEX, HRB] : [HRB, IEX]);

const send = (station: number, scans: object[]): Promise<Outcome> =>
  staff.sendScans(unchecked({ station: `Dock ${station}`, scans })).answer();

async function receive(courier_id: string): Promise<string> {
  const body = { tracking_number: newNumber(), weight: 1, courier_id };
  return (await staff.receivePackage(body).created()).data.package_id;
}

type Outcome = { status: number; code: string | undefined };

const outcomes = (replies: Outcome[]) => [
  ...new Set(replies.map(({ status, code }) => `${status} ${code ?? ''}`.trim())),
];

test('stations that receive parcels of two couriers in opposite orders do not deadlock, nor do events of staff beside them', async () => {
  const package_ids = [await receive(IEX), await receive(HRB)];
  const replies: Outcome[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const batches = Array.from({ length: 10 }, (_, station) =>
      send(
        station,
        inOrder(station).map((courier_id, n) =>
          deviceScan('receive', newNumber(), 60 - n, { weight: 1, courier_id }),
        ),
      ),
    );
    const status = round % 2 ? 'released' : 'on_hold';
    const event = staff.recordPackageEvent({ package_ids, status }).answer();
    replies.push(...(await Promise.all([...batches, event])));
  }
  expect(outcomes(replies)).toEqual(['200']);
  expect(await gapsOf()).toEqual([]);
  expect(await deadlocksOf(service().owner)).toBe(0);
}, 60_000);

test('earlier receipts of two couriers that arrive in opposite orders do not deadlock, with holds', async () => {
  const replies: Outcome[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const stations = await Promise.all(
      Array.from({ length: 8 }, async (_, station) => {
        const scans = inOrder(station).map((courier_id) =>
          deviceScan('receive', newNumber(), 30, { weight: 1, courier_id }),
        );
        replies.push(await send(station, scans));
        return scans;
      }),
    );
    const late = stations.map((scans, station) =>
      send(
        station,
        scans.flatMap(({ scan, courier_id }) => [
          deviceScan('receive', scan, 60, { weight: 2, courier_id }),
          deviceScan('hold', scan, 10, { remarks: 'Wet.' }),
        ]),
      ),
    );
    replies.push(...(await Promise.all(late)));
  }
  expect(outcomes(replies)).toEqual(['200']);
  const late = await db.query(
    `select count(*)::int as queued from package_syncs s join packages p on p.id = s.package_id where p.weight_lb = 2`,
  );
  expect(late).toEqual([{ queued: ROUNDS * 16 }]);
  expect(await gapsOf()).toEqual([]);
  expect(await deadlocksOf(service().owner)).toBe(0);
}, 60_000);

/** The couriers whose events have gaps, or another number than their counter. */
const gapsOf = () =>
  db.query(
    `select e.courier_id from events e join event_counters c using (tenant_id, courier_id)
     group by e.courier_id, c.last_sequence
     having max(e.sequence) <> c.last_sequence or count(*) <> max(e.sequence) - min(e.sequence) + 1`,
  );
