import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { rounds } from '../../../support/harness/effort.js';
import { insertEvent } from '../../../support/builders/deliveries.js';
import { shipPackages } from '../../../support/builders/parcels.js';
import { withService } from '../../../support/fixture/with-service.js';
import { untilAdmitted } from '../../../support/service/service.js';

const { IEX, HRB, TWO } = DEMO.couriers;

const { api, db, service } = withService({ poolSize: 20 });

beforeEach(() => db.query('delete from events; delete from event_counters'));

type Query = Parameters<ReturnType<typeof api.as>['listEvents']>[0];
const read = (as: string, query: Query = {}) => api.as(as).listEvents(query);

const receive = (parcel: { tracking_number: string; user_code?: string; courier_id?: string }) =>
  api.as('warehouse').receivePackage({ weight: 2.25, ...parcel });

async function page(as: string, query: Query = {}) {
  const { data: events, meta } = await read(as, query).ok();
  return { events, meta };
}

const sequences = (events: { sequence: number }[]) => events.map(({ sequence }) => sequence);

describe('content of the feed', () => {
  test("lists the events of the courier's packages in order, with the data of the webhooks", async () => {
    const { data: received } = await receive({ tracking_number: 'FEED-1', user_code: 'IEX-1001' }).created();
    const packageId = received.package_id;
    const { manifestNumber } = await shipPackages(api, [packageId]);
    const { events, meta } = await page('iex');
    expect(events).toMatchObject([
      {
        type: 'package.created',
        sequence: 1,
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
        data: {
          package_id: packageId,
          tracking_number: 'FEED-1',
          house_number: received.house_number,
          user_code: 'IEX-1001',
          weight: 2.25,
          status: 'received',
          manifest_number: null,
        },
      },
      {
        type: 'package.status_changed',
        sequence: 2,
        data: {
          package_id: packageId,
          previous_status: 'received',
          status: 'shipped',
          manifest_number: manifestNumber,
        },
      },
    ]);
    expect(meta).toEqual({
      limit: 100,
      next_after: 2,
      has_more: false,
      first_sequence: 1,
      last_sequence: 2,
      is_ahead: false,
    });
  });

  test('contains the events of a courier without a webhook URL', async () => {
    expect((await db.courier(HRB)).api_url_add_package).toBeNull();
    await receive({ tracking_number: 'FEED-NO-URL', courier_id: HRB }).created();
    expect((await page('hrb')).events).toMatchObject([{ type: 'package.created' }]);
  });

  test('numbers the events of each courier separately', async () => {
    for (const courierId of [IEX, HRB, IEX, IEX, HRB]) await insertEvent(service().owner, { courierId });
    expect(sequences((await page('iex')).events)).toEqual([1, 2, 3]);
    expect(sequences((await page('hrb')).events)).toEqual([1, 2]);
  });
});

describe('paging the feed', () => {
  test('returns each event once and in order, and then nothing new', async () => {
    for (let count = 0; count < 7; count += 1) await insertEvent(service().owner);
    const first = await page('iex', { limit: 3 });
    expect([sequences(first.events), first.meta]).toEqual([
      [1, 2, 3],
      { limit: 3, next_after: 3, has_more: true, first_sequence: 1, last_sequence: 7, is_ahead: false },
    ]);
    const second = await page('iex', { limit: 3, after: 3 });
    expect([sequences(second.events), second.meta.has_more]).toEqual([[4, 5, 6], true]);
    // The last page is exactly full.
    const third = await page('iex', { limit: 1, after: 6 });
    expect([sequences(third.events), third.meta.next_after, third.meta.has_more]).toEqual([[7], 7, false]);
    for (const after of [7, 8, 99_999_999_999_999]) {
      const none = await page('iex', { after });
      expect([none.events, none.meta]).toEqual([
        [],
        // A number that the feed does not have yet is from elsewhere.
        {
          limit: 100,
          next_after: after,
          has_more: false,
          first_sequence: 1,
          last_sequence: 7,
          is_ahead: after > 7,
        },
      ]);
    }
  });

  test('is empty and begins at 0 without events', async () => {
    expect(await page('iex')).toEqual({
      events: [],
      meta: {
        limit: 100,
        next_after: 0,
        has_more: false,
        first_sequence: null,
        last_sequence: 0,
        is_ahead: false,
      },
    });
    expect((await page('iex', { after: 1 })).meta.is_ahead).toBe(true);
  });

  test('reports deleted old events in first_sequence and continues the numbers', async () => {
    for (let count = 0; count < 5; count += 1) await insertEvent(service().owner);
    await db.query('delete from events where sequence <= 3');
    const { events, meta } = await page('iex', { after: 1 });
    expect([sequences(events), meta.first_sequence, meta.last_sequence]).toEqual([[4, 5], 4, 5]);
    await db.query('delete from events');
    expect((await page('iex')).meta).toMatchObject({ first_sequence: null, last_sequence: 5, next_after: 0 });
  });
});

describe('access to the feed', () => {
  test('a courier reads its own feed whatever courier_id it sends, and staff name one of their tenant', async () => {
    await insertEvent(service().owner, { courierId: IEX });
    const ofHrb = await insertEvent(service().owner, { courierId: HRB });
    const named: { courier_id?: string }[] = [
      {},
      { courier_id: HRB },
      { courier_id: TWO },
      { courier_id: randomUUID() },
    ];
    for (const query of named)
      expect((await page('iex', query)).events.map(({ event_id }) => event_id)).not.toContain(ofHrb);
    for (const as of ['admin', 'manager'])
      expect((await page(as, { courier_id: HRB })).events).toMatchObject([{ event_id: ofHrb }]);
    const { errors } = await read('admin').refused(400, 'validation_failed');
    expect(errors).toMatchObject([{ field: 'courier_id', code: 'required' }]);
    for (const courier_id of [TWO, randomUUID()])
      await read('admin', { courier_id }).refused(404, 'courier_not_found');
    expect(await read('warehouse', { courier_id: IEX }).status()).toBe(403);
    expect(await api.anonymous.listEvents().status()).toBe(401);
  });
});

const INTAKES = rounds(40, 200);

test(`a reader that polls during ${INTAKES} concurrent intakes sees no gap and finally all events`, async () => {
  const writing = { isOver: false };
  const seen: number[] = [];
  let polls = 0;
  const poll = async () => {
    const { data: events, meta } = await untilAdmitted(() =>
      read('iex', { after: seen.at(-1) ?? 0, limit: 1000 }).answer(),
    );
    // Each page continues directly after the previous one and returns every event up to its last_sequence.
    expect(sequences(events)).toEqual(events.map((_, n) => seen.length + n + 1));
    seen.push(...sequences(events));
    expect(meta.last_sequence).toBe(seen.length);
    polls += 1;
  };
  const reader = (async () => {
    while (!writing.isOver) await poll();
  })();
  const replies = await Promise.all(
    Array.from({ length: INTAKES }, (_, n) =>
      untilAdmitted(() => receive({ tracking_number: `GAP-${n}`, courier_id: IEX }).answer()),
    ),
  );
  writing.isOver = true;
  await reader;
  await poll();
  expect(replies.map(({ status }) => status)).toEqual(Array(INTAKES).fill(201));
  expect(seen).toEqual(Array.from({ length: INTAKES }, (_, n) => n + 1));
  // The reader really polled during the writes.
  expect(polls).toBeGreaterThan(5);
}, 120_000);
