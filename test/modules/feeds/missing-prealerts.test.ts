import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { reportMissingPrealerts } from '../../../src/modules/prealerts/report-missing.js';
import { makeParcels, newNumber } from '../../support/builders/parcels.js';
import { unchecked } from '../../support/fixture/sent.js';
import { withService } from '../../support/fixture/with-service.js';
import { easyPost, makeFeedCalls } from './feed-calls.js';

const HOUR_MS = 3_600_000;
const hoursAgo = (hours: number) => new Date(Date.now() - hours * HOUR_MS).toISOString();

const { api, db, service } = withService();
const { announce, create, send } = makeFeedCalls(api);
const missing = async (as: string, query: Record<string, unknown> = {}) =>
  api
    .as(as)
    .listMissingPrealerts(unchecked({ limit: 100, ...query }))
    .ok();
const idsOf = async (as: string, query: Record<string, unknown> = {}) =>
  (await missing(as, query)).data.map(({ prealert_id }) => prealert_id);
const report = () => reportMissingPrealerts({ db: service().db, stopping: new AbortController().signal });
const choose = (types: string[]) =>
  service().owner.query('update couriers set add_package_events = $1 where id = $2', [
    types,
    DEMO.couriers.IEX,
  ]);

async function delivered(hours: number, as: 'iex' | 'hrb' = 'iex') {
  const number = newNumber();
  const id = await announce(as, number, as === 'iex' ? 'IEX-1001' : 'HRB-2001');
  const feed = await create(as);
  await send(feed, easyPost({ number, status: 'delivered', at: hoursAgo(hours) })).ok();
  await service().owner.query('delete from feeds');
  return { number, id };
}

describe('the list of missing parcels', () => {
  test('has those that were delivered long enough ago, the oldest first, until they are received', async () => {
    const [newer, older, young] = [await delivered(30), await delivered(50), await delivered(20)];
    expect(await idsOf('iex')).toEqual([older.id, newer.id]);
    expect((await missing('iex')).meta).toMatchObject({ after_hours: 24, total_records: 2 });
    expect(await idsOf('iex', { after_hours: 40 })).toEqual([older.id]);
    expect(await idsOf('iex', { after_hours: 1 })).toEqual([older.id, newer.id, young.id]);
    expect(await idsOf('iex', { limit: 1, page: 2 })).toEqual([newer.id]);
    await makeParcels(service()).receive(older.number);
    expect(await idsOf('iex')).toEqual([newer.id]);
    const [row] = (await missing('warehouse')).data;
    expect(row).toMatchObject({
      prealert_id: newer.id,
      status: 'pending',
      carrier_tracking: { status: 'delivered_at_warehouse_door' },
    });
  });

  test('follows the setting of the tenant, which is audited', async () => {
    const { id } = await delivered(10);
    expect(await idsOf('iex')).not.toContain(id);
    const set = (missing_after_hours: number) =>
      api.as('admin').updateTenantSettings(unchecked({ missing_after_hours })).answer();
    expect((await set(8)).status).toBe(200);
    expect(await idsOf('iex')).toContain(id);
    expect((await missing('iex')).meta.after_hours).toBe(8);
    expect([(await set(0)).status, (await set(721)).status]).toEqual([400, 400]);
    expect((await set(24)).status).toBe(200);
    const audited = await makeParcels(service()).auditOf(DEMO.tenants.demo);
    expect(audited.at(-1)).toMatchObject({
      action: 'tenant.settings_changed',
      before: { missing_after_hours: 8 },
      after: { missing_after_hours: 24 },
    });
  });

  test('leaves out what went back after the delivery', async () => {
    const { number, id } = await delivered(40);
    expect(await idsOf('iex')).toContain(id);
    const back = easyPost({ number, status: 'return_to_sender', at: hoursAgo(30) });
    await send(await create('iex'), back).ok();
    expect(await idsOf('iex')).not.toContain(id);
  });

  test('does not read what was delivered and scanned, until a receipt is void', async () => {
    const parcels = makeParcels(service());
    const [scanned, waiting] = [await delivered(30), await delivered(30)];
    const packageId = await parcels.receive(scanned.number);
    const unannounced = newNumber();
    for (const [number, hours] of [[unannounced, 30] as const, [`${unannounced}X`, 24 * 8] as const])
      await send(await create('iex'), easyPost({ number, status: 'delivered', at: hoursAgo(hours) })).ok();
    const settled = async (number: string) =>
      (await db.all('carrier_states', { tracking_key: number })).map((row) => row.settled_at !== null);
    await report();
    // A pre-alert may become pending again at the same time.
    expect(await settled(scanned.number)).toEqual([false]);
    await db.query("update carrier_states set updated_at = now() - interval '1 hour'");
    await report();
    expect([await settled(scanned.number), await settled(waiting.number)]).toEqual([[true], [false]]);
    // It may still be announced.
    expect([await settled(unannounced), await settled(`${unannounced}X`)]).toEqual([[false], [true]]);
    expect(await idsOf('iex')).not.toContain(scanned.id);
    await api.as('admin').voidReceipt({ package_id: packageId, reason: 'Another parcel' }).ok();
    expect(await settled(scanned.number)).toEqual([false]);
    expect(await idsOf('iex')).toContain(scanned.id);
    await report();
    expect(await settled(scanned.number)).toEqual([false]);
  });

  test('is counted in what needs attention', async () => {
    await delivered(60, 'hrb');
    const counted = async (as: string) => {
      const { items } = (await api.as(as).getAttention().ok()).data;
      return items.find(({ kind }) => kind === 'missing_prealerts')?.count;
    };
    for (const as of ['hrb', 'iex', 'admin'])
      expect([as, await counted(as)]).toEqual([as, (await missing(as)).meta.total_records]);
    expect(await counted('hrb')).toBeGreaterThan(0);
  });
});

