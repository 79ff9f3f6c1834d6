import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { makeParcels } from '../../support/builders/parcels.js';
import { withService } from '../../support/fixture/with-service.js';
import { unchecked } from '../../support/fixture/sent.js';
import { easyPost, makeFeedCalls } from './feed-calls.js';

const { IEX, HRB } = DEMO.couriers;
const { api, db, service } = withService();
const { create, send } = makeFeedCalls(api);
afterEach(() => service().owner.query('delete from feeds'));

const events = (name: string) => easyPost({ number: name, status: 'in_transit', at: '2026-11-20T10:00:00Z' });

describe('a feed', () => {
  test('is created with a secret that is shown once, and audited without it', async () => {
    const { id, secret } = await create('iex');
    expect(secret).toMatch(/^[\w-]{43}$/);
    const [listed] = (await api.as('iex').listFeeds({ courier_id: undefined }).ok()).data;
    expect(listed).toMatchObject({
      feed_id: id,
      courier_id: IEX,
      kind: 'easypost',
      url: `/api/FeedEvents.php?feed_id=${id}`,
      is_active: true,
      hint: secret.slice(-4),
      previous_hint: null,
      last_received_at: null,
    });
    expect(JSON.stringify(listed)).not.toContain(secret);
    const [row] = await db.all('feeds', { id });
    expect(JSON.stringify(row)).not.toContain(secret);
    const audited = await makeParcels(service()).auditOf(id);
    expect(audited).toMatchObject([{ action: 'feed.created', after: { courier_id: IEX, kind: 'easypost' } }]);
    expect(JSON.stringify(audited)).not.toContain(secret);
  });

  test('keeps the secret of the sender, and does not return it', async () => {
    const secret = 'shpss_0123456789abcdef';
    const fields = { action: 'create', courier_id: HRB, kind: 'shippo', name: 'Shop', secret } as const;
    const { data } = await api.as('manager').manageFeeds(fields).ok();
    expect(data).toMatchObject({ secret: null, feed: { courier_id: HRB, hint: 'cdef' } });
    const short = { ...fields, secret: 'short' };
    await api.as('manager').manageFeeds(short).refused(400, 'validation_failed');
  });

  test('has a hint of whole characters', async () => {
    const feed = await create('iex', 'easypost', `${'a'.repeat(30)}😀aaa`);
    const [listed] = (await api.as('iex').listFeeds({ courier_id: undefined }).ok()).data;
    expect(listed).toMatchObject({ feed_id: feed.id, hint: '😀aaa' });
    const event = events('HINT1');
    expect((await send(feed, event).ok()).data.outcome).toBe('stored');
  });

  test('of staff needs a courier that exists', async () => {
    const fields = { action: 'create', kind: 'easypost', name: 'F', secret: undefined } as const;
    await api
      .as('admin')
      .manageFeeds({ ...fields, courier_id: undefined })
      .refused(400, 'validation_failed');
    await api
      .as('admin')
      .manageFeeds({ ...fields, courier_id: randomUUID() })
      .refused(404, 'courier_not_found');
    await api
      .as('warehouse')
      .manageFeeds({ ...fields, courier_id: IEX })
      .refused(403, 'permission_denied');
    await api.anonymous.manageFeeds({ ...fields, courier_id: IEX }).refused(401, 'token_missing');
  });

  test('is renamed, switched off and on, and says that nothing changed', async () => {
    const feed = await create('iex');
    const update = (fields: object) =>
      api
        .as('iex')
        .manageFeeds(unchecked({ action: 'update', feed_id: feed.id, ...fields }))
        .ok();
    expect((await update({ name: 'Other', is_active: false })).data.feed).toMatchObject({
      name: 'Other',
      is_active: false,
    });
    await send(feed, events('OFF1')).refused(401, 'feed_signature_invalid');
    expect((await update({ name: 'Other' })).message).toContain('already');
    await update({ is_active: true });
    await send(feed, events('OFF1')).ok();
    const audited = await makeParcels(service()).auditOf(feed.id);
    expect(audited.map(({ action }) => action)).toEqual(['feed.created', 'feed.updated', 'feed.updated']);
  });

  test('accepts the old secret for one hour after a rotation, and the oldest no more', async () => {
    const feed = await create('iex');
    const rotate = async () => {
      const { data } = await api
        .as('iex')
        .manageFeeds({ action: 'rotate', feed_id: feed.id, secret: undefined })
        .ok();
      return { ...feed, secret: data.secret ?? '' };
    };
    const second = await rotate();
    const [listed] = (await api.as('iex').listFeeds({ courier_id: undefined }).ok()).data;
    expect(listed).toMatchObject({ hint: second.secret.slice(-4), previous_hint: feed.secret.slice(-4) });
    await send(feed, events('R1')).ok();
    await send(second, events('R2')).ok();
    const third = await rotate();
    await send(feed, events('R3')).refused(401, 'feed_signature_invalid');
    await send(second, events('R4')).ok();
    await service().owner.query("update feeds set previous_ends_at = now() - interval '1 second'");
    await send(second, events('R5')).refused(401, 'feed_signature_invalid');
    await send(third, events('R6')).ok();
  });

  test('is deleted with its secrets, and what it has told stays', async () => {
    const feed = await create('iex');
    await send(feed, events('DEL1')).ok();
    await api.as('iex').manageFeeds({ action: 'delete', feed_id: feed.id }).ok();
    await send(feed, events('DEL2')).refused(401, 'feed_signature_invalid');
    await api.as('iex').manageFeeds({ action: 'delete', feed_id: feed.id }).refused(404, 'feed_not_found');
    expect(await db.count('carrier_states', { tracking_key: 'DEL1' })).toBe(1);
    expect(await db.count('feed_events', { feed_id: feed.id })).toBe(0);
  });

  test('is changed 300 times a day by a courier, and refused changes change nothing', async () => {
    await service().owner.query(
      `insert into principal_quotas (tenant_id, principal_kind, principal_id, courier_id, kind, period_start, used)
       values ($1, 'courier', $2, $2, 'feed_changes', date_trunc('day', now() at time zone 'UTC') at time zone 'UTC', 299)
       on conflict (tenant_id, principal_kind, principal_id, kind, period_start) do update set used = 299`,
      [DEMO.tenants.demo, HRB],
    );
    const { id } = await create('hrb');
    const rename = { action: 'update' as const, feed_id: id, name: 'Another name' };
    await api.as('hrb').manageFeeds(unchecked(rename)).refused(429, 'quota_exceeded');
    expect(await db.one('feeds', { id })).not.toMatchObject({ name: 'Another name' });
    await service().owner.query("delete from principal_quotas where kind = 'feed_changes'");
    await api.as('hrb').manageFeeds(unchecked(rename)).ok();
  });

  test('belongs to one courier, which has at most 20, also if it sends all at once', async () => {
    const fields = {
      action: 'create',
      courier_id: undefined,
      kind: 'easypost',
      name: 'F',
      secret: undefined,
    };
    const sent = await Promise.all(
      Array.from({ length: 24 }, () => api.as('hrb').manageFeeds(unchecked(fields)).answer()),
    );
    expect(sent.filter(({ status }) => status === 200)).toHaveLength(20);
    expect(new Set(sent.map(({ code }) => code))).toEqual(new Set([undefined, 'too_many_feeds']));
    await create('iex');
  });
});

