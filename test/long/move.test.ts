import { afterAll, afterEach, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';
import { projectRoot } from '../../src/config/project-root.js';
import { DEMO } from '../../fixtures/demo/seed.js';
import { createTenant } from '../../src/modules/tenants/tenant.js';
import { withClient } from '../../src/platform/db/connections/roles.js';
import { migrate } from '../../src/platform/db/migrations/migrate.js';
import { MIGRATIONS } from '../../src/platform/db/migrations/migration-files.js';
import { REHEARSAL } from '../support/rehearsal/credentials.js';
import { compareRows, compareWebhooks } from '../support/rehearsal/compare.js';
import { addLogin, DATABASE, drain, install, type Installation } from '../support/rehearsal/installation.js';
import { countFailures, startLoad, type LoadReport } from '../support/rehearsal/load.js';
import { startNeighbours } from '../support/rehearsal/neighbours.js';
import { logIn, logInFirst } from '../support/service/client.js';
import { startOwnServer, type OwnServer } from '../support/service/postgres.js';
import { endProcesses, removeFolders, until, type Running } from '../support/service/processes.js';

// Moves one of three tenants between two servers while all three work, and back. `npm run rehearse:move` runs it alone and
// prints the figures.

const LIMIT_MS = 600_000;
/** Seconds of load before and after each step. */
const BETWEEN_STEPS = 5;
const LOGICAL = { wal_level: 'logical', max_worker_processes: '16' };
const PASSWORD = 'gateway-rehearsal-1';

let site: Installation;
let other: OwnServer;
let otherOwner: pg.Pool;
let otherWorker: Running;

beforeEach(async () => {
  other = await startOwnServer(undefined, LOGICAL);
  await other.query(`create database ${DATABASE}`);
  const ownerUrl = other.urlOf(DATABASE);
  await migrate(ownerUrl, MIGRATIONS);
  const url = await addLogin(other);
  site = await install(projectRoot, await startOwnServer(undefined, LOGICAL), {
    DATABASE_CELLS: `cell-b=${url}`,
  });
  otherWorker = await site.startWorker(projectRoot, { DATABASE_URL: url, DATABASE_CELLS: '' });
  otherOwner = new pg.Pool({ connectionString: ownerUrl, max: 2 });
  otherOwner.on('error', () => undefined);
  const admin = { username: 'admin', fullName: 'Administrator', password: PASSWORD };
  const hosts = ['gateway.example.com'];
  await withClient(site.server.urlOf(DATABASE), (client) =>
    createTenant(
      client,
      { slug: 'gateway', name: 'Gateway', hosts, warehouse: 'Doral', admin },
      { passwordHashCost: 4 },
    ),
  );
}, LIMIT_MS);

afterEach(async () => {
  await endProcesses();
  await otherOwner.end();
  await site.stop();
  await other.stop();
}, LIMIT_MS);

afterAll(removeFolders);

const tenantMove = (...args: string[]): Running =>
  site.command(projectRoot, 'src/commands/tenant-move.js', ['--slug', 'demo', ...args], {
    DATABASE_OWNER_CELLS: `cell-b=${other.urlOf(DATABASE)}`,
  });

/** Runs a command to its end. Returns its output and the pause in seconds. */
async function completed(running: Running): Promise<{ output: string; pauseSeconds: number }> {
  const { code } = await running.ended;
  const output = running.output();
  expect({ code, output }).toMatchObject({ code: 0 });
  return { output, pauseSeconds: Number(/after a pause of ([\d.]+) s/.exec(output)?.[1]) };
}

const neighbours = async () =>
  startNeighbours(site.proxy.url, {
    two: await logIn(site.proxy.url, 'admin', REHEARSAL.password, DEMO.hosts.two),
    gateway: await logInFirst(site.proxy.url, 'admin', PASSWORD, 'gateway.example.com'),
  });

/** Expects that the only failures are 503 within the pause, and that each acknowledged row exists once. */
async function expectOnlyPauses(
  title: string,
  report: LoadReport,
  prefix: string,
  owner: pg.Pool,
): Promise<void> {
  const rows = await compareRows(owner, report.acknowledged, prefix);
  process.stdout.write(
    `${title}, behind ${site.proxy.name}: ${report.requests} requests in ${report.seconds} s, ${report.failures.length} failed in ` +
      `${report.seconds503} seconds with 503, slowest ${report.slowestMs} ms. ${rows.compared} acknowledged rows compared, ` +
      `${rows.lost.length} lost, ${rows.doubled.length} doubled.\n`,
  );
  expect(report.failures.filter((failure) => !/ 503 .*"code":"unavailable"/.test(failure))).toEqual([]);
  expect(report.seconds503).toBeLessThanOrEqual(5);
  expect(rows).toMatchObject({ lost: [], doubled: [] });
}

async function expectWebhooks(owner: pg.Pool, prefix: string): Promise<void> {
  const hooks = await compareWebhooks(owner, site.receiver, prefix);
  process.stdout.write(
    `${hooks.events} events, ${hooks.requests} webhooks, ${hooks.repeated} repeated, ${hooks.undelivered.length} lost.\n`,
  );
  expect(hooks).toMatchObject({ undelivered: [], unknown: [] });
  expect(hooks.events).toBeGreaterThan(0);
}

test(
  'a tenant moves to another server and back under load with at most five seconds of 503 each, and the others fail nothing',
  async () => {
    const others = await neighbours();
    const moving = startLoad(site.proxy.url, site.token, 'CELL-MOVE');
    await moving.wait(BETWEEN_STEPS);
    const moved = await completed(tenantMove('--to', 'cell-b'));
    await moving.wait(BETWEEN_STEPS);
    const moveReport = await moving.stop();
    process.stdout.write(moved.output);
    await expectOnlyPauses('Move', moveReport, 'CELL-MOVE', otherOwner);

    const undoing = startLoad(site.proxy.url, site.token, 'CELL-UNDO');
    await undoing.wait(BETWEEN_STEPS);
    const undone = await completed(tenantMove('--undo'));
    await undoing.wait(BETWEEN_STEPS);
    const undoReport = await undoing.stop();
    process.stdout.write(undone.output);
    await expectOnlyPauses('Undo', undoReport, 'CELL-UNDO', site.owner);
    // What was written in the other cell came back with it.
    expect(await compareRows(site.owner, moveReport.acknowledged, 'CELL-MOVE')).toMatchObject({
      lost: [],
      doubled: [],
    });
    await expectWebhooks(site.owner, 'CELL');
    const { requests, failures, slowestMs } = await others.stop();
    process.stdout.write(
      `Other tenants: ${requests} requests, ${failures.length} failed, slowest ${slowestMs} ms.\n`,
    );
    expect(countFailures(failures)).toEqual({});
    expect(Math.max(moved.pauseSeconds, undone.pauseSeconds)).toBeLessThan(5);
  },
  LIMIT_MS,
);

test(
  'a move that is killed while the tenant is closed continues, and after its confirmation the source has no row of the tenant',
  async () => {
    const others = await neighbours();
    const load = startLoad(site.proxy.url, site.token, 'CELL-KILL');
    await load.wait(BETWEEN_STEPS);
    const killed = tenantMove('--to', 'cell-b');
    await until(async () => killed.output().includes('Closed'), 120_000);
    killed.child.kill('SIGKILL');
    expect(await killed.ended).toEqual({ code: null, signal: 'SIGKILL' });
    await completed(tenantMove('--to', 'cell-b'));
    await load.wait(BETWEEN_STEPS);
    await completed(tenantMove('--confirm'));
    await load.wait(BETWEEN_STEPS);
    const report = await load.stop();
    await expectOnlyPauses('Killed and confirmed', report, 'CELL-KILL', otherOwner);
    await expectWebhooks(otherOwner, 'CELL-KILL');
    const { rows } = await site.owner.query<{ rows: number }>(
      'select (select count(*) from packages where tenant_id = $1)::int + (select count(*) from tenants where id = $1)::int as rows',
      [DEMO.tenants.demo],
    );
    expect(rows).toEqual([{ rows: 0 }]);
    expect(countFailures((await others.stop()).failures)).toEqual({});
    expect(await drain(otherWorker)).toEqual({ code: 0, signal: null });
  },
  LIMIT_MS,
);
