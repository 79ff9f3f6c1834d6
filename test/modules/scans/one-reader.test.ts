import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { readScan } from '../../../src/modules/tracking-numbers/read-scan.js';
import { deviceScan, sendScans } from '../../support/scans/device-scans.js';
import { NOISE, STORED_NOISE } from '../../support/scans/noise.js';
import { startService, type Service } from '../../support/service/service.js';
import { publishedVectors } from '../tracking-numbers/data-set.js';
import { rounds } from '../../support/harness/effort.js';
import { matching } from '../../support/assertions/matching.js';

const NOISY = matching(STORED_NOISE, '*LCL-1*', 'LCL\u200b1', 'LCL\u001d1', ' LCL1');

// ResolveScan, ReceivePackage, ScanBatch, UpdatePackage and the four ways to announce a parcel read a number in the same way.

let service: Service;

beforeAll(async () => {
  service = await startService();
});

afterAll(async () => {
  await service.stop();
});

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

const call = async (operation: Parameters<Service['call']>[0], options: object) =>
  (await service.call(operation, options)).body['data'];

/** The ways to announce numbers. */
const ANNOUNCEMENTS: ((numbers: string[]) => Promise<unknown>)[] = [
  (numbers) =>
    service.call('submitPrealert', {
      key: DEMO.apiKeys.IEX,
      headers: { 'content-type': 'application/x-ndjson' },
      body: numbers.map((number) => JSON.stringify({ UserCode: OWNER, TrackingNumber: number })).join('\n'),
    }),
  (numbers) =>
    Promise.all(
      numbers.map((number) =>
        service.call('submitPrealert', {
          key: DEMO.apiKeys.IEX,
          body: { UserCode: OWNER, TrackingNumber: number },
        }),
      ),
    ),
  (numbers) =>
    service.call('uploadPrealerts', {
      as: 'iex',
      form: {
        file: {
          file: [
            'tracking_number,user_code',
            ...numbers.map((number) => `"${number.replaceAll('"', '""')}",${OWNER}`),
          ].join('\n'),
        },
      },
    }),
  (numbers) =>
    Promise.all(
      numbers.map((number) =>
        service.call('createPrealert', {
          as: 'iex',
          body: { user_code: OWNER, tracking_number: number, vendor: 'Example' },
        }),
      ),
    ),
  async (numbers) => {
    for (const number of numbers) {
      const { prealert_id } = await call('createPrealert', {
        as: 'iex',
        body: {
          user_code: OWNER,
          tracking_number: `OLD-${number.length}-${Math.random()}`,
          vendor: 'Example',
        },
      });
      await service.call('replacePrealert', {
        as: 'iex',
        body: { prealert_id, user_code: OWNER, tracking_number: number, vendor: 'Example' },
      });
    }
  },
];

/** Gives the rows of a round other keys, so that the next round begins without them. */
async function forget(): Promise<void> {
  const own = 'tracking_number = id::text, tracking_key = id::text';
  await service.owner.query(`update packages set ${own} where user_code = $1`, [OWNER]);
  await service.owner.query(`update prealerts set ${own}, announced_key = id::text where user_code = $1`, [
    OWNER,
  ]);
}

type Received = { user_code: string; tracking_number?: string; house_number: string; package_id: string };

/** Receives with ReceivePackage or with a scan of a station. */
async function receive(scan: string, isBatch: boolean): Promise<Received> {
  if (!isBatch)
    return call('receivePackage', { as: 'warehouse', body: { tracking_number: scan, weight: 1 } });
  const { results } = await sendScans(service, [deviceScan('receive', scan, 10, { weight: 1 })]);
  return results[0].parcel;
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
      const scans = isAnnouncedNoisy ? clean : noisy;
      const failures: unknown[] = [];
      for (const [place, scan] of scans.entries()) {
        const shown = await call('resolveScan', { as: 'warehouse', body: { scan } });
        const received = await receive(scan, place % 2 === 0);
        const again = await call('receivePackage', {
          as: 'warehouse',
          body: { tracking_number: isAnnouncedNoisy ? noisy[place] : clean[place], weight: 1 },
        });
        const label = make(received.house_number);
        const labelled = await call('receivePackage', {
          as: 'warehouse',
          body: { tracking_number: label, weight: 1 },
        });
        const { results } = await sendScans(service, [deviceScan('locate', label, 5, { location: 'A-1' })]);
        const resolved = await call('resolveScan', { as: 'warehouse', body: { scan: label } });
        const actual = [
          ...[shown.next, shown.owner?.user_code, received.user_code, again.duplicate, labelled.duplicate],
          ...[labelled.package_id, results[0].outcome, results[0].parcel?.package_id, resolved.kind],
        ];
        const id = received.package_id;
        const wanted = ['receive', OWNER, OWNER, true, true, id, 'done', id, 'house_number'];
        if (JSON.stringify(actual) !== JSON.stringify(wanted)) failures.push({ scan, actual });
      }
      expect(failures).toEqual([]);
      const { rows } = await service.owner.query(
        `select tracking_number from packages where user_code = $1
         union all select tracking_number from prealerts where user_code = $1`,
        [OWNER],
      );
      expect(rows.filter((row) => NOISY.test(row.tracking_number))).toEqual([]);
      await forget();
    }, 60_000);
  },
);
