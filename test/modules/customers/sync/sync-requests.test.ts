import { describe, expect, test } from '@jest/globals';
import { scheduleCustomerSyncs } from '../../../../src/modules/customers/sync/sync-run.js';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { setSyncUrl } from '../../../support/builders/customer-sync.js';
import { clone } from '../../../support/builders/couriers.js';
import { fingerprint } from '../../../support/readers/fingerprint.js';
import { emptyQueue, waitingJobs } from '../../../support/receivers/outbound.js';
import { type Call } from '../../../support/service/service.js';
import { withCustomerSync } from './synced-customers.js';

const { IEX, HRB, TWO } = DEMO.couriers;

const { api, service, requestSync, auditsOf } = withCustomerSync();

const log = (query: Record<string, string | number> = {}, as = 'iex') => api.as(as).listCustomerSyncs(query);

describe('requesting a synchronisation', () => {
  test('queues a run with one job and records who requested it', async () => {
    const reply = await requestSync().ok();
    expect(reply).toMatchObject({ status: 200, body: { message: 'Synchronisation queued.' } });
    const { run_id: runId, created_at: _, ...rest } = reply.data;
    expect(rest).toEqual({
      courier_id: IEX,
      courier_name: 'Island Express',
      origin: 'request',
      status: 'queued',
      http_status: null,
      received: null,
      created: null,
      updated: null,
      unchanged: null,
      skipped: null,
      problems: [],
      error: null,
      started_at: null,
      finished_at: null,
    });
    expect(await waitingJobs(service().owner, 'syncCustomers')).toEqual([
      { tenantId: DEMO.tenants.demo, runId },
    ]);
    const audits = await auditsOf(String(reply.headers.get('x-request-id')));
    expect(audits).toMatchObject([
      {
        action: 'customer_sync.requested',
        entity: 'customer_sync',
        entity_id: runId,
        after: { courier_id: IEX },
        actor_kind: 'user',
        actor_id: DEMO.users.iex,
      },
    ]);
    const { rows } = await service().owner.query(
      'select requested_by from customer_sync_runs where id = $1',
      [runId],
    );
    expect(rows).toEqual([{ requested_by: DEMO.users.iex }]);
  });

  test.each(['queued', 'running'])(
    'returns the open run while one is %s and writes nothing',
    async (status) => {
      const first = await requestSync().ok();
      await service().owner.query('update customer_sync_runs set status = $1', [status]);
      const before = await fingerprint(service().owner);
      const second = await requestSync({ as: 'admin', body: { courier_id: IEX } }).ok();
      expect(second.message).toBe('A synchronisation of these customers is already queued or running.');
      expect(second.data).toEqual({ ...first.data, status });
      expect(await fingerprint(service().owner)).toEqual(before);
    },
  );

  test.each(['succeeded', 'failed'])('creates a new run after one has %s', async (status) => {
    const first = await requestSync().ok();
    await service().owner.query('update customer_sync_runs set status = $1', [status]);
    expect((await requestSync().ok()).data.run_id).not.toBe(first.data.run_id);
    expect(await waitingJobs(service().owner, 'syncCustomers')).toHaveLength(2);
  });

  test('staff name the courier, and a courier always uses its own account', async () => {
    for (const as of ['admin', 'manager'])
      expect(await requestSync({ as, body: { courier_id: IEX } }).answer()).toMatchObject({ status: 200 });
    for (const body of [undefined, {}, { courier_id: HRB }, { courier_id: TWO }])
      expect((await requestSync(body ? { body } : {}).ok()).data.courier_id).toBe(IEX);
    expect(await waitingJobs(service().owner, 'syncCustomers')).toHaveLength(1);
  });

  const unknown = '01930a3e-7c1d-7e11-9c5a-00000000dead';
  test.each<[string, Call, number, string]>([
    ['staff without a courier', { as: 'admin', body: {} }, 400, 'validation_failed'],
    ['staff without a body', { as: 'admin' }, 400, 'validation_failed'],
    ['a malformed id', { as: 'admin', body: { courier_id: 'IEX' } }, 400, 'validation_failed'],
    ['an unknown courier', { as: 'admin', body: { courier_id: unknown } }, 404, 'courier_not_found'],
    ['another tenant’s courier', { as: 'admin', body: { courier_id: TWO } }, 404, 'courier_not_found'],
    ['a named courier without a URL', { as: 'admin', body: { courier_id: HRB } }, 400, 'sync_url_missing'],
    ['a courier user without a URL', { as: 'hrb' }, 400, 'sync_url_missing'],
    ['a warehouse user', { as: 'warehouse', body: { courier_id: IEX } }, 403, 'permission_denied'],
    ['a disabled user', { as: 'disabled', body: { courier_id: IEX } }, 403, 'account_disabled'],
  ])('rejects %s and writes nothing', async (_who, call, status, code) => {
    const before = await fingerprint(service().owner);
    expect(await requestSync(call).answer()).toMatchObject({ status, body: { code } });
    expect(await fingerprint(service().owner)).toEqual(before);
  });

  test('rejects anonymous callers and API keys with 401', async () => {
    for (const call of [{}, { key: DEMO.apiKeys.IEX }]) {
      expect(await api.with(call).syncCustomers().answer()).toMatchObject({ status: 401 });
      expect(await api.with(call).listCustomerSyncs().answer()).toMatchObject({ status: 401 });
    }
  });
});

