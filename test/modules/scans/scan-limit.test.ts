import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { longestBlockMs } from '../../support/harness/event-loop-block.js';
import { deviceScan, sendScans, type DeviceScan } from '../../support/scans/device-scans.js';
import { startService, type Service } from '../../support/service/service.js';

// The scans of a parcel are bounded, and the work of a further scan does not grow with them (decision 0073).

let service: Service;

beforeAll(async () => {
  service = await startService();
});

afterAll(async () => {
  await service.stop();
});

const LIMIT = 500;

let serials = 0;
const newNumber = () => `BOUND-${(serials += 1)}-0O1IL`;

const results = async (scans: DeviceScan[]) => (await sendScans(service, scans)).results;
const locate = (number: string, secondsAgo = 10) =>
  deviceScan('locate', number, secondsAgo, { location: `Shelf ${secondsAgo}` });

const receive = (number: string) =>
  service.call('receivePackage', { as: 'warehouse', body: { tracking_number: number, weight: 1 } });

/** Plants stored scans, as an earlier version took them. */
async function plantScans(number: string, count: number, reason: string | null): Promise<void> {
  await service.owner.query(
    `insert into scans (tenant_id, id, station, kind, scanned_at, arrived_at, user_id, scan, parcel_key, details,
       content_hash, outcome, reason)
     select $1, gen_random_uuid(), 'Dock 9', 'locate', now() - n * interval '1 second', now(), $2, $3, $3,
       '{"location": "Shelf A"}', 'planted', $4, $5
     from generate_series(1, $6::int) as n`,
    [DEMO.tenants.demo, DEMO.users.warehouse, number, reason === null ? 'done' : 'conflict', reason, count],
  );
  await service.owner.query('analyze scans');
}

test('a parcel stores 500 scans, refuses the next one, and repeats the answers to the stored ones', async () => {
  const number = newNumber();
  expect((await receive(number)).status).toBe(201);
  const scans = Array.from({ length: LIMIT }, (_, n) => locate(number, LIMIT - n));
  const first = await results(scans);
  expect(new Set(first.map(({ result }: { result: string }) => result))).toEqual(new Set(['done']));
  const late = locate(number, 1_000);
  const [refused, other, repeated] = await results([late, locate(newNumber()), scans[7] ?? late]);
  expect(refused).toMatchObject({
    result: 'refused',
    reason: 'too_many_scans',
    parcel: null,
    message: expect.stringContaining('RecordPackageEvent.php'),
  });
  expect(other.result).toBe('conflict');
  expect(repeated).toMatchObject({ result: 'repeated', outcome: 'done' });
  expect((await results([late]))[0].reason).toBe('too_many_scans');
  const { rows } = await service.owner.query('select count(*)::int as n from scans where parcel_key = $1', [
    number,
  ]);
  expect(rows).toEqual([{ n: LIMIT }]);
}, 60_000);

test('a batch of 600 scans in two parts, of which the second has room for 100, refuses 100', async () => {
  const number = newNumber();
  await results(Array.from({ length: 400 }, () => locate(number)));
  // The latest are refused.
  const scan = locate(number, 20);
  const sent = [scan, ...Array.from({ length: 199 }, () => locate(number)), scan];
  const counts = (await results(sent)).map(({ result }: { result: string }) => result);
  expect(counts.filter((result: string) => result === 'conflict')).toHaveLength(100);
  expect(counts.filter((result: string) => result === 'refused')).toHaveLength(100);
  expect(counts.at(-1)).toBe('repeated');
}, 60_000);

test('one scan of a parcel with 60,000 stored scans blocks the event loop for less than 50 ms', async () => {
  const number = newNumber();
  await receive(number);
  await plantScans(number, 60_000, null);
  await results([locate(newNumber())]);
  let refused;
  const blockMs = await longestBlockMs(async () => {
    refused = await results([locate(number)]);
  });
  expect(refused).toMatchObject([{ result: 'refused', reason: 'too_many_scans' }]);
  expect(blockMs).toBeLessThan(50);
}, 120_000);

test('the receipt of a parcel with 60,000 waiting scans executes the newest, in less than 50 ms of the event loop', async () => {
  const number = newNumber();
  await plantScans(number, 60_000, 'not_received');
  await receive(newNumber());
  let status;
  const blockMs = await longestBlockMs(async () => {
    status = (await receive(number)).status;
  });
  expect(status).toBe(201);
  expect(blockMs).toBeLessThan(50);
  const { rows } = await service.owner.query(
    `select outcome, count(*)::int as n from (
       select outcome from scans where parcel_key = $1 order by scanned_at desc limit 500) as newest group by 1`,
    [number],
  );
  expect(rows).toEqual([{ outcome: 'done', n: LIMIT }]);
  const id = randomUUID();
  expect((await results([{ ...locate(number), scan_id: id }]))[0].reason).toBe('too_many_scans');
}, 120_000);

test('a stored scan that is older than those that are folded is repeated with its stored outcome', async () => {
  const number = newNumber();
  const first = locate(number, 80_000);
  expect((await results([first]))[0]).toMatchObject({ result: 'conflict', reason: 'not_received' });
  await plantScans(number, 2_000, 'not_received');
  expect((await results([first]))[0]).toMatchObject({ result: 'repeated', reason: 'not_received' });
}, 60_000);

test('a batch for 200 parcels with 400 scans each is folded in parts, in less than 80 ms of the event loop', async () => {
  const numbers = Array.from({ length: 200 }, newNumber);
  await service.owner.query(
    `insert into scans (tenant_id, id, station, kind, scanned_at, user_id, scan, parcel_key, details, content_hash, outcome,
       reason)
     select $1, gen_random_uuid(), 'Dock 9', 'locate', now() - n * interval '1 second', $2, number, number,
       '{"location": "Shelf A"}', 'planted', 'conflict', 'not_received'
     from unnest($3::text[]) as number, generate_series(1, 400) as n`,
    [DEMO.tenants.demo, DEMO.users.warehouse, numbers],
  );
  await service.owner.query('analyze scans');
  let sent: { result: string }[] = [];
  const blockMs = await longestBlockMs(async () => {
    sent = await results(numbers.map((number) => locate(number)));
  });
  expect(new Set(sent.map(({ result }) => result))).toEqual(new Set(['conflict']));
  expect(blockMs).toBeLessThan(80);
}, 120_000);
