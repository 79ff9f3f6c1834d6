import { beforeEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { insertDelivery, insertEvent, type Planted } from '../../../support/builders/deliveries.js';
import { withService, type Fixture } from '../../../support/fixture/with-service.js';
import { makeDeliveries, PARTNER } from './planted-deliveries.js';

const { IEX, HRB, TWO } = DEMO.couriers;

const readerOf =
  ({ api }: Fixture) =>
  async (as: string, query: object = {}) =>
    (
      await api
        .as(as)
        .listWebhookHealth({ limit: 500, ...query })
        .ok()
    ).data;

const emptyLog = ({ db }: Fixture) =>
  db.query(
    'truncate events, webhook_deliveries, webhook_attempts, webhook_exchanges, event_counters, webhook_endpoints',
  );

/** Plants a delivery of the courier, by default a failed one. */
async function plant({ service }: Fixture, event: Planted, delivery: object = { status: 'failed' }) {
  const eventId = await insertEvent(service().owner, event);
  return insertDelivery(service().owner, { eventId, attempts: 1, ...delivery });
}

describe('listWebhookHealth', () => {
  const fixture = withService();
  const { api, db } = fixture;
  const read = readerOf(fixture);
  const { setUrls, pause } = makeDeliveries(fixture);
  const one = async (courierId: string, endpoint: string) =>
    (await read('admin', { courier_id: courierId, endpoint }))[0];

  beforeEach(async () => {
    await emptyLog(fixture);
    await db.query('delete from customer_sync_runs');
    await setUrls(PARTNER);
  });

  test('names each URL of each active courier once, with its state', async () => {
    await db.query('update couriers set api_url_update_package = null where id = $1', [HRB]);
    await pause(IEX, 'update_package');
    const rows = await read('admin');
    const couriers = await db.query<{ id: string }>(
      'select id from couriers where tenant_id = $1 and is_active',
      [DEMO.tenants.demo],
    );
    expect(rows).toHaveLength(3 * couriers.length);
    const stateOf = (courier: string, endpoint: string) =>
      rows.find((row) => row.courier_id === courier && row.endpoint === endpoint)?.state;
    expect(stateOf(IEX, 'update_package')).toBe('paused');
    expect(stateOf(IEX, 'add_package')).toBe('active');
    expect(stateOf(HRB, 'update_package')).toBe('none');
    expect(rows[0]).toMatchObject({ courier_id: IEX, endpoint: 'update_package', state: 'paused' });
    await db.query('update couriers set is_active = false where id = $1', [HRB]);
    expect((await read('admin')).filter((row) => row.courier_id === HRB)).toEqual([]);
    await db.query('update couriers set is_active = true where id = $1', [HRB]);
  });

  test('counts what waits, and of the last 24 hours what was tried and what has not been accepted', async () => {
    await plant(fixture, { courierId: IEX }, { status: 'delivered' });
    await plant(fixture, { courierId: IEX }, { status: 'delivered' });
    await plant(fixture, { courierId: IEX });
    const old = await plant(fixture, { courierId: IEX }, { status: 'pending' });
    await db.query(
      "update webhook_deliveries set created_at = now() - interval '23 hours 59 minutes' where id = $1",
      [old],
    );
    // Not tried yet, of another URL, and too old.
    await plant(fixture, { courierId: IEX }, { status: 'pending', attempts: 0 });
    await plant(fixture, { courierId: IEX, type: 'package.updated' });
    await plant(
      fixture,
      { courierId: IEX },
      { status: 'failed', createdAt: new Date(Date.now() - 86_460_000).toISOString() },
    );
    const health = await one(IEX, 'add_package');
    expect(health).toMatchObject({ waiting: 2, sent_24h: 4, failed_24h: 2, failed_share_24h: 0.5 });
    const [row] = await db.query<{ at: string }>(
      `select to_char(created_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as at from webhook_deliveries where id = $1`,
      [old],
    );
    expect(health?.oldest_waiting_at).toBe(row?.at);
    expect(await one(HRB, 'add_package')).toMatchObject({
      waiting: 0,
      oldest_waiting_at: null,
      sent_24h: 0,
      failed_24h: 0,
      failed_share_24h: null,
      last_failure: null,
    });
  });

  test('says why the last request failed, and when a request last succeeded', async () => {
    await db.query(
      `insert into webhook_endpoints (tenant_id, courier_id, endpoint, failures, failing_since, last_failure_at, last_success_at,
         last_failure_outcome, last_failure_status, last_failure_error)
       values ($1, $2, 'add_package', 2, '2026-11-20 10:00Z', '2026-11-20 11:00:59.9Z', '2026-11-19 09:00Z', 'rejected', 503, 'busy')`,
      [DEMO.tenants.demo, IEX],
    );
    expect(await one(IEX, 'add_package')).toMatchObject({
      state: 'failing',
      failing_since: '2026-11-20 10:00:00',
      paused_at: null,
      last_success_at: '2026-11-19 09:00:00',
      last_failure: { at: '2026-11-20 11:00:59', outcome: 'rejected', http_status: 503, error: 'busy' },
    });
  });

  test('shows synchronisations of customers as a URL', async () => {
    await db.query('update couriers set api_url_get_customers = $1 where id = $2', [PARTNER, IEX]);
    const run = (status: string, ago: string | null, error: string | null = null) =>
      db.query(
        `insert into customer_sync_runs (tenant_id, id, courier_id, origin, status, finished_at, http_status, error)
         values ($1, new_id(), $2, 'schedule', $3, now() - $4::interval, $5, $6)`,
        [DEMO.tenants.demo, IEX, status, ago, error ? 500 : null, error],
      );
    await run('failed', '4 days', 'long ago');
    await run('succeeded', '3 days');
    await run('failed', '2 days', 'first');
    await run('failed', '1 hour', 'last');
    await run('queued', null);
    const health = await one(IEX, 'get_customers');
    expect(health).toMatchObject({
      state: 'failing',
      waiting: 1,
      sent_24h: 1,
      failed_24h: 1,
      last_failure: { outcome: null, http_status: 500, error: 'last' },
    });
    const ageOf = (time: string | null | undefined) =>
      Math.round((Date.now() - Date.parse(`${(time ?? '').replace(' ', 'T')}Z`)) / 86_400_000);
    expect(ageOf(health?.failing_since)).toBe(2);
    expect(ageOf(health?.last_success_at)).toBe(3);
    await db.query('update couriers set api_url_get_customers = null where id = $1', [IEX]);
    expect(await one(IEX, 'get_customers')).toMatchObject({ state: 'none', failing_since: null });
  });

  test('lists URLs that need somebody first, page by page', async () => {
    await plant(fixture, { courierId: HRB }, { status: 'pending' });
    await db.query(
      `insert into webhook_endpoints (tenant_id, courier_id, endpoint, failing_since)
       values ($1, $2, 'add_package', now() - interval '1 hour'), ($1, $2, 'update_package', now() - interval '2 hours')`,
      [DEMO.tenants.demo, IEX],
    );
    await pause(HRB, 'update_package');
    const all = await read('admin');
    expect(all.slice(0, 4).map((row) => [row.courier_code, row.endpoint])).toEqual([
      ['HRB', 'update_package'],
      ['IEX', 'update_package'],
      ['IEX', 'add_package'],
      ['HRB', 'add_package'],
    ]);
    const page = await api.as('admin').listWebhookHealth({ limit: 2, page: 2 }).ok();
    expect(page.data).toEqual(all.slice(2, 4));
    expect(page.meta).toMatchObject({ total_records: all.length, current_page: 2 });
  });

  test('is for managers, administrators and couriers', async () => {
    await api.anonymous.listWebhookHealth().refused(401, 'token_missing');
    await api.as('warehouse').listWebhookHealth().refused(403, 'permission_denied');
    await api.as('admin').listWebhookHealth({ limit: 501 }).refused(400, 'validation_failed');
  });
});

// Each layer must be sufficient alone.
describe.each([
  ['both layers', {}],
  ['row-level security alone', { applicationFilters: false }],
  ["the application's filters alone", { rowSecurity: false }],
] as const)('listWebhookHealth with %s', (_name, options) => {
  const fixture = withService(options);
  const { db } = fixture;
  const read = readerOf(fixture);

  test('counts and shows nothing of another tenant or courier', async () => {
    await emptyLog(fixture);
    const before = await read('admin');
    const beforeCourier = await read('iex');
    expect(new Set(beforeCourier.map(({ courier_code }) => courier_code))).toEqual(new Set(['IEX']));
    expect(beforeCourier).toHaveLength(3);
    await plant(fixture, { courierId: TWO, tenantId: DEMO.tenants.two });
    await db.query(
      `insert into customer_sync_runs (tenant_id, id, courier_id, origin, status, finished_at) values ($1, new_id(), $2, 'schedule', 'failed', now())`,
      [DEMO.tenants.two, TWO],
    );
    expect(await read('admin')).toEqual(before);
    await plant(fixture, { courierId: HRB });
    await db.query(
      `insert into webhook_endpoints (tenant_id, courier_id, endpoint, failing_since) values ($1, $2, 'add_package', now())`,
      [DEMO.tenants.demo, HRB],
    );
    expect(await read('iex')).toEqual(beforeCourier);
    expect(await read('iex', { courier_id: HRB })).toEqual(beforeCourier);
    expect(await read('admin')).not.toEqual(before);
  });
});
