import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { scheduleCustomerSyncs } from '../../../src/modules/customers/sync/sync-run.js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { rounds } from '../../support/harness/effort.js';
import { answerWith, startSyncRig, type SyncRig } from '../../support/builders/customer-sync.js';
import { emptyQueue, waitingJobs } from '../../support/receivers/outbound.js';
import { auditMark, customersAudited } from '../../support/builders/bulk-audit.js';
import { untilAdmitted } from '../../support/service/service.js';
import { withService } from '../../support/fixture/with-service.js';
import { multipart } from '../../support/fixture/sent.js';

const { IEX } = DEMO.couriers;
const CALLERS = rounds(50, 200);
const SCHEDULE_ROUNDS = rounds(4, 20);
const MIXED_ROUNDS = rounds(1, 5);
const RECORDS = rounds(200, 1_000);

const { api, service } = withService();
beforeAll(async () => {
  rig = await startSyncRig(service());
}, 60_000);
afterAll(async () => {
  await rig.stop();
});
let since = '';
let rig: SyncRig;

afterEach(async () => {
  await service().owner.query('delete from customer_sync_runs');
  await service().owner.query("delete from customers where user_code like 'RACE-%'");
  await emptyQueue(service().owner);
});

const records = (count: number, first_name: string) =>
  Array.from({ length: count }, (_, n) => ({ user_code: `RACE-${n}`, first_name, last_name: 'Race' }));

const auditsOf = (kind: 'created' | 'updated') => customersAudited(service().owner, kind, since);

test(`${CALLERS} simultaneous requests create one run, one job and one audit entry, and all return that run`, async () => {
  const replies = await Promise.all(
    Array.from({ length: CALLERS }, (_, n) =>
      untilAdmitted(() =>
        n % 2
          ? api.as('iex').syncCustomers().answer()
          : api.as('manager').syncCustomers({ courier_id: IEX }).answer(),
      ),
    ),
  );
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
  const [runId, ...others] = new Set(replies.map(({ data }) => data.run_id));
  expect(others).toEqual([]);
  expect(replies.filter(({ body }) => body['message'] === 'Synchronisation queued.')).toHaveLength(1);
  expect(await waitingJobs(service().owner, 'syncCustomers')).toEqual([
    { tenantId: DEMO.tenants.demo, runId },
  ]);
  const { rows } = await service().owner.query(
    "select entity_id from audit_entries where action = 'customer_sync.requested'",
  );
  expect(rows).toEqual([{ entity_id: runId }]);
}, 60_000);

test(`requests and the schedule at the same time create one run per courier, in ${SCHEDULE_ROUNDS} rounds`, async () => {
  for (let round = 0; round < SCHEDULE_ROUNDS; round += 1) {
    await Promise.all([
      ...Array.from({ length: 5 }, () => untilAdmitted(() => api.as('iex').syncCustomers().answer())),
      scheduleCustomerSyncs({ db: service().db }),
      scheduleCustomerSyncs({ db: service().db }),
    ]);
    expect(await waitingJobs(service().owner, 'syncCustomers')).toHaveLength(1);
    const { rows } = await service().owner.query('select id from customer_sync_runs');
    expect(rows).toHaveLength(1);
    await service().owner.query('delete from customer_sync_runs');
    await emptyQueue(service().owner);
  }
}, 60_000);

test('each request during finishing runs returns a run, and no two runs are open', async () => {
  rig.receiver.answer = answerWith([]);
  const state = { isOver: false };
  const working = (async () => {
    while (!state.isOver) {
      for (const { runId = '' } of await waitingJobs(service().owner, 'syncCustomers'))
        await rig.work(runId).catch(ignoreConnectionTimeout);
      await emptyQueueOfEnded();
    }
  })();
  const replies = await Promise.all(
    Array.from({ length: CALLERS }, () => untilAdmitted(() => api.as('iex').syncCustomers().answer())),
  ).finally(() => (state.isOver = true));
  await working;
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
  const queued = replies.filter(({ body }) => body['message'] === 'Synchronisation queued.');
  const { rows } = await service().owner.query<{ id: string }>(
    'select id from customer_sync_runs order by id',
  );
  expect(queued.map(({ data }) => data.run_id).sort()).toEqual(rows.map(({ id }) => id));
}, 120_000);

/** With many callers a job may find no free connection and fail. The queue retries it, and so does the loop above. */
function ignoreConnectionTimeout(error: unknown): void {
  if (!/timeout exceeded when trying to connect/.test(String(error))) throw error;
}

async function emptyQueueOfEnded(): Promise<void> {
  await service().owner.query(
    `delete from graphile_worker._private_jobs where payload ->> 'runId' in
       (select id::text from customer_sync_runs where status in ('succeeded', 'failed'))`,
  );
}

test('three workers on the same run store and count it once', async () => {
  since = await auditMark(service().owner);
  rig.receiver.answer = answerWith(records(2_000, 'Both'));
  const { run_id: runId } = (await api.as('iex').syncCustomers().ok()).data;
  await Promise.all([rig.work(runId), rig.work(runId), rig.work(runId)]);
  expect(await rig.runOf(runId)).toMatchObject({ status: 'succeeded', received: 2_000, created: 2_000 });
  expect([await auditsOf('created'), await auditsOf('updated')]).toEqual([2_000, 0]);
}, 60_000);

test('concurrent synchronisations, uploads and single creations do not deadlock and are all counted', async () => {
  for (let round = 0; round < MIXED_ROUNDS; round += 1) {
    await service().owner.query("delete from customers where user_code like 'RACE-%'");
    since = await auditMark(service().owner);
    rig.receiver.answer = answerWith(records(RECORDS, 'Sync').reverse());
    const file = [
      'h,h,h',
      ...records(RECORDS, 'Upload').map(({ user_code }) => `${user_code},Upload,Race`),
    ].join('\n');
    const single = (n: number) => ({ user_code: `RACE-${n}`, first_name: 'Single', last_name: 'Race' });
    const [run, upload, ...singles] = await Promise.all([
      rig.sync(),
      untilAdmitted(() =>
        api
          .as('iex')
          .uploadCustomers(multipart({ file: { file } }))
          .answer(),
      ),
      ...Array.from({ length: 20 }, (_, n) =>
        untilAdmitted(() =>
          api
            .as('iex')
            .createCustomer(single(n * (RECORDS / 20)))
            .answer(),
        ),
      ),
    ]);
    expect(run).toMatchObject({ status: 'succeeded', received: RECORDS, skipped: 0 });
    expect(upload.status).toBe(200);
    for (const { status } of singles) expect([200, 409]).toContain(status);
    const createdSingly = singles.filter(({ status }) => status === 200).length;
    const uploaded = upload.data;
    expect(run['created'] + uploaded.created + createdSingly).toBe(RECORDS);
    // Audit entries of the single creations contain one customer each.
    expect((await auditsOf('created')) + createdSingly).toBe(RECORDS);
    expect(await auditsOf('updated')).toBe(run['updated'] + uploaded.updated);
  }
}, 120_000);
