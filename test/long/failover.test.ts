import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, afterAll, beforeEach, expect, test } from '@jest/globals';
import { projectRoot } from '../../src/config/project-root.js';
import { readPause } from '../../src/platform/queue/outbound-pause.js';
import { openAddress, type DatabaseAddress } from '../support/rehearsal/address.js';
import { compareRows, compareWebhooks } from '../support/rehearsal/compare.js';
import { DATABASE, install, LOGIN, type Installation } from '../support/rehearsal/installation.js';
import { countFailures, startLoad, type Load, type LoadReport } from '../support/rehearsal/load.js';
import { REPLICATING, replicateSynchronously, startStandby } from '../support/rehearsal/standby.js';
import { ask, codeOf } from '../support/service/client.js';
import { startOwnServer, type OwnServer } from '../support/service/postgres.js';
import { endProcesses, removeFolders, until } from '../support/service/processes.js';

// Loses the primary under load, and promotes its synchronous standby, as docs/failover.md describes. `npm run rehearse:failover` runs
// it alone and prints the figures.

const LIMIT_MS = 600_000;
/** Seconds of load before and after the failover. */
const SECONDS = 10;
/** How long a failover manager takes to decide that the primary is lost. */
const DECISION_MS = 3_000;
/** A delivery job that was queued again while it ran, and then lost its connection, stays until the sweep of the next minute. */
const SWEEP_LIMIT_MS = 90_000;

let primary: OwnServer;
let standby: OwnServer;
let address: DatabaseAddress;
let site: Installation;

beforeEach(async () => {
  primary = await startOwnServer(undefined, REPLICATING);
  standby = await startStandby(primary);
  await replicateSynchronously(primary);
  address = await openAddress(primary);
  site = await install(
    projectRoot,
    { ...primary, urlOf: address.urlOf },
    { DATABASE_REPLICA_URL: standby.urlOf(DATABASE, LOGIN) },
  );
}, LIMIT_MS);

afterEach(async () => {
  await endProcesses();
  await site.stop();
  await address.close();
  await standby.stop();
}, LIMIT_MS);

afterAll(removeFolders);

type Reports = { served: number; failures: string[]; stop(): Promise<void> };

/** Asks for exports, which the replica serves. */
function startReports(): Reports {
  const ending = { isOver: false };
  const reports: Reports = {
    served: 0,
    failures: [],
    async stop() {
      ending.isOver = true;
      await running;
    },
  };
  const headers = { authorization: `Bearer ${site.token}` };
  const body = { export: true, export_format: 'csv', limit: 100 };
  const question = { method: 'POST', path: '/api/RetrievePackages.php', headers, body };
  const running = (async () => {
    while (!ending.isOver) {
      const outcome = await ask(site.proxy.url, question).catch(codeOf);
      if (typeof outcome !== 'string' && outcome.status === 200) reports.served += 1;
      else reports.failures.push(typeof outcome === 'string' ? outcome : String(outcome.status));
      await sleep(100);
    }
  })();
  return reports;
}

/** Promotes the standby, and leads the address of the database to it. */
async function promote(): Promise<void> {
  await standby.query('select pg_promote()');
  await until(async () => {
    const [row] = await standby.query('select pg_is_in_recovery() as recovers');
    return row?.['recovers'] === false;
  });
  address.leadTo(standby);
}

