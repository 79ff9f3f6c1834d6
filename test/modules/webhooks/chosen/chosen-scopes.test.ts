import { beforeEach, describe, expect, test } from '@jest/globals';
import { SHOWN_BY } from '../../../../src/modules/couriers/shared/event-types.js';
import { hasPermission } from '../../../../src/platform/access/permissions.js';
import { makeBilling, newBill } from '../../../support/builders/billing.js';
import { makeParcels, newNumber, shipPackages } from '../../../support/builders/parcels.js';
import { unchecked } from '../../../support/fixture/sent.js';
import { makeTokenCalls } from '../../service-tokens/token-calls.js';
import { IEX, withChosenEvents } from './chosen-receivers.js';

// A token that may not read bills reads none in events either: not in the feed, not in the log, not by sending them again (decision 0145).

const { api, db, service, received, receiverOf, choose, forget } = withChosenEvents();
const { create, manage } = makeTokenCalls(api);

const PACKAGES = ['package.created', 'package.status_changed'];
const PREALERTS = ['prealert.received'];
const BILLS = ['bill.published'];
const FLIGHTS = ['manifest.departed'];

beforeEach(async () => {
  await forget();
  await db.query(`update couriers set add_package_format = 'event', update_package_format = 'event'`);
  await db.query('delete from courier_quotas; delete from service_tokens');
  await choose(IEX, ...PREALERTS, ...BILLS, ...FLIGHTS);
});

/** A bill, a parcel that was announced, and its flight: one event of each kind, and two of the package. Bills are first and last. */
async function makeEvents(): Promise<void> {
  const billing = makeBilling(service());
  await billing.publish(await newBill(billing, IEX));
  const number = newNumber();
  await makeParcels(service()).announce('IEX', number);
  await shipPackages(api, [await makeParcels(service()).receive(number)]);
  await billing.publish(await newBill(billing, IEX));
  await received(IEX);
}

type Owner = 'iex' | 'admin';
const OF_STAFF = { courier_id: IEX };

/** A token that also manages webhooks, because the log needs that. */
async function tokenOf(owner: Owner, scopes: string[]): Promise<string> {
  return (await create(owner, { scopes: [...scopes, 'webhooks:manage'] })).secret;
}

const typesOf = (rows: { type: string }[]) => [...new Set(rows.map(({ type }) => type))].sort();
const feed = async (token: string, more: object = {}) =>
  api
    .withToken(token)
    .listEvents({ ...more })
    .ok();

const READERS: [owner: Owner, scopes: string[], types: string[]][] = [
  ['iex', [], PACKAGES],
  ['iex', ['packages:read'], [...PACKAGES, ...FLIGHTS]],
  ['iex', ['bills:read'], [...PACKAGES, ...BILLS]],
  ['iex', ['prealerts:write'], [...PACKAGES, ...PREALERTS]],
  ['iex', ['customers:write'], PACKAGES],
  ['admin', [], PACKAGES],
  ['admin', ['manifests:write'], [...PACKAGES, ...FLIGHTS]],
  ['admin', ['intake:write', 'bills:read'], [...PACKAGES, ...BILLS]],
];

test.each(READERS)(
  'a token of %s with %j reads only events whose content its scopes show, in the feed and in the log',
  async (owner, scopes, types) => {
    const all = owner === 'admin' ? OF_STAFF : {};
    await makeEvents();
    const token = await tokenOf(owner, scopes);
    const sorted = [...types].sort();
    expect(typesOf((await feed(token, all)).data)).toEqual(sorted);
    const { data } = await api.withToken(token).listWebhookDeliveries({}).ok();
    expect(typesOf(data)).toEqual(sorted);
    const deliveries = await db.query<{ id: string; type: string }>(
      'select d.id, e.type from webhook_deliveries d join events e on e.id = d.event_id',
    );
    expect(typesOf(deliveries)).toEqual([...PACKAGES, ...PREALERTS, ...BILLS, ...FLIGHTS].sort());
    for (const { id, type } of deliveries) {
      const read = api.withToken(token).getWebhookDelivery({ delivery_id: id });
      if (types.includes(type)) await read.ok();
      else await read.refused(404, 'delivery_not_found');
    }
  },
);

