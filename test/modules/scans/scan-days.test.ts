import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { randomBatches, randomDay, seededRandom, type DayScan } from '../../support/scans/floor-days.js';
import { sendScans, type DeviceScan } from '../../support/scans/device-scans.js';
import { makeManifests } from '../../support/manifests/manifest-calls.js';
import { makeScanCalls } from '../../support/scans/scan-calls.js';
import { withService } from '../../support/fixture/with-service.js';
import { rounds } from '../../support/harness/effort.js';

const DAYS = rounds(6, 1_000);
const DAY_LIMIT_MS = 10_000;
const PARCELS = 4;
const DAY_START_MS = Date.now() - 20 * 3_600_000;

const { api, db } = withService();
const { receive } = makeScanCalls(api);
const { ready } = makeManifests(api);

/** A copy of a day: its parcels and manifests. The last parcel was received by ReceivePackage and is on the first manifest. */
async function openDay(name: string) {
  const numbers = Array.from({ length: PARCELS }, (_, n) => `DAY-${name}-${n}-0O1IL`);
  const { package_id } = (await receive(numbers.at(-1) ?? '', { weight: 3 }).created()).data;
  const manifests = [(await ready([package_id])).id, (await ready()).id];
  return { numbers, manifests };
}

type Opened = Awaited<ReturnType<typeof openDay>>;

/** Scans of the same time are ordered by their ids, so the ids of both copies of a day have the same order. */
function toDeviceScan(day: DayScan, n: number, { numbers, manifests }: Opened): DeviceScan {
  const id = randomUUID();
  const fields = {
    receive: { weight: day.weight, shipper: `Shipper ${day.location}` },
    load: { manifest_id: manifests[day.manifest] },
    unload: { manifest_id: manifests[day.manifest] },
    locate: { location: day.location },
    hold: {},
    deliver: {},
  }[day.kind];
  return {
    scan_id: String(n).padStart(8, '0') + id.slice(8),
    scanned_at: new Date(DAY_START_MS + day.timeMs).toISOString().slice(0, 23).replace('T', ' '),
    kind: day.kind,
    scan: numbers[day.parcel] ?? '',
    ...fields,
  };
}

async function stateOf({ numbers, manifests }: Opened, scans: DeviceScan[]) {
  const parcels = await db.query(
    `select p.weight_lb::text as weight, p.status, p.shipper, o.location, array_position($2::uuid[], o.manifest_id) as loaded
     from unnest($1::text[]) with ordinality as n (number, place)
     left join packages p on p.tracking_number = n.number
     left join parcel_positions o on o.parcel_key = n.number
     order by n.place`,
    [numbers, manifests],
  );
  const outcomes = await db.query('select outcome, reason from scans where id = any($1) order by id', [
    scans.map(({ scan_id }) => scan_id),
  ]);
  return { parcels, outcomes };
}

/** Sends the batches of each station one after another, both stations at the same time. */
async function sendDay(batches: DeviceScan[][]): Promise<void> {
  const halves = [batches.filter((_, n) => n % 2 === 0), batches.filter((_, n) => n % 2 === 1)];
  await Promise.all(
    halves.map(async (half, station) => {
      for (const batch of half) {
        const { refused } = await sendScans(api, batch, { station: `Dock ${station}` });
        expect(refused).toBe(0);
      }
    }),
  );
}

test(
  `${DAYS} random days of two stations converge to one state, in any order, batches and repetition`,
  async () => {
    for (let seed = 1; seed <= DAYS; seed += 1) {
      const random = seededRandom(seed);
      const day = randomDay(random, { parcels: PARCELS });
      const states = [];
      for (const copy of ['A', 'B']) {
        const opened = await openDay(`${seed}${copy}`);
        const scans = day.map((scan, n) => toDeviceScan(scan, n, opened));
        await sendDay(randomBatches(random, scans));
        states.push(await stateOf(opened, scans));
      }
      expect({ seed, ...states[1] }).toEqual({ seed, ...states[0] });
      expect(states[0]?.outcomes).toHaveLength(day.length);
    }
  },
  DAYS * DAY_LIMIT_MS,
);
