import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { readScan } from '../../../src/modules/tracking-numbers/read-scan.js';
import { matching } from '../../support/assertions/matching.js';
import { multipart, unchecked } from '../../support/fixture/sent.js';
import { withService } from '../../support/fixture/with-service.js';
import { rounds } from '../../support/harness/effort.js';
import { deviceScan, receivedParcel, sendScan } from '../../support/scans/device-scans.js';
import { NOISE, STORED_NOISE } from '../../support/scans/noise.js';
import { makeScanCalls } from '../../support/scans/scan-calls.js';
import { publishedVectors } from '../tracking-numbers/data-set.js';

// ResolveScan, ReceivePackage, ScanBatch, UpdatePackage and the four ways to announce a parcel read a number in the same way.

const { api, db } = withService();
const scans = makeScanCalls(api);
const submit = api.withKey(DEMO.apiKeys.IEX).submitPrealert;

const NOISY = matching(STORED_NOISE, '*LCL-1*', 'LCL\u200b1', 'LCL\u001d1', ' LCL1');

/** Each kind of noise is tried on one share of the formats. */
const SHARES = rounds(6, 3);

const OWNER = 'IEX-1001';
const WITHOUT_FORMAT = ['LCL-1', 'DROPOFF-20240902-225642-547', 'X17', 'Äß-17', 'box 17-4'];

/** One number of each format, and only one of those that lead to the same parcel. */
function numbersOf(index: number): string[] {
  const valid = publishedVectors().filter(({ isValid }) => isValid);
  const firsts = new Map(valid.map(({ format, number }) => [format, number.trim()]));
  const published = [...firsts.values()].filter((_, place) => place % SHARES === index % SHARES);
  const numbers = new Map([...published, ...WITHOUT_FORMAT].map((number) => [keyOf(number), number]));
  return [...numbers.values()];
}

const keyOf = (scan: string) => readScan(scan).numbers[0]?.key ?? '';

const toSubmission = (number: string) => ({ UserCode: OWNER, TrackingNumber: number });
const toRow = (number: string) => `"${number.replaceAll('"', '""')}",${OWNER}`;

/** The ways to announce numbers. */
const ANNOUNCEMENTS: ((numbers: string[]) => Promise<unknown>)[] = [
  (numbers) => {
    const lines = numbers.map((number) => JSON.stringify(toSubmission(number))).join('\n');
    return submit(unchecked(lines), { headers: { 'content-type': 'application/x-ndjson' } }).ok();
  },
  (numbers) => Promise.all(numbers.map((number) => submit(toSubmission(number)).created())),
  (numbers) => {
    const file = ['tracking_number,user_code', ...numbers.map(toRow)].join('\n');
    return api
      .as('iex')
      .uploadPrealerts(multipart({ file: { file } }))
      .ok();
  },
  (numbers) => Promise.all(numbers.map((number) => scans.announce(number))),
  async (numbers) => {
    for (const tracking_number of numbers) {
      const prealert_id = await scans.announce(`OLD-${tracking_number.length}-${Math.random()}`);
      const replaced = { prealert_id, user_code: OWNER, tracking_number, vendor: 'Example' };
      await api.as('iex').replacePrealert(replaced).ok();
    }
  },
];

/** Gives the rows of a round other keys, so that the next round begins without them. */
async function forget(): Promise<void> {
  const own = 'tracking_number = id::text, tracking_key = id::text';
  await db.query(`update packages set ${own} where user_code = $1`, [OWNER]);
  await db.query(`update prealerts set ${own}, announced_key = id::text where user_code = $1`, [OWNER]);
}

type Received = { user_code: string | null; house_number: string; package_id: string };

/** Receives with ReceivePackage or with a scan of a station. */
async function receive(scan: string, isBatch: boolean): Promise<Received> {
  if (!isBatch) return (await scans.receive(scan).succeeded()).data;
  return receivedParcel(await sendScan(api, deviceScan('receive', scan, 10, { weight: 1 })));
}

describe.each(Object.entries(NOISE).map(([name, make], index) => [name, make, index] as const))(
  '%s',
  (_name, make, index) => {
    test('leads to the announced owner, the same parcel and the same label in every operation', async () => {
      // A short text that repeats itself may be a number.
      const numbers = numbersOf(index).filter((number) => number.length >= 5 || !/^repet/.test(_name));
      const isAnnouncedNoisy = index % 2 === 1;
      const [noisy, clean] = [numbers.map(make), numbers];
      await (ANNOUNCEMENTS[index % ANNOUNCEMENTS.length] ?? (async () => {}))(
        isAnnouncedNoisy ? noisy : clean,
      );
      const scanned = isAnnouncedNoisy ? clean : noisy;
      const failures: unknown[] = [];
      for (const [place, scan] of scanned.entries()) {
        const shown = await scans.resolve(scan);
        const received = await receive(scan, place % 2 === 0);
        const other = (isAnnouncedNoisy ? noisy[place] : clean[place]) ?? '';
        const again = (await scans.receive(other).succeeded()).data;
        const label = make(received.house_number);
        const labelled = (await scans.receive(label).succeeded()).data;
        const located = await sendScan(api, deviceScan('locate', label, 5, { location: 'A-1' }));
        const resolved = await scans.resolve(label);
        const actual = [
          shown.next,
          shown.owner?.user_code,
          received.user_code,
          again.duplicate,
          labelled.duplicate,
          labelled.package_id,
          located.outcome,
          located.parcel?.package_id,
          resolved.kind,
        ];
        const id = received.package_id;
        const wanted = ['receive', OWNER, OWNER, true, true, id, 'done', id, 'house_number'];
        if (JSON.stringify(actual) !== JSON.stringify(wanted)) failures.push({ scan, actual });
      }
      expect(failures).toEqual([]);
      const stored = await db.query<{ number: string }>(
        `select tracking_number as number from packages where user_code = $1
         union all select tracking_number from prealerts where user_code = $1`,
        [OWNER],
      );
      expect(stored.filter(({ number }) => NOISY.test(number))).toEqual([]);
      await forget();
    }, 60_000);
  },
);