test.each([READERS[2], READERS[5]] as typeof READERS)(
  'a token of %s with %j sends only these again',
  async (owner, scopes, types) => {
    const all = owner === 'admin' ? OF_STAFF : {};
    await makeEvents();
    const token = await tokenOf(owner, scopes);
    const count = (of: string[]) =>
      receiverOf(IEX).received.filter(({ body }) => of.some((type) => body.includes(`"${type}"`))).length;
    const wanted = count(types);
    const send = (body: object) =>
      api.withToken(token).manageWebhookDeliveries(unchecked({ ...all, ...body }));
    const from = { action: 'redeliver_matching', from: '2026-01-01 00:00:00' };
    const dry = await send({ ...from, dry_run: true }).succeeded();
    expect(dry.body.message).toContain(`${wanted} events match`);
    receiverOf(IEX).received.length = 0;
    await send(from).succeeded();
    expect(typesOf(await received(IEX))).toEqual([...types].sort());
    await db.query(`update webhook_deliveries set status = 'failed', origin = 'event'`);
    receiverOf(IEX).received.length = 0;
    const recovered = await send({ action: 'recover_since', since: '2026-01-01 00:00:00' }).succeeded();
    const { endpoints } = recovered.data as {
      endpoints: Record<string, { selected: number; queued: number }>;
    };
    const sum = (name: 'selected' | 'queued') =>
      Object.values(endpoints).reduce((total, each) => total + each[name], 0);
    expect([sum('selected'), sum('queued')]).toEqual([wanted, wanted]);
    expect(typesOf(await received(IEX))).toEqual([...types].sort());
    const hidden = await db.query<{ id: string }>(
      'select d.id from webhook_deliveries d join events e on e.id = d.event_id where e.type <> all($1) limit 1',
      [types],
    );
    for (const { id } of hidden)
      await send({ action: 'redeliver', delivery_id: id }).refused(404, 'delivery_not_found');
  },
);

