import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { QUOTAS } from '../../../generated/bounds.js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { insertWithoutTriggers } from '../../support/builders/many-rows.js';
import { rounds } from '../../support/harness/effort.js';
import { emptyQueue, waitingJobs } from '../../support/receivers/outbound.js';
import { startService, type Reply, type Service } from '../../support/service/service.js';

const { IEX } = DEMO.couriers;
const COUNT = rounds(5_000, 20_000);

let service: Service;

beforeAll(async () => {
  service = await startService();
  await insertWithoutTriggers(
    service.owner,
    `insert into packages (tenant_id, id, courier_id, tracking_number, tracking_key, house_number, weight_lb, shipper, warehouse_id)
     select $1, new_id(), $2, 'many' || n, 'many' || n, 'M' || n, 1, 'Many', $3 from generate_series(1, ${COUNT}) n`,
    [DEMO.tenants.demo, IEX, DEMO.warehouses.primary],
  );
});

afterAll(async () => {
  await service.stop();
});

beforeEach(async () => {
  await service.owner.query('delete from package_syncs; delete from principal_quotas');
  await emptyQueue(service.owner);
});

const setUrl = (url: string | null) =>
  service.owner.query('update couriers set api_url_update_package = $1 where id = $2', [url, IEX]);

/** The two ways to dispatch all packages with 31 bytes, more or less. */
const WAYS = [
  ['QueueDispatch', () => service.call('queueDispatch', { as: 'iex', body: { shipper: 'Many' } })],
  [
    'RetrievePackages',
    () => service.call('listPackages', { as: 'iex', body: { action: 'queue_dispatch', shipper: 'Many' } }),
  ],
] as const;

const figuresOf = ({ body }: Reply) => [body['data'].total_selected, body['data'].total_queued];

/** Rows that were written, or locked for a writer, since a transaction. */
const written = async (since: string) => {
  const { rows } = await service.owner.query(
    `select (select count(*)::int from package_syncs where xmin::text::bigint >= $1::bigint) as syncs,
       (select count(*)::int from packages where xmax::text::bigint >= $1::bigint) as packages,
       (select count(*)::int from events where xmin::text::bigint >= $1::bigint) as events`,
    [since],
  );
  return rows[0];
};

const transaction = async () =>
  String((await service.owner.query('select pg_current_xact_id()::text as id')).rows[0]?.id);

test.each(WAYS)(
  '%s: a courier without a URL selects its packages and writes none of them',
  async (_name, send) => {
    await setUrl(null);
    const since = await transaction();
    for (let n = 0; n < 3; n += 1) expect(figuresOf(await send())).toEqual([COUNT, 0]);
    expect(await written(since)).toEqual({ syncs: 0, packages: 0, events: 0 });
    expect(await waitingJobs(service.owner, 'deliver')).toEqual([]);
  },
);

test.each(WAYS)(
  '%s: repeated requests for packages that were sent write none of them',
  async (_name, send) => {
    await setUrl('https://receiver.example.com/update');
    expect(figuresOf(await send())).toEqual([COUNT, COUNT]);
    await service.owner.query("update package_syncs set status = 'sent', settled_at = now()");
    const since = await transaction();
    for (let n = 0; n < 3; n += 1) expect(figuresOf(await send())).toEqual([COUNT, 0]);
    expect(await written(since)).toEqual({ syncs: 0, packages: 0, events: 0 });
  },
);

test.each(WAYS)('%s: a courier whose URL is paused queues nothing', async (_name, send) => {
  await setUrl('https://receiver.example.com/update');
  await service.owner.query(
    `insert into webhook_endpoints (tenant_id, courier_id, endpoint, paused_at) values ($1, $2, 'update_package', now())`,
    [DEMO.tenants.demo, IEX],
  );
  expect(figuresOf(await send())).toEqual([COUNT, 0]);
  await service.owner.query('delete from webhook_endpoints');
});

const setUsed = (kind: string, id: string, courierId: string | null, used: number) =>
  service.owner.query(
    `insert into principal_quotas (tenant_id, principal_kind, principal_id, courier_id, kind, period_start, used)
     values ($1, $2, $3, $4, 'dispatched_packages', date_trunc('day', now() at time zone 'UTC') at time zone 'UTC', $5)`,
    [DEMO.tenants.demo, kind, id, courierId, used],
  );

test.each(WAYS)(
  '%s: above the quota of a day the response is 429, and nothing is written',
  async (_name, send) => {
    await setUrl('https://receiver.example.com/update');
    const { limit } = QUOTAS.dispatched_packages;
    await setUsed('courier', IEX, IEX, limit - COUNT + 1);
    const since = await transaction();
    const refused = await send();
    expect([refused.status, refused.body['code']]).toEqual([429, 'quota_exceeded']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await written(since)).toEqual({ syncs: 0, packages: 0, events: 0 });
    await service.owner.query('update principal_quotas set used = used - 1');
    const allowed = await send();
    expect(figuresOf(allowed)).toEqual([COUNT, COUNT]);
    expect(allowed.headers.get('ratelimit')).toMatch(/"dispatched-packages";r=0/);
  },
);

test('staff have a quota per user, and a courier that has used up its own does not limit them', async () => {
  await setUrl('https://receiver.example.com/update');
  const { limit } = QUOTAS.dispatched_packages;
  await setUsed('courier', IEX, IEX, limit);
  await setUsed('user', DEMO.users.admin, null, limit);
  const byUser = (as: string) => service.call('queueDispatch', { as, body: { shipper: 'Many' } });
  expect((await byUser('admin')).status).toBe(429);
  expect(figuresOf(await byUser('warehouse'))).toEqual([COUNT, COUNT]);
});