describe('list of synchronisations', () => {
  /** Inserts finished runs of a courier and returns their ids, oldest first. */
  async function insertRows(
    count: number,
    courierId: string,
    tenantId: string = DEMO.tenants.demo,
  ): Promise<string[]> {
    const { rows } = await service().owner.query<{ id: string }>(
      `insert into customer_sync_runs (tenant_id, id, courier_id, origin, status, finished_at)
       select $1, new_id(), $2, 'schedule', (array['succeeded', 'failed'])[n % 2 + 1], now()
       from generate_series(1, $3::integer) n returning id`,
      [tenantId, courierId, count],
    );
    return rows.map(({ id }) => id).sort();
  }

  const idsOf = ({ data }: { data: { run_id: string }[] }) => data.map(({ run_id }) => run_id);

  test('is paged newest first and ends', async () => {
    const newestFirst = (await insertRows(45, IEX)).reverse();
    const first = await log().answer();
    expect([idsOf(first), first.meta]).toEqual([
      newestFirst.slice(0, 20),
      { limit: 20, next_before: newestFirst[19] },
    ]);
    const found: string[] = [];
    for (let before: string | null | undefined; before !== null;) {
      const page = await log({ limit: 7, ...(before ? { before } : {}) }).answer();
      found.push(...idsOf(page));
      before = page.meta.next_before;
    }
    expect(found).toEqual(newestFirst);
    // A page that ends with the last run has no next page.
    expect((await log({ limit: 45 }).ok()).meta).toEqual({ limit: 45, next_before: null });
  });

  test('staff see the runs of all couriers or one, couriers only their own', async () => {
    const [iex, hrb] = [await insertRows(3, IEX), await insertRows(2, HRB)];
    await insertRows(1, TWO, DEMO.tenants.two);
    for (const as of ['admin', 'manager', 'warehouse']) {
      expect(idsOf(await log({}, as).answer()).sort()).toEqual([...iex, ...hrb].sort());
      expect(idsOf(await log({ courier_id: HRB }, as).answer()).sort()).toEqual(hrb);
      expect(idsOf(await log({ courier_id: TWO }, as).answer())).toEqual([]);
    }
    expect(idsOf(await log({ courier_id: IEX }, 'hrb').answer()).sort()).toEqual(hrb);
  });

  test('filters by status and rejects invalid parameters', async () => {
    await insertRows(4, IEX);
    const failed = await log({ status: 'failed' }).ok();
    expect(failed.data.map(({ status }: { status: string }) => status)).toEqual(['failed', 'failed']);
    const refused: Record<string, string | number>[] = [
      { limit: 0 },
      { limit: 101 },
      { status: 'done' },
      { before: 'x' },
      { courier_id: 'x' },
    ];
    for (const query of refused) expect(await log(query).answer()).toMatchObject({ status: 400 });
  });
});

describe('schedule', () => {
  const openRuns = async () =>
    (
      await service().owner.query<{
        id: string;
        courier_id: string;
        origin: string;
        requested_by: string | null;
      }>(
        "select id, courier_id, origin, requested_by from customer_sync_runs where status = 'queued' order by id",
      )
    ).rows;

  test('queues one run per active courier with a URL in every tenant, spread over ten minutes, and never a second one', async () => {
    await setSyncUrl(service(), 'https://two.example/customers', TWO);
    const copies = Array.from({ length: 40 }, (_, n) => ({ code: `S${n}`, is_active: n !== 0 }));
    const ids: string[] = [];
    for (const { code, is_active } of copies)
      ids.push(
        await clone(service().owner, 'couriers', IEX, {
          code,
          is_active,
          api_key_hash: null,
          api_key_cipher: null,
        }),
      );
    try {
      // One copy is inactive, HRB has no URL, and IEX already has an open run.
      const requested = (await requestSync().ok()).data;
      await emptyQueue(service().owner);
      await scheduleCustomerSyncs({ db: service().db });
      const runs = await openRuns();
      expect(runs.map(({ courier_id }) => courier_id).sort()).toEqual([IEX, TWO, ...ids.slice(1)].sort());
      const { id: ownId } = runs.find(({ courier_id }) => courier_id === IEX) ?? {};
      expect(ownId).toBe(requested.run_id);
      const scheduled = runs.filter(({ id }) => id !== ownId);
      expect(new Set(scheduled.map(({ origin, requested_by }) => `${origin} ${requested_by}`))).toEqual(
        new Set(['schedule null']),
      );
      const jobs = await waitingJobs(service().owner, 'syncCustomers');
      expect(jobs.map(({ runId }) => runId).sort()).toEqual(scheduled.map(({ id }) => id).sort());
      expect(jobs.filter(({ tenantId }) => tenantId === DEMO.tenants.two)).toHaveLength(1);
      const { rows } = await service().owner.query<{ least: number; most: number }>(
        `select extract(epoch from min(run_at) - now())::float as least, extract(epoch from max(run_at) - now())::float as most
         from graphile_worker._private_jobs`,
      );
      expect(rows[0]?.least).toBeGreaterThan(-10);
      expect(rows[0]?.most).toBeLessThanOrEqual(600);
      // Random, but 40 delays of less than a minute each have a probability of 10^-40.
      expect(rows[0]?.most).toBeGreaterThan(60);
      await scheduleCustomerSyncs({ db: service().db });
      expect(await openRuns()).toEqual(runs);
      expect(await waitingJobs(service().owner, 'syncCustomers')).toHaveLength(jobs.length);
    } finally {
      await service().owner.query('delete from couriers where id = any($1)', [ids]);
      await setSyncUrl(service(), null, TWO);
    }
  });
});
