import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import type { FeedKind } from '../../../src/modules/feeds/senders/signatures.js';
import { newNumber } from '../../support/builders/parcels.js';
import { withService } from '../../support/fixture/with-service.js';
import { easyPost, makeFeedCalls, shippo, SIGNED } from './feed-calls.js';

const { IEX } = DEMO.couriers;
const KINDS = ['easypost', 'shippo'] as const satisfies FeedKind[];
const EVENTS = { easypost: easyPost, shippo } as const;
const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
const at = (minute: number) => `2026-11-20T10:${String(minute).padStart(2, '0')}:00Z`;
const MOVING = { easypost: 'in_transit', shippo: 'TRANSIT' } as const;

const { api, db, service } = withService();
const { create, send, sendWith } = makeFeedCalls(api);

describe.each(KINDS)('a signature of %s', (kind) => {
  const eventOf = (number: string) =>
    JSON.stringify(EVENTS[kind]({ number, status: MOVING[kind], at: at(1) }));

  test('is accepted over the bytes as they were sent, and stores no body', async () => {
    const feed = await create('iex', kind);
    const number = newNumber();
    const spaced = `  ${eventOf(number).replaceAll(',', ' ,\n')}`;
    expect((await send(feed, spaced).ok()).data).toEqual({ outcome: 'stored' });
    expect(await db.all('carrier_states', { tracking_key: number })).toMatchObject([
      { courier_id: IEX, status: 'moving', occurred_at: new Date(at(1)) },
    ]);
    expect(Object.keys((await db.all('feed_events', { feed_id: feed.id }))[0] ?? {}).sort()).toEqual([
      'courier_id',
      'event_key',
      'feed_id',
      'received_at',
      'tenant_id',
    ]);
    const [{ last_received_at: last } = {}] = await db.all('feeds', { id: feed.id });
    expect(last).toBeInstanceOf(Date);
  });

  test('of another body, another secret or none is refused, and an unknown feed gets the same response', async () => {
    const [feed, other] = [await create('iex', kind), await create('hrb', kind)];
    const [body, changed] = [eventOf(newNumber()), eventOf(newNumber())];
    const signed = SIGNED[kind](feed.secret, body);
    const [[name, value] = ['', '']] = Object.entries(signed);
    const refused = [
      await sendWith(feed.id, changed, signed).refused(401, 'feed_signature_invalid'),
      await sendWith(feed.id, `${body} `, signed).refused(401, 'feed_signature_invalid'),
      await sendWith(feed.id, body, SIGNED[kind](other.secret, body)).refused(401, 'feed_signature_invalid'),
      await sendWith(feed.id, body, {}).refused(401, 'feed_signature_invalid'),
      await sendWith(feed.id, body, { [name]: '' }).refused(401, 'feed_signature_invalid'),
      await sendWith(feed.id, body, { [name]: value.slice(0, -1) }).refused(401, 'feed_signature_invalid'),
      await sendWith(other.id, body, signed).refused(401, 'feed_signature_invalid'),
      await sendWith(randomUUID(), body, signed).refused(401, 'feed_signature_invalid'),
    ];
    expect(new Set(refused.map(({ message }) => message)).size).toBe(1);
    expect(await db.count('feed_events', { feed_id: feed.id })).toBe(0);
  });

  test('of a feed whose courier is inactive is refused', async () => {
    const feed = await create('hrb', kind);
    const { owner } = service();
    await owner.query('update couriers set is_active = false where id = $1', [DEMO.couriers.HRB]);
    await send(feed, eventOf(newNumber())).refused(401, 'feed_signature_invalid');
    await owner.query('update couriers set is_active = true where id = $1', [DEMO.couriers.HRB]);
    await send(feed, eventOf(newNumber())).ok();
  });

  test('with another signature of the same kind of sender is that of its feed only', async () => {
    const feed = await create('iex', kind);
    const body = eventOf(newNumber());
    const wrong = KINDS.find((each) => each !== kind) ?? 'easypost';
    await sendWith(feed.id, body, SIGNED[wrong](feed.secret, body)).refused(401, 'feed_signature_invalid');
  });
});

test('the token of Shippo counts only without a signature', async () => {
  const feed = await create('iex', 'shippo');
  const body = () => JSON.stringify(shippo({ number: newNumber(), status: 'TRANSIT', at: at(1) }));
  await sendWith(feed.id, body(), {}, feed.secret).ok();
  await sendWith(feed.id, body(), {}, `${feed.secret}x`).refused(401, 'feed_signature_invalid');
  const headers = SIGNED.shippo('another secret', body());
  await sendWith(feed.id, body(), headers, feed.secret).refused(401, 'feed_signature_invalid');
  const easy = await create('iex', 'easypost');
  await sendWith(easy.id, body(), {}, easy.secret).refused(401, 'feed_signature_invalid');
});

describe('an event that arrives again', () => {
  test('changes nothing, also at the same time as the first', async () => {
    const feed = await create('iex');
    const number = newNumber();
    const event = easyPost({ number, status: 'in_transit', at: at(1) });
    const sent = await Promise.all(
      Array.from({ length: 12 }, async () => (await send(feed, event).ok()).data),
    );
    expect(sent.filter(({ outcome }) => outcome === 'stored')).toHaveLength(1);
    expect(sent.filter(({ outcome }) => outcome === 'repeated')).toHaveLength(11);
    const before = await db.all('carrier_states', { tracking_key: number });
    // EasyPost's bytes differ from one attempt to the next.
    expect((await send(feed, { ...event, pending_urls: [] }).ok()).data).toEqual({ outcome: 'repeated' });
    expect(await db.all('carrier_states', { tracking_key: number })).toEqual(before);
    expect(await db.count('feed_events', { feed_id: feed.id })).toBe(1);
  });

  test('of Shippo is known by its bytes, and does not use up what the courier may receive', async () => {
    const feed = await create('iex', 'shippo');
    const event = shippo({ number: newNumber(), status: 'TRANSIT', at: at(1) });
    const used = async () => {
      const [row] = await db.query<{ used: number }>(
        `select used::int from courier_quotas where kind = 'feed_events' and courier_id = '${IEX}'`,
      );
      return row?.used ?? 0;
    };
    await send(feed, event).ok();
    const before = await used();
    expect((await send(feed, event).ok()).data).toEqual({ outcome: 'repeated' });
    expect(await used()).toBe(before);
  });
});

