import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, afterAll, beforeAll, expect, test } from '@jest/globals';
import { projectRoot } from '../../src/config/project-root.js';
import { listMigrations, MIGRATIONS } from '../../src/platform/db/migrations/migration-files.js';
import { compareRows, compareWebhooks } from '../support/rehearsal/compare.js';
import { drain, install, type Installation } from '../support/rehearsal/installation.js';
import { countFailures, startLoad, type Load } from '../support/rehearsal/load.js';
import { copyOfThisVersion, findLastRelease, installRelease } from '../support/rehearsal/releases.js';
import { startOwnServer } from '../support/service/postgres.js';
import { endProcesses, removeFolders, until, type Running } from '../support/service/processes.js';

// Upgrades an installation of the last release to this version under load, as docs/deploy.md describes. `npm run
// rehearse:upgrade` runs it alone and prints the figures.

const LIMIT_MS = 600_000;
const SEEN_BY_PROXY_MS = 10_000;
/** Seconds of load between two steps. */
const BETWEEN_STEPS = 5;

/** Columns of tables that every request reads, with prepared statements and cached plans. */
const NEW_COLUMNS = Object.fromEntries(
  ['couriers', 'users', 'packages', 'prealerts', 'events'].map((table, n) => [
    `9999010300000${n}_${table}`,
    `-- upgrade: rolling\nalter table ${table} add column rehearsal text not null default 'x';\n`,
  ]),
);

let release: string;
let old: string;
let site: Installation;

beforeAll(async () => {
  release = process.env['REHEARSE_FROM'] || (await findLastRelease());
  old = await installRelease(release);
}, LIMIT_MS);

afterEach(async () => {
  await endProcesses();
  await site.stop();
}, LIMIT_MS);

afterAll(removeFolders);

const outcomeOf = async (program: Running) => ({
  code: (await program.ended).code,
  output: program.output(),
});

const migrate = (version: string) => site.command(version, 'src/commands/migrate.js');

/** Replaces one replica: stops it, and starts the version in its place. Returns whether it became ready. */
async function replace(index: number, version: string): Promise<boolean> {
  const replica = site.replicas[index];
  if (!replica) throw new Error(`There is no replica ${index}.`);
  expect(await drain(replica)).toEqual({ code: 0, signal: null });
  const started = await site.startReplica(version, replica.port);
  if (started) site.replicas[index] = started;
  // The load balancer must see it too before the next replica stops.
  await sleep(SEEN_BY_PROXY_MS);
  return started !== undefined;
}

async function appliedMigrations(): Promise<string[]> {
  const { rows } = await site.owner.query<{ name: string }>(
    'select migration_name as name from _prisma_migrations where finished_at is not null order by 1',
  );
  return rows.map(({ name }) => name);
}

/** Ends the load, and expects that nothing failed, and that every row and every webhook exists exactly once. */
async function expectNothingLost(load: Load, prefix: string, title: string): Promise<void> {
  const report = await load.stop();
  const rows = await compareRows(site.owner, report.acknowledged, prefix);
  const hooks = await compareWebhooks(site.owner, site.receiver, prefix);
  process.stdout.write(
    `${title}, from ${release} behind ${site.proxy.name}: ${report.requests} requests in ${report.seconds} s, ` +
      `${report.failures.length} failed, ${report.seconds503} seconds with 503, slowest ${report.slowestMs} ms, ` +
      `${report.slow} above 1 s. ${rows.compared} acknowledged rows compared, ${rows.lost.length} lost, ` +
      `${rows.doubled.length} doubled. ${hooks.events} events, ${hooks.requests} webhooks, ${hooks.repeated} repeated, ` +
      `${hooks.undelivered.length} lost.\n`,
  );
  expect(countFailures(report.failures)).toEqual({});
  expect(rows).toMatchObject({ lost: [], doubled: [] });
  expect(hooks).toMatchObject({ undelivered: [], unknown: [] });
  expect(hooks.events).toBeGreaterThan(0);
}

/**
 * haproxy with the files of a release before idle-close-on-response closed its clients' idle connections when it was reloaded. Nothing in
 * a new release can change that, so these resets are no failures. The next reload, with the new files, may cause none.
 */
function forgiveClosedConnections({ report }: Load): void {
  const frontend = readFileSync(join(old, 'deploy/proxy/10-frontend.cfg'), 'utf8');
  if (frontend.includes('idle-close-on-response')) return;
  const others = report.failures.filter((failure) => !failure.endsWith(' ECONNRESET'));
  report.failures.splice(0, report.failures.length, ...others);
}