describe('prealert.missing', () => {
  const told = (id: string) =>
    db.query<{ data: Record<string, unknown> }>(
      `select data from events where type = 'prealert.missing' and data ->> 'prealert_id' = '${id}'`,
    );

  test('is emitted once per pre-alert, with what the carrier says, and changes nothing else', async () => {
    await choose(['prealert.missing']);
    const [late, early] = [await delivered(48), await delivered(2)];
    const before = await db.prealert(late.id);
    await report();
    await report();
    expect(await told(late.id)).toMatchObject([
      {
        data: {
          prealert_id: late.id,
          tracking_number: late.number,
          status: 'pending',
          package_id: null,
          carrier_tracking: { status: 'delivered_at_warehouse_door', carrier: 'UPS' },
        },
      },
    ]);
    expect(await told(early.id)).toEqual([]);
    const { missing_at: missingAt, ...after } = await db.prealert(late.id);
    expect({ ...after, missing_at: null }).toEqual(before);
    expect(missingAt).toBeInstanceOf(Date);
    const feed = (
      await api
        .as('iex')
        .listEvents(unchecked({ limit: 500 }))
        .ok()
    ).data;
    expect(feed.filter(({ type }) => type === 'prealert.missing').length).toBeGreaterThan(0);
  });

  test('of a courier that has not chosen it is not stored', async () => {
    await choose(['package.created']);
    const { id } = await delivered(48);
    await report();
    expect(await told(id)).toEqual([]);
  });
});

// Each layer must be sufficient alone.
describe.each([
  ['both layers', {}],
  ['row-level security alone', { applicationFilters: false }],
  ["the application's filters alone", { rowSecurity: false }],
] as const)('missing parcels with %s', (_name, options) => {
  const own = withService(options);
  const calls = makeFeedCalls(own.api);

  test('are shown to their courier and to the staff of its tenant only', async () => {
    const number = newNumber();
    const ids = {
      iex: await calls.announce('iex', number),
      hrb: await calls.announce('hrb', number, 'HRB-2001'),
    };
    for (const as of ['iex', 'hrb'])
      await calls
        .send(await calls.create(as), easyPost({ number, status: 'delivered', at: hoursAgo(48) }))
        .ok();
    const seen = async (as: string) => {
      const { data, meta } = await own.api
        .as(as)
        .listMissingPrealerts(unchecked({ limit: 100 }))
        .ok();
      expect(meta.total_records).toBe(data.length);
      return data.map(({ prealert_id }) => prealert_id).sort();
    };
    expect([await seen('iex'), await seen('hrb')]).toEqual([[ids.iex], [ids.hrb]]);
    expect(await seen('admin')).toEqual([ids.iex, ids.hrb].sort());
    expect([await seen('two/admin'), await seen('two/two')]).toEqual([[], []]);
  });
});