describe('the feed of a token that may not read all types', () => {
  test('has no empty page before its end, and its range ends with its own last event', async () => {
    await makeEvents();
    const token = await tokenOf('iex', []);
    const pages = [];
    for (let after = 0, hasMore = true; hasMore;) {
      const { data, meta } = await feed(token, { after, limit: 1 });
      pages.push({ count: data.length, ...meta });
      ({ next_after: after, has_more: hasMore } = meta);
    }
    const range = { first_sequence: 1, last_sequence: 4, is_ahead: false, limit: 1, count: 1 };
    // 1 is a bill, 3 a pre-alert, 5 a flight and 6 a bill.
    expect(pages).toEqual([
      { ...range, next_after: 2, has_more: true },
      { ...range, next_after: 4, has_more: false },
    ]);
    const end = await feed(token, { after: 4 });
    expect([end.data, end.meta.next_after, end.meta.is_ahead]).toEqual([[], 4, false]);
    const { meta } = await api.as('iex').listEvents({ after: 4 }).ok();
    expect(meta).toMatchObject({ last_sequence: 6, next_after: 6 });
  });

  test('goes on behind its last event when that is deleted', async () => {
    await makeEvents();
    const token = await tokenOf('iex', []);
    await db.query('delete from webhook_deliveries; delete from events where sequence <= 4');
    const gone = await feed(token, { after: 4 });
    expect(gone.meta).toMatchObject({
      first_sequence: null,
      last_sequence: 4,
      is_ahead: false,
      next_after: 4,
    });
    await makeParcels(service()).receive(newNumber(), { user_code: 'IEX-1001' });
    const next = await feed(token, { after: 4 });
    expect(next.data.map(({ sequence }) => sequence)).toEqual([7]);
    expect(next.meta).toMatchObject({ first_sequence: 5, last_sequence: 7, has_more: false });
    await db.query('delete from webhook_deliveries; delete from events');
    expect((await feed(token, { after: 7 })).meta).toMatchObject({ last_sequence: 7, is_ahead: false });
  });

  test('loses the events of a scope with the scope', async () => {
    await makeEvents();
    const { secret, id } = await create('iex', { scopes: ['webhooks:manage', 'bills:read'] });
    expect(typesOf((await feed(secret)).data)).toEqual([...BILLS, ...PACKAGES].sort());
    await manage('iex', { action: 'update', token_id: id, scopes: ['webhooks:manage'] }).ok();
    expect(typesOf((await feed(secret)).data)).toEqual(PACKAGES);
  });

  test('is the whole feed for users, because each role that reads events may read what they contain', async () => {
    const roles = (['admin', 'manager', 'warehouse', 'courier'] as const).filter((role) =>
      hasPermission(role, 'webhook:view'),
    );
    expect(roles).toEqual(['admin', 'manager', 'courier']);
    for (const { id, permission } of Object.values(SHOWN_BY))
      expect([id, roles.filter((role) => hasPermission(role, permission))]).toEqual([id, roles]);
    await makeEvents();
    const all = [...BILLS, ...FLIGHTS, ...PACKAGES, ...PREALERTS];
    for (const as of ['iex', 'manager', 'admin'])
      expect(
        typesOf(
          (
            await api
              .as(as)
              .listEvents(as === 'iex' ? {} : OF_STAFF)
              .ok()
          ).data,
        ),
      ).toEqual(all);
  });
});

describe('a token that changes the lists', () => {
  const listsOf = async () => {
    const { add_package_events, update_package_events, api_url_add_package } = await db.courier(IEX);
    return { add_package_events, update_package_events, api_url_add_package };
  };

  test.each([
    ['bill.paid', 'bills:read'],
    ['prealert.flagged', 'prealerts:write'],
    ['manifest.arrived', 'packages:read'],
  ])('chooses %s only with %s', async (type, scope) => {
    const before = await listsOf();
    const body = { update_package_events: ['package.updated', type] };
    const refused = await api
      .withToken(await tokenOf('iex', ['customers:write']))
      .updateCourierSettings(body as never)
      .refused(403, 'scope_missing');
    expect(refused.body.message).toContain(`needs the scope ${scope}`);
    expect(await listsOf()).toEqual(before);
    await api
      .withToken(await tokenOf('iex', [scope]))
      .updateCourierSettings(body as never)
      .ok();
    expect((await listsOf()).update_package_events).toEqual(body.update_package_events);
  });

  test('keeps and removes what is in a list already, and moves it to no other URL', async () => {
    // A token names no new URL while each webhook contains it.
    await db.query('update couriers set api_token_cipher = null');
    const token = await tokenOf('iex', []);
    const byToken = (body: object) => api.withToken(token).updateCourierSettings(unchecked(body));
    const { add_package_events: types } = await listsOf();
    await byToken({ add_package_events: types, update_package_events: [] }).ok();
    const elsewhere = { api_url_add_package: 'https://token.example/hook' };
    await byToken(elsewhere).refused(403, 'scope_missing');
    // The URL that the courier has for changes is another one.
    await byToken({ api_url_add_package: `${receiverOf(IEX).url}/update` }).refused(403, 'scope_missing');
    await byToken({ api_url_update_package: 'https://token.example/hook' }).ok();
    await byToken({ update_package_events: ['bill.published'] }).refused(403, 'scope_missing');
    await byToken({ ...elsewhere, add_package_events: ['package.created'] }).ok();
    expect(await listsOf()).toMatchObject({ ...elsewhere, add_package_events: ['package.created'] });
  });
});
