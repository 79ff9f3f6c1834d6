import { expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { longestBlockMs } from '../../../support/harness/event-loop-block.js';
import {
  deviceScan,
  newScanNumber,
  sendScan,
  sendScans,
  type DeviceScan,
} from '../../../support/scans/device-scans.js';
import { makeScanCalls } from '../../../support/scans/scan-calls.js';
import { withService } from '../../../support/fixture/with-service.js';

// The scans of a parcel are bounded, and the work of a further scan does not grow with them (decision 0073).

const { api, db } = withService();
const { receive } = makeScanCalls(api);

const LIMIT = 500;

const newNumber = () => newScanNumber('BOUND');

const results = async (scans: DeviceScan[]) => (await sendScans(api, scans)).results;
const locate = (number: string, secondsAgo = 10) =>
  deviceScan('locate', number, secondsAgo, { location: `Shelf ${secondsAgo}` });

/** Plants stored scans, as an earlier version took them. */
async function plantScans(number: string, count: number, reason: string | null): Promise<void> {
  await db.query(
    `insert into scans (tenant_id, id, station, kind, scanned_at, arrived_at, user_id, scan, parcel_key, details,
       content_hash, outcome, reason)
     select $1, gen_random_uuid(), 'Dock 9', 'locate', now() - n * interval '1 second', now(), $2, $3, $3,
       '{"location": "Shelf A"}', 'planted', $4, $5
     from generate_series(1, $6::int) as n`,
    [DEMO.tenants.demo, DEMO.users.warehouse, number, reason === null ? 'done' : 'conflict', reason, count],
  );
  await db.query('analyze scans');
}

test('a parcel stores 500 scans, refuses the next one, and repeats the answers to the stored ones', async () => {
  const number = newNumber();
  await receive(number).created();
  const scans = Array.from({ length: LIMIT }, (_, n) => locate(number, LIMIT - n));
  const first = await results(scans);
  expect(new Set(first.map(({ result }) => result))).toEqual(new Set(['done']));
  const late = locate(number, 1_000);
  const [refused, other, repeated] = await results([late, locate(newNumber()), scans[7] ?? late]);
  expect(refused).toMatchObject({
    result: 'refused',
    reason: 'too_many_scans',
    parcel: null,
    message: expect.stringContaining('RecordPackageEvent.php'),
  });
  expect(other?.result).toBe('conflict');
  expect(repeated).toMatchObject({ result: 'repeated', outcome: 'done' });
  expect((await sendScan(api, late)).reason).toBe('too_many_scans');
  expect(await db.count('scans', { parcel_key: number })).toBe(LIMIT);
}, 60_000);

test('a batch of 600 scans in two parts, of which the second has room for 100, refuses 100', async () => {
  const number = newNumber();
  await results(Array.from({ length: 400 }, () => locate(number)));
  // The latest are refused.
  const scan = locate(number, 20);
  const sent = [scan, ...Array.from({ length: 199 }, () => locate(number)), scan];
  const kinds = (await results(sent)).map(({ result }) => result);
  expect(kinds.filter((result) => result === 'conflict')).toHaveLength(100);
  expect(kinds.filter((result) => result === 'refused')).toHaveLength(100);
  expect(kinds.at(-1)).toBe('repeated');
}, 60_000);

test('one scan of a parcel with 60,000 stored scans blocks the event loop for less than 50 ms', async () => {
  const number = newNumber();
  await receive(number).created();
  await plantScans(number, 60_000, null);
  await results([locate(newNumber())]);
  let refused;
  const blockMs = await longestBlockMs(async () => {
    refused = await sendScan(api, locate(number));
  });
  expect(refused).toMatchObject({ result: 'refused', reason: 'too_many_scans' });
  expect(blockMs).toBeLessThan(50);
}, 120_000);

test('the receipt of a parcel with 60,000 waiting scans executes the newest, in less than 50 ms of the event loop', async () => {
  const number = newNumber();
  await plantScans(number, 60_000, 'not_received');
  await receive(newNumber()).created();
  const blockMs = await longestBlockMs(() => receive(number).created());
  expect(blockMs).toBeLessThan(50);
  const newest = await db.query(
    `select outcome, count(*)::int as n from (
       select outcome from scans where parcel_key = $1 order by scanned_at desc limit 500) as newest group by 1`,
    [number],
  );
  expect(newest).toEqual([{ outcome: 'done', n: LIMIT }]);
  expect((await sendScan(api, locate(number))).reason).toBe('too_many_scans');
}, 120_000);

test('a stored scan that is older than those that are folded is repeated with its stored outcome', async () => {
  const number = newNumber();
  const first = locate(number, 80_000);
  expect(await sendScan(api, first)).toMatchObject({ result: 'conflict', reason: 'not_received' });
  await plantScans(number, 2_000, 'not_received');
  expect(await sendScan(api, first)).toMatchObject({ result: 'repeated', reason: 'not_received' });
}, 60_000);

test('a batch for 200 parcels with 400 scans each is folded in parts, in less than 80 ms of the event loop', async () => {
  const numbers = Array.from({ length: 200 }, newNumber);
  await db.query(
    `insert into scans (tenant_id, id, station, kind, scanned_at, user_id, scan, parcel_key, details, content_hash, outcome,
       reason)
     select $1, gen_random_uuid(), 'Dock 9', 'locate', now() - n * interval '1 second', $2, number, number,
       '{"location": "Shelf A"}', 'planted', 'conflict', 'not_received'
     from unnest($3::text[]) as number, generate_series(1, 400) as n`,
    [DEMO.tenants.demo, DEMO.users.warehouse, numbers],
  );
  await db.query('analyze scans');
  let sent: { result: string }[] = [];
  const blockMs = await longestBlockMs(async () => {
    sent = await results(numbers.map((number) => locate(number)));
  });
  expect(new Set(sent.map(({ result }) => result))).toEqual(new Set(['conflict']));
  expect(blockMs).toBeLessThan(80);
}, 120_000);