// Each layer must be sufficient alone.
describe.each([
  ['both layers', {}],
  ['row-level security alone', { applicationFilters: false }],
  ["the application's filters alone", { rowSecurity: false }],
] as const)('feeds with %s', (_name, options) => {
  const own = withService(options);
  const calls = makeFeedCalls(own.api);

  test('are shown to their courier and to the staff of its tenant only', async () => {
    const [iex, hrb] = [await calls.create('iex'), await calls.create('hrb')];
    const idsFor = async (user: string) => {
      const { data } = await own.api.as(user).listFeeds({ courier_id: undefined }).ok();
      return data.map(({ feed_id }) => feed_id).sort();
    };
    expect([await idsFor('iex'), await idsFor('hrb')]).toEqual([[iex.id], [hrb.id]]);
    expect(await idsFor('admin')).toEqual([iex.id, hrb.id].sort());
    expect([await idsFor('two/admin'), await idsFor('two/two')]).toEqual([[], []]);
    for (const action of ['update', 'rotate', 'delete'] as const) {
      const body = { action, feed_id: hrb.id };
      await own.api.as('iex').manageFeeds(unchecked(body)).refused(404, 'feed_not_found');
      await own.api.as('two/admin').manageFeeds(unchecked(body)).refused(404, 'feed_not_found');
    }
  });

  test('accept no event at the host of another tenant', async () => {
    const feed = await calls.create('iex');
    await calls.send(feed, events('HOST1'), 'two.localhost').refused(401, 'feed_signature_invalid');
    await calls.send(feed, events('HOST1')).ok();
  });
});