describe('what is known of a parcel', () => {
  const statusOf = async (number: string) => (await db.all('carrier_states', { tracking_key: number }))[0];

  test('is the latest by the time of the carrier, in whatever order it arrives', async () => {
    const feed = await create('iex');
    const steps = [
      { status: 'pre_transit', at: at(1) },
      { status: 'in_transit', at: at(2) },
      { status: 'available_for_pickup', at: at(3) },
      { status: 'delivered', at: at(3) },
    ];
    const orders = [
      [0, 1, 2, 3],
      [3, 2, 1, 0],
      [1, 3, 0, 2],
      [2, 0, 3, 1],
    ];
    for (const order of orders) {
      const number = newNumber();
      for (const index of order)
        await send(feed, easyPost({ number, ...(steps[index] ?? { status: '' }) })).ok();
      expect(await statusOf(number)).toMatchObject({
        status: 'delivered_at_warehouse_door',
        occurred_at: new Date(at(3)),
        remark: 'Now delivered',
      });
    }
    const number = newNumber();
    await send(feed, easyPost({ number, status: 'in_transit', at: at(9) })).ok();
    const late = await send(feed, easyPost({ number, status: 'delivered', at: at(8) })).ok();
    expect(late.data).toEqual({ outcome: 'late' });
    expect(await statusOf(number)).toMatchObject({ status: 'moving' });
  });

  test('is not held back by a time that is ahead of the clock, or wrong', async () => {
    const feed = await create('iex', 'shippo');
    const [ahead, wrong] = [newNumber(), newNumber()];
    await send(feed, shippo({ number: ahead, status: 'TRANSIT', at: hoursAgo(-5) })).ok();
    const stored = (await statusOf(ahead))?.occurred_at;
    expect(stored?.getTime()).toBeLessThanOrEqual(Date.now() + 60_000);
    await send(feed, shippo({ number: wrong, status: 'DELIVERED', at: hoursAgo(44) })).ok();
    const moving = shippo({ number: wrong, status: 'TRANSIT', at: hoursAgo(-24 * 30) });
    expect((await send(feed, moving).ok()).data.outcome).toBe('late');
    expect(await statusOf(wrong)).toMatchObject({ status: 'delivered_at_warehouse_door' });
  });

  test('stays when the carrier no longer knows the number', async () => {
    const feed = await create('iex', 'shippo');
    const number = newNumber();
    await send(feed, shippo({ number, status: 'DELIVERED', at: hoursAgo(48) })).ok();
    expect(
      (await send(feed, shippo({ number, status: 'UNKNOWN', at: hoursAgo(24) })).ok()).data.outcome,
    ).toBe('late');
    expect(await statusOf(number)).toMatchObject({ status: 'delivered_at_warehouse_door' });
  });

  test('does not become less when the carrier says nothing', async () => {
    const feed = await create('iex', 'shippo');
    const [number, silent] = [newNumber(), newNumber()];
    await send(feed, shippo({ number, status: 'TRANSIT', at: at(1) })).ok();
    expect((await send(feed, shippo({ number, status: 'UNKNOWN' })).ok()).data.outcome).toBe('late');
    expect((await send(feed, shippo({ number: silent, status: 'UNKNOWN' })).ok()).data.outcome).toBe(
      'stored',
    );
    expect([(await statusOf(number))?.status, (await statusOf(silent))?.status]).toEqual([
      'moving',
      'silent',
    ]);
  });

  test('is counted against what the courier may receive', async () => {
    const feed = await create('hrb');
    await service().owner.query(
      `insert into courier_quotas (tenant_id, courier_id, kind, period_start, used)
       values ($1, $2, 'feed_events', date_trunc('day', now() at time zone 'UTC') at time zone 'UTC', 50000)
       on conflict (tenant_id, courier_id, kind, period_start) do update set used = 50000`,
      [DEMO.tenants.demo, DEMO.couriers.HRB],
    );
    const number = newNumber();
    const event = easyPost({ number, status: 'in_transit', at: at(1) });
    await send(feed, event).refused(429, 'quota_exceeded');
    expect(await db.count('carrier_states', { tracking_key: number })).toBe(0);
    await service().owner.query("delete from courier_quotas where kind = 'feed_events'");
    // The refused one was not stored as one that has arrived.
    expect((await send(feed, event).ok()).data.outcome).toBe('stored');
  });
});

test('who sends 300 wrong signatures is told to wait, and right ones are accepted all the same', async () => {
  const feed = await create('iex');
  const body = JSON.stringify(easyPost({ number: newNumber(), status: 'in_transit', at: at(1) }));
  let code = '';
  for (let sent = 0; sent < 320 && code !== 'too_many_attempts'; sent += 1)
    code = (await sendWith(feed.id, body, {}).answer()).code ?? '';
  expect(code).toBe('too_many_attempts');
  await send(feed, body).ok();
});
