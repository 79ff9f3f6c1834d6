import { randomUUID } from 'node:crypto';
import { afterEach, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { readSentScan, type SentScan } from '../../../../src/modules/scans/batch/messages/read-scans.js';
import { unchecked } from '../../../support/fixture/sent.js';
import { withService } from '../../../support/fixture/with-service.js';
import { holdParcel, numbersWithLocks, type HeldParcel } from '../../../support/scans/parcel-locks.js';
import { deviceScan, scanTime, sendScans, type DeviceScan } from '../../../support/scans/device-scans.js';
import { until } from '../../../support/service/processes.js';
import type { Reply } from '../../../support/service/service.js';

// A batch of more than 100 scans is executed in pieces, and large batches of a tenant one at a time (decision 0096).

const { api, service } = withService();

/** The parcel locks of a tenant. */
const LOCKS = 128;
const PIECE = 100;

const heldParcels: HeldParcel[] = [];

afterEach(async () => {
  await Promise.all(heldParcels.splice(0).map((held) => held.free()));
});

async function hold(number = ''): Promise<HeldParcel> {
  const held = await holdParcel(service().owner, number);
  heldParcels.push(held);
  return held;
}

/** A number for each lock of a range: two numbers have different locks. */
const numbers = (from: number, to: number) => numbersWithLocks(service().owner, from, to);

const receive = (number: string, secondsAgo = 10) => deviceScan('receive', number, secondsAgo, { weight: 1 });

const receiveAll = (list: string[]) => list.map((number, n) => receive(number, 1_000 - n));

/** Sends a batch, and tells whether it has been answered. */
function send(scans: DeviceScan[], as = 'warehouse') {
  const state = { isAnswered: false, data: sendScans(api, scans, { as }) };
  state.data = state.data.finally(() => (state.isAnswered = true));
  return state;
}

const announce = (TrackingNumber: string): Promise<Reply> =>
  api.withKey(DEMO.apiKeys.IEX).submitPrealert({ UserCode: 'IEX-1001', TrackingNumber }).answer();

/** How many of the numbers have a package. */
async function countReceived(list: string[]): Promise<number> {
  const { rows } = await service().owner.query<{ n: number }>(
    'select count(*)::int as n from packages where tracking_number = any($1)',
    [list],
  );
  return rows[0]?.n ?? 0;
}

test('a batch gives up the locks of its first hundred parcels before it receives the others', async () => {
  const list = await numbers(0, PIECE + 20);
  const [first, later] = [list.slice(0, PIECE), list.slice(PIECE)];
  // The lowest lock of the second piece, so that it has none while it waits.
  const held = await hold(later[0]);
  const batch = send(receiveAll(list));
  await until(held.isAwaited);
  expect([await countReceived(first), await countReceived(later)]).toEqual([PIECE, 0]);
  for (const lock of [0, PIECE - 1]) {
    const [again = ''] = await numbers(lock, lock + 1);
    expect((await announce(again)).status).toBe(201);
  }
  expect(batch.isAnswered).toBe(false);
  await held.free();
  const { done, results } = await batch.data;
  expect(done).toBe(list.length);
  expect(results.map(({ parcel }) => parcel?.tracking_number)).toEqual(list);
}, 60_000);

test('a batch of another user is executed after the present piece of a batch, before the other batches of its user', async () => {
  const list = await numbers(0, PIECE + 12);
  const [first, second] = [list.slice(0, PIECE), list.slice(PIECE, PIECE + 10)];
  const held = await hold(first[0]);
  const large = send(receiveAll([...first, ...second]));
  await until(held.isAwaited);
  const heldForSecond = await hold(second[0]);
  const next = (await Promise.all(Array.from({ length: 4 }, () => numbers(0, 110)))).map((each) =>
    send(receiveAll(each)),
  );
  const other = send(receiveAll(await numbers(20, 50)), 'admin');
  await held.free();
  expect((await other.data).done).toBe(30);
  await until(heldForSecond.isAwaited);
  expect([large, ...next].filter(({ isAnswered }) => isAnswered)).toEqual([]);
  await heldForSecond.free();
  expect((await large.data).done).toBe(PIECE + 10);
  for (const { data } of next) expect((await data).done).toBe(110);
}, 120_000);

test('a batch of ten scans is executed beside a large one, and one of eleven waits for it', async () => {
  const list = await numbers(0, 33);
  const held = await hold(list[0]);
  const large = send(receiveAll(list.slice(0, 11)));
  await until(held.isAwaited);
  const heldForEleven = await hold(list[11]);
  const eleven = send(receiveAll(list.slice(11, 22)));
  const ten = await sendScans(api, receiveAll(list.slice(22, 32)));
  const one = await sendScans(api, receiveAll(list.slice(32)));
  expect([ten.done, one.done]).toEqual([10, 1]);
  expect([large.isAnswered, eleven.isAnswered]).toEqual([false, false]);
  // It has not come to its own lock.
  expect(await heldForEleven.isAwaited()).toBe(false);
  await held.free();
  await until(heldForEleven.isAwaited);
  await heldForEleven.free();
  expect([(await large.data).done, (await eleven.data).done]).toEqual([11, 11]);
}, 60_000);

test('a batch of ten scans waits for another one of the tenant, and a single scan for none', async () => {
  const list = await numbers(0, 15);
  const held = await hold(list[0]);
  const first = send(receiveAll(list.slice(0, 2)));
  await until(held.isAwaited);
  const heldForSecond = await hold(list[2]);
  const second = send(receiveAll(list.slice(2, 12)));
  for (const number of list.slice(12)) expect((await sendScans(api, [receive(number)])).done).toBe(1);
  expect([first.isAnswered, second.isAnswered]).toEqual([false, false]);
  // It has not come to its own lock.
  expect(await heldForSecond.isAwaited()).toBe(false);
  await held.free();
  await until(heldForSecond.isAwaited);
  await heldForSecond.free();
  expect([(await first.data).done, (await second.data).done]).toEqual([2, 10]);
}, 60_000);

test.each([10, 100])(
  'twelve stations that send %i receipts each leave connections for a courier',
  async (size) => {
    const list = await numbers(0, LOCKS);
    const held = await hold(list[0]);
    const stations = await Promise.all(Array.from({ length: 12 }, () => numbers(0, size)));
    const batches = stations.map((own) => send(receiveAll(own)));
    await until(held.isAwaited);
    // Their locks are none of those that the batch has or waits for.
    for (const number of list.slice(PIECE, PIECE + 5)) expect((await announce(number)).status).toBe(201);
    expect(batches.filter(({ isAnswered }) => isAnswered)).toEqual([]);
    await held.free();
    for (const { data } of batches) expect((await data).done).toBe(size);
  },
  120_000,
);

test('a batch whose second piece fails is sent again, with its Idempotency-Key, and each scan is executed once', async () => {
  const list = await numbers(0, PIECE + 10);
  const held = await hold(list[PIECE]);
  const scans = receiveAll(list);
  const headers = { 'idempotency-key': randomUUID() };
  const post = () =>
    api
      .as('warehouse')
      .sendScans(unchecked({ station: 'Dock 1', scans }), { headers })
      .answer();
  const failed = post();
  await until(held.isAwaited);
  await held.cancelWaiting();
  expect((await failed).status).toBe(503);
  await held.free();
  const again = await post();
  expect([again.status, again.body['data']]).toMatchObject([200, { done: 10, repeated: PIECE, refused: 0 }]);
  const replayed = await post();
  expect(replayed.body['data']).toEqual(again.body['data']);
  expect(await countReceived(list)).toBe(list.length);
}, 60_000);

test('the scans of a parcel are executed together, wherever they are in a large batch', async () => {
  const list = await numbers(0, 120);
  const [number = ''] = list;
  const place = deviceScan('locate', number, 2_000, { location: 'Shelf 1' });
  const onHold = deviceScan('hold', number.toLowerCase(), 1);
  const { results } = await sendScans(api, [place, ...receiveAll(list.slice(1)), receive(number), onHold]);
  const [first, last] = [results[0], results.at(-1)];
  for (const each of [first, results[120], last])
    expect(each).toMatchObject({ result: 'done', parcel: { status: 'on_hold', location: 'Shelf 1' } });
  expect(new Set(results.map(({ result }) => result))).toEqual(new Set(['done']));
}, 60_000);

test('of two scans with one id, the first in the batch is executed, whatever their times', async () => {
  const list = await numbers(0, 120);
  const [one = '', two = '', ...others] = list;
  const first = receive(one, 1);
  const second = { ...receive(two, 5_000), scan_id: first.scan_id };
  const { results } = await sendScans(api, [first, ...receiveAll(others), second]);
  expect([results[0]?.result, results.at(-1)?.reason]).toEqual(['done', 'id_reused']);
  expect(await countReceived([one, two])).toBe(1);
}, 60_000);

test('a large batch of refused scans has the refusals in the order of the scans', async () => {
  const list = await numbers(0, 110);
  const scans = list.map((number, n) =>
    n % 2 === 0 ? receive(number) : deviceScan('receive', number, 10, { weight: -n }),
  );
  const { done, refused, results } = await sendScans(api, scans);
  expect([done, refused]).toEqual([55, 55]);
  expect(results.map(({ scan_id }) => scan_id)).toEqual(scans.map(({ scan_id }) => scan_id));
}, 60_000);

test('a stored scan that is sent again when it has become too old keeps its result', async () => {
  const [number = ''] = await numbers(0, 1);
  const scan = { ...receive(number), scanned_at: scanTime(89 * 86_400) };
  expect((await sendScans(api, [scan])).done).toBe(1);
  // As if it had been stored two days ago.
  const old = { ...scan, scanned_at: scanTime(91 * 86_400) };
  const { contentHash } = readSentScan(old as unknown as SentScan);
  await service().owner.query('update scans set content_hash = $2 where id = $1', [
    scan.scan_id,
    contentHash,
  ]);
  const { results } = await sendScans(api, [old, { ...receive(number), scanned_at: old.scanned_at }]);
  expect(results).toMatchObject([
    { result: 'repeated', outcome: 'done', parcel: { tracking_number: number } },
    { result: 'refused', reason: 'too_old' },
  ]);
});