test(
  'an upgrade replica by replica under 200 requests per second fails no request, and loses and doubles nothing',
  async () => {
    site = await install(old, await startOwnServer());
    const load = startLoad(site.proxy.url, site.token, 'UPGRADE');
    await load.wait(BETWEEN_STEPS);

    expect(await outcomeOf(site.command(projectRoot, 'src/commands/doctor.js', ['--upgrade']))).toMatchObject(
      {
        code: 0,
      },
    );
    expect(await outcomeOf(migrate(projectRoot))).toMatchObject({ code: 0 });
    expect(await appliedMigrations()).toEqual(await listMigrations(MIGRATIONS));
    await load.wait(BETWEEN_STEPS);
    for (const index of [0, 1]) {
      expect(await replace(index, projectRoot)).toBe(true);
      await load.wait(BETWEEN_STEPS);
    }
    expect(await drain(site.worker)).toEqual({ code: 0, signal: null });
    site.worker = await site.startWorker(projectRoot);
    await load.wait(BETWEEN_STEPS);
    expect(countFailures(load.report.failures)).toEqual({});
    // Last: with the new files the proxy repeats fewer requests, and a replica of the old release refuses them as soon as it stops.
    await site.proxy.reload(projectRoot);
    await load.wait(BETWEEN_STEPS);
    forgiveClosedConnections(load);
    await site.proxy.reload(projectRoot);
    await load.wait(BETWEEN_STEPS);
    await expectNothingLost(load, 'UPGRADE', 'Upgrade');
  },
  LIMIT_MS,
);

test(
  'a version whose migration or start fails changes nothing: the old version continues, and no request fails',
  async () => {
    site = await install(old, await startOwnServer());
    const before = await appliedMigrations();
    const load = startLoad(site.proxy.url, site.token, 'ROLLBACK');
    await load.wait(BETWEEN_STEPS);

    const broken = await copyOfThisVersion({
      migrations: {
        '99990101000000_broken':
          '-- upgrade: rolling\nalter table packages add column half text;\nselect 1 / 0;\n',
      },
    });
    const failed = await outcomeOf(migrate(broken));
    expect(failed).toMatchObject({ code: 1, output: expect.stringContaining('division by zero') });
    const { rows } = await site.owner.query(
      "select from information_schema.columns where table_name = 'packages' and column_name = 'half'",
    );
    expect(rows).toEqual([]);
    expect(await appliedMigrations()).not.toContain('99990101000000_broken');
    await load.wait(BETWEEN_STEPS);

    expect(await outcomeOf(migrate(projectRoot))).toMatchObject({ code: 0 });
    const crashing = await copyOfThisVersion({
      server: "throw new Error('This version does not start.');\n",
    });
    expect(await replace(0, crashing)).toBe(false);
    await load.wait(BETWEEN_STEPS);
    // Rolled back: the old version, on the database of the new one.
    const [first] = site.replicas;
    await site.startReplica(old, first?.port ?? 0);
    expect((await appliedMigrations()).length).toBeGreaterThanOrEqual(before.length);
    await load.wait(BETWEEN_STEPS);
    await expectNothingLost(load, 'ROLLBACK', 'Failed start and rollback');
  },
  LIMIT_MS,
);

test(
  'a migration that is killed is resumed by the next run, new columns change no prepared statement, and no request fails',
  async () => {
    site = await install(old, await startOwnServer());
    const load = startLoad(site.proxy.url, site.token, 'KILLED');
    await load.wait(BETWEEN_STEPS);

    const column = '99990101000000_column';
    const index = '99990102000000_index';
    const slow = await copyOfThisVersion({
      migrations: {
        // A table that no request uses, because the script holds its lock while it sleeps.
        [column]: '-- upgrade: rolling\nalter table airlines add column remark text;\nselect pg_sleep(3);\n',
        [index]:
          '-- upgrade: rolling\ncreate index concurrently if not exists packages_rehearsal on packages (tracking_number, id);\n',
        ...NEW_COLUMNS,
      },
    });
    await killWhen(migrate(slow), () => isRunning('%add column remark%'));
    // An open snapshot makes the build of the index wait, so that it is killed in the middle.
    await until(async () => !(await isRunning('%add column remark%')));
    const reader = await site.owner.connect();
    await reader.query('begin isolation level repeatable read');
    await reader.query('select 1');
    await killWhen(migrate(slow), () =>
      isRunning('create index concurrently if not exists packages_rehearsal%'),
    );
    await reader.query('commit');
    reader.release();

    expect(await outcomeOf(migrate(slow))).toMatchObject({ code: 0 });
    expect(await appliedMigrations()).toEqual(
      expect.arrayContaining([column, index, ...Object.keys(NEW_COLUMNS)]),
    );
    const { rows } = await site.owner.query(
      "select indisvalid as valid from pg_index where indexrelid = 'packages_rehearsal'::regclass",
    );
    expect(rows).toEqual([{ valid: true }]);
    await load.wait(BETWEEN_STEPS);
    await expectNothingLost(load, 'KILLED', 'Killed migrations');
  },
  LIMIT_MS,
);

async function isRunning(statement: string): Promise<boolean> {
  const { rowCount } = await site.owner.query(
    "select from pg_stat_activity where datname = current_database() and state = 'active' and query like $1 and pid <> pg_backend_pid()",
    [statement],
  );
  return (rowCount ?? 0) > 0;
}

async function killWhen(program: Running, isTime: () => Promise<boolean>): Promise<void> {
  await until(async () => {
    if (program.child.exitCode !== null) throw new Error(program.output());
    return isTime();
  });
  program.child.kill('SIGKILL');
  expect(await program.ended).toEqual({ code: null, signal: 'SIGKILL' });
}
