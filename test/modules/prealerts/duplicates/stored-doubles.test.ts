import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { CUSTOMERS, makeParcels, newNumber } from '../../../support/builders/parcels.js';
import { longestBlockMs } from '../../../support/harness/event-loop-block.js';
import { deviceScan, sendScans } from '../../../support/scans/device-scans.js';
import { startService, type Reply, type Service } from '../../../support/service/service.js';

// Release 1.0 stored any number of spellings of one number. What a request does for them is bounded (decision 0106).

let service: Service;
let parcels: ReturnType<typeof makeParcels>;

beforeAll(async () => {
  service = await startService();
  parcels = makeParcels(service);
});

afterAll(() => service.stop());

const DOUBLES = 20_000;
const MAX_SETTLED = 500;
const MAX_BLOCK_MS = 50;
const MAX_MS = 1_000;

/** A number with more than 20,000 spellings. */
let serial = 0;
const newLetters = () => `ABCDEFGHIJKLMNOP${(serial += 1)}-${newNumber()}`;

/** The spellings of a number from the first to the last, as mixes of small and capital letters. */
const spellingsOf = (number: string, first: number, last: number): string[] =>
  Array.from({ length: last - first + 1 }, (_, n) =>
    Array.from(number, (char, place) => (((n + first) >> place) & 1 ? char.toLowerCase() : char)).join(''),
  );

/** Stores spellings as release 1.0 did: each with the key of the parcel, and none with an announced key. */
async function store(
  number: string,
  spellings = spellingsOf(number, 1, DOUBLES),
  userCode: string = CUSTOMERS.IEX,
) {
  await service.owner.query(
    `insert into prealerts (tenant_id, id, courier_id, user_code, tracking_number, tracking_key, status)
     select $1, new_id(), $2, $3, spelling, $4, 'pending' from unnest($5::text[]) as spelling`,
    [DEMO.tenants.demo, DEMO.couriers.IEX, userCode, number, spellings],
  );
}

const countsOf = async (number: string) =>
  Object.fromEntries(
    (
      await parcels.select(
        'select status, count(*)::int as n from prealerts where tracking_key = $1 group by status',
        [number],
      )
    ).map(({ status, n }) => [status, n]),
  );

/** Returns the reply of a call that holds the event loop and takes time within the bounds. One repetition is noise of the machine. */
async function bounded(call: () => Promise<Reply>): Promise<Reply> {
  let reply: Reply | undefined;
  const started = performance.now();
  const block = await longestBlockMs(async () => {
    reply = await call();
  });
  const ms = performance.now() - started;
  if (!reply) throw new Error('The call returned nothing.');
  expect({ block, isShort: block < MAX_BLOCK_MS }).toEqual({ block, isShort: true });
  expect({ ms, isFast: ms < MAX_MS }).toEqual({ ms, isFast: true });
  return reply;
}

const receive = (tracking_number: string, fields = {}) =>
  service.call('receivePackage', { as: 'warehouse', body: { tracking_number, weight: 1, ...fields } });
const resolve = (scan: string) => service.call('resolveScan', { as: 'warehouse', body: { scan } });
const update = (package_id: string, fields: object) =>
  service.call('updatePackage', { as: 'admin', body: { package_id, ...fields } });

describe(`a parcel with ${DOUBLES} stored pre-alerts`, () => {
  test('is resolved, received, scanned again and renumbered in bounded time', async () => {
    const number = newLetters();
    await store(number);
    expect((await bounded(() => resolve(number))).body['data']).toMatchObject({ next: 'receive' });
    const received = await bounded(() => receive(number));
    expect(received).toMatchObject({ status: 201, body: { data: { user_code: CUSTOMERS.IEX } } });
    expect(await countsOf(number)).toEqual({ received: MAX_SETTLED, pending: DOUBLES - MAX_SETTLED });
    expect((await bounded(() => receive(number))).status).toBe(200);
    expect((await bounded(() => resolve(number))).status).toBe(200);
    const id = String(received.body['data'].package_id);
    expect((await bounded(() => update(id, { tracking_number: newNumber() }))).status).toBe(200);
    expect(await countsOf(number)).toEqual({ pending: DOUBLES });
    expect((await bounded(() => update(id, { tracking_number: number }))).status).toBe(200);
  });

  test('is received by a batch in bounded time', async () => {
    const number = newLetters();
    await store(number);
    const scans = [deviceScan('receive', number, 10, { weight: 1 })];
    const reply = await bounded(async () => {
      const sent = await sendScans(service, scans);
      expect(sent.results).toMatchObject([{ result: 'done' }]);
      return { status: 200 } as Reply;
    });
    expect(reply.status).toBe(200);
    expect(await countsOf(number)).toEqual({ received: MAX_SETTLED, pending: DOUBLES - MAX_SETTLED });
  });

  test('a package without a number that gets it is linked in bounded time, and one customer links it', async () => {
    const number = newLetters();
    const id = String((await receive(newNumber())).body['data'].package_id);
    await store(number);
    expect((await bounded(() => update(id, { tracking_number: number }))).status).toBe(200);
    expect((await bounded(() => update(id, { user_code: CUSTOMERS.IEX }))).status).toBe(200);
  });

  test('is contested if the last of them names another customer or courier', async () => {
    const [number, other] = [newLetters(), newLetters()];
    await store(number);
    await store(number, spellingsOf(number, DOUBLES + 1, DOUBLES + 1), 'IEX-1002');
    expect((await bounded(() => resolve(number))).body['data']).toMatchObject({ next: 'review' });
    expect((await bounded(() => receive(number))).body['data']).toMatchObject({ user_code: null });
    await store(other);
    await parcels.announce('HRB', other);
    const reply = await bounded(() => receive(other));
    expect(reply.body['data']).toMatchObject({ courier_id: null, user_code: null });
  });

  test('a later scan flags a bounded number of disputed ones', async () => {
    const number = newLetters();
    await receive(number, { user_code: CUSTOMERS.HRB });
    await store(number);
    expect((await bounded(() => receive(number))).status).toBe(200);
    expect(await countsOf(number)).toEqual({ flagged: MAX_SETTLED, pending: DOUBLES - MAX_SETTLED });
  });
});