/** Sends every write again whose outcome is unknown, as a client does after 503. Returns the number of each status. */
async function repeatUnknown({ unknown }: LoadReport): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { question } of unknown) {
    const { status, text } = await ask(site.proxy.url, question);
    // The record exists already: the first request was executed.
    const kind = status === 409 && text.includes('"duplicate_') ? '409 duplicate' : String(status);
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

/** Returns the jobs that have failed all attempts, or that nobody executes. */
async function findStuckJobs(): Promise<Record<string, unknown>[]> {
  const { rows } = await site.owner.query(
    `select t.identifier, j.key, j.attempts, j.max_attempts, j.last_error, j.locked_at
     from graphile_worker._private_jobs j join graphile_worker._private_tasks t on t.id = j.task_id
     where (j.attempts >= j.max_attempts and j.max_attempts > 1) or j.locked_at < now() - interval '1 minute'`,
  );
  return rows;
}

const processIds = () =>
  [...site.replicas, site.worker].map(({ child }) => [child.pid, child.exitCode, child.signalCode]);

async function expectNothingLost(load: Load, prefix: string, title: string): Promise<void> {
  const report = await load.stop();
  const repeated = await repeatUnknown(report);
  const all = [...report.acknowledged, ...report.unknown.map(({ write }) => write)];
  const rows = await compareRows(site.owner, all, prefix);
  const hooks = await compareWebhooks(site.owner, site.receiver, prefix);
  const stuckJobs = await findStuckJobs();
  process.stdout.write(
    `${title}, behind ${site.proxy.name}: ${report.requests} requests in ${report.seconds} s, ` +
      `${report.failures.length} failed, ${report.unavailable} of them with 503 and Retry-After, ` +
      `${report.seconds503} seconds with 503, slowest ${report.slowestMs} ms. ` +
      `${report.unknown.length} writes repeated: ${JSON.stringify(repeated)}. ${rows.compared} acknowledged rows compared, ` +
      `${rows.lost.length} lost, ${rows.doubled.length} doubled. ${hooks.events} events, ${hooks.requests} webhooks, ` +
      `${hooks.repeated} repeated, ${hooks.undelivered.length} lost. ${stuckJobs.length} jobs for the sweep ${JSON.stringify(stuckJobs)}.\n`,
  );
  const others = countFailures(report.failures.filter((failure) => !/ 503 /.test(failure)));
  expect(others).toEqual({});
  expect(report.unavailable).toBe(report.failures.length);
  expect(Object.keys(repeated).filter((kind) => !['200', '201', '409 duplicate'].includes(kind))).toEqual([]);
  expect(rows).toMatchObject({ lost: [], doubled: [] });
  expect(hooks).toMatchObject({ undelivered: [], unknown: [] });
  expect(hooks.events).toBeGreaterThan(0);
  expect(stuckJobs.filter(({ identifier, key }) => identifier !== 'deliver' || key !== null)).toEqual([]);
  await until(async () => (await findStuckJobs()).length === 0, SWEEP_LIMIT_MS);
}

test.each([
  { title: 'Crash', prefix: 'CRASH', lose: () => primary.crash() },
  { title: 'Shutdown', prefix: 'SHUTDOWN', lose: () => primary.shutDown() },
])(
  'after the $title of the primary the standby takes over: requests get 503, nothing acknowledged is lost, and nothing is restarted',
  async ({ title, prefix, lose }) => {
    const processes = processIds();
    const load = startLoad(site.proxy.url, site.token, prefix);
    const reports = startReports();
    await load.wait(SECONDS);
    const lostMs = performance.now();
    await lose();
    address.leadTo(undefined);
    await sleep(DECISION_MS);
    await promote();
    await until(async () => {
      const { status } = await ask(site.proxy.url, { path: '/ready' });
      return status === 200;
    });
    const awayMs = performance.now() - lostMs;
    await load.wait(SECONDS);
    await reports.stop();
    await expectNothingLost(load, prefix, title);
    expect(processIds()).toEqual(processes);
    expect(reports.failures.filter((failure) => failure !== '503')).toEqual([]);
    // A worker records the new timeline, and no pause needs an operator.
    await until(async () => {
      const { rows } = await site.owner.query('select server from installation.outbound');
      return /\/00000002$/.test(rows[0]?.server);
    });
    expect(await readPause(site.owner)).toBeUndefined();
    expect(site.worker.output()).not.toContain('Outbound work is paused');
    process.stdout.write(
      `${title}: ready again after ${(awayMs / 1_000).toFixed(1)} s, of which ${DECISION_MS / 1_000} s to decide. ` +
        `${reports.served} exports served, ${reports.failures.length} got 503.\n`,
    );
  },
  LIMIT_MS,
);
