import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { startSyncRig, type SyncRig } from '../../support/builders/customer-sync.js';
import { rounds } from '../../support/harness/effort.js';
import { emptyQueue, waitingJobs } from '../../support/receivers/outbound.js';
import { startService, type Service } from '../../support/service/service.js';

const MIB = 1024 * 1024;
const COURIERS = 40;
const RESPONSE = Buffer.alloc(rounds(2, 19.3) * MIB, ' ');
/** The documented number of jobs that hold a response, and of those that wait for them. */
const [IN_PROGRESS, WAITING] = [4, 4];
/** Each holds a response, in a buffer that grows by doubling, and a thread reads two of them. */
const MAX_GROWTH_MIB = (IN_PROGRESS * 2 * RESPONSE.length) / MIB + 2 * 200;

type Run = { id: string; tenantId: string };

let service: Service;
let rig: SyncRig;
/** Half of them are another tenant's: one alone has three of the four places. */
let runs: Run[];

beforeAll(async () => {
  service = await startService({ poolSize: 20 });
  rig = await startSyncRig(service);
  await service.owner.query(
    `insert into couriers select (jsonb_populate_record(c, jsonb_build_object(
       'id', new_id(), 'code', 'SYNC' || n, 'name', 'Sync ' || n, 'api_key_hash', null, 'api_key_cipher', null,
       'webhook_secret_cipher', null, 'api_token_cipher', null, 'api_url_get_customers', iex.api_url_get_customers))).*
     from couriers iex, couriers c, generate_series(1, $1::int) n where iex.id = $3 and c.id = any($2)`,
    [COURIERS / 2, [DEMO.couriers.IEX, DEMO.couriers.TWO], DEMO.couriers.IEX],
  );
  const { rows } = await service.owner.query<Run>(
    `insert into customer_sync_runs (tenant_id, id, courier_id, origin)
     select tenant_id, new_id(), id, 'schedule' from couriers where code like 'SYNC%' order by code
     returning id, tenant_id as "tenantId"`,
  );
  runs = rows;
});

afterAll(async () => {
  await rig.stop();
  await service.stop();
});

const work = ({ id, tenantId }: Run) => rig.work(id, undefined, tenantId);

const openRuns = async () => {
  const { rows } = await service.owner.query<{ status: string; n: number }>(
    'select status, count(*)::int as n from customer_sync_runs group by status',
  );
  return new Map(rows.map(({ status, n }) => [status, n]));
};

test(
  `of ${COURIERS} couriers that answer ${RESPONSE.length / MIB} MiB, ${IN_PROGRESS} are called at the same time, and the other jobs return to the queue`,
  async () => {
    let [answering, most, mostRss] = [0, 0, 0];
    const release: (() => void)[] = [];
    rig.receiver.answer = (_request, response) => {
      answering += 1;
      most = Math.max(most, answering);
      response.writeHead(200, { 'content-type': 'application/json' });
      release.push(() => response.end(RESPONSE));
      response.on('close', () => (answering -= 1));
    };
    const startRss = process.memoryUsage().rss;
    const watch = setInterval(() => (mostRss = Math.max(mostRss, process.memoryUsage().rss - startRss)), 20);
    // While every system that was called is slow, jobs beyond the limit end at once: they occupy no slot of the worker.
    const ended: string[] = [];
    const working = runs.map((run) => work(run).then(() => void ended.push(run.id)));
    while (release.length < IN_PROGRESS || ended.length < COURIERS - IN_PROGRESS - WAITING)
      await new Promise((resolve) => setImmediate(resolve));
    expect([release.length, ended.length]).toEqual([IN_PROGRESS, COURIERS - IN_PROGRESS - WAITING]);
    expect(await waitingJobs(service.owner, 'syncCustomers')).toHaveLength(ended.length);
    expect(await openRuns()).toEqual(
      new Map([
        ['queued', COURIERS - IN_PROGRESS],
        ['running', IN_PROGRESS],
      ]),
    );
    await drain(release, working);
    // The jobs that returned to the queue are run again until all have ended.
    while (((await openRuns()).get('queued') ?? 0) > 0) {
      await emptyQueue(service.owner);
      const left = await service.owner.query<Run>(
        `select id, tenant_id as "tenantId" from customer_sync_runs where status = 'queued'`,
      );
      await drain(release, left.rows.map(work));
    }
    clearInterval(watch);
    // White space is an empty response.
    expect(await openRuns()).toEqual(new Map([['failed', COURIERS]]));
    expect(most).toBe(IN_PROGRESS);
    expect(Math.round(mostRss / MIB)).toBeLessThan(MAX_GROWTH_MIB);
  },
  60_000 * rounds(1, 5),
);

/** Answers each call until the jobs have ended. */
async function drain(release: (() => void)[], working: Promise<void>[]): Promise<void> {
  const timer = setInterval(() => {
    for (const answer of release.splice(0)) answer();
  }, 5);
  await Promise.all(working);
  clearInterval(timer);
}
