import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { DEMO, seedDemo } from '../../fixtures/demo/seed.js';
import { developmentConfig } from '../support/staging/development.js';
import { openSecrets } from '../../src/platform/access/secrets.js';
import { makeContext, type SystemContext } from '../../src/platform/context/request-context.js';
import type { ReplicaOutcome } from '../../src/platform/db/connections/replica.js';
import { ConfigError } from '../../src/config/config.js';
import { POSITION, type WalPosition } from '../../src/platform/db/connections/replay.js';
import { DATABASE } from '../../src/platform/db/connections/server-identity.js';
import { prepareDatabase } from '../../src/startup/prepare-database.js';
import { withClient } from '../../src/platform/db/connections/roles.js';
import { migrate } from '../../src/platform/db/migrations/migrate.js';
import { MIGRATIONS } from '../../src/platform/db/migrations/migration-files.js';
import { makeReadiness } from '../../src/modules/service/readiness.js';
import { openDb } from '../../src/platform/db/open-database.js';
import { sql } from '../../src/platform/db/statements.js';
import { followServer, readPause, type SeenServer } from '../../src/platform/queue/outbound-pause.js';
import { checkReplica } from '../../src/startup/doctor/replica.js';
import { rounds } from '../support/harness/effort.js';
import { REPLICATING, startStandby } from '../support/rehearsal/standby.js';
import type { TestDatabase } from '../support/service/database.js';
import { startOwnServer, type OwnServer } from '../support/service/postgres.js';
import { endProcesses, removeFolders, until } from '../support/service/processes.js';
import { startService, type Service } from '../support/service/service.js';

// Reports are served by a real standby with streaming replication if it has replayed everything that was committed before them.

const LIMIT_MS = 120_000;
const MAX_LAG_MS = 2_000;
const { IEX, HRB } = DEMO.couriers;
const TODAY = new Date().toISOString().slice(0, 10);

let primary: OwnServer;
let standby: OwnServer;
let service: Service;
let baseline: Outcomes;

type Outcomes = Record<ReplicaOutcome, number>;

async function readOutcomes(on: Service): Promise<Outcomes> {
  const text = (await on.metrics?.render()) ?? '';
  const countOf = (outcome: ReplicaOutcome) =>
    Number(
      new RegExp(`^crossdock_replica_reports_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm').exec(text)?.[1] ??
        0,
    );
  return {
    ...{ served: countOf('served'), behind: countOf('behind') },
    ...{ failed: countOf('failed'), avoided: countOf('avoided') },
  };
}

async function countFromNow(on = service): Promise<void> {
  baseline = await readOutcomes(on);
}

/** Returns the outcomes of reports since the last countFromNow. */
async function outcomes(on = service): Promise<Outcomes> {
  const { served, behind, failed, avoided } = await readOutcomes(on);
  return {
    ...{ served: served - baseline.served, behind: behind - baseline.behind },
    ...{ failed: failed - baseline.failed, avoided: avoided - baseline.avoided },
  };
}

beforeAll(async () => {
  primary = await startOwnServer(undefined, REPLICATING);
  await primary.query('create database crossdock');
  await migrate(primary.urlOf('crossdock'), MIGRATIONS);
  const owner = new pg.Client({ connectionString: primary.urlOf('crossdock') });
  await owner.connect();
  await seedDemo(owner, openSecrets(developmentConfig({}).secrets), new Date());
  await followServer(owner);
  await owner.end();
  // A query that conflicts with recovery is cancelled at once.
  standby = await startStandby(primary, { max_standby_streaming_delay: '0' });
  service = await serve();
}, LIMIT_MS);

afterAll(async () => {
  await service.stop();
  await endProcesses();
  await standby.stop();
  await primary.stop();
  await removeFolders();
}, LIMIT_MS);

/** Starts a service on both servers. */
function serve({
  replicaOf = 'crossdock',
  ...options
}: { applicationFilters?: boolean; rowSecurity?: boolean; replicaOf?: string } = {}): Promise<Service> {
  const database: TestDatabase = { ownerUrl: primary.urlOf('crossdock'), drop: async () => undefined };
  const replica = { url: standby.urlOf(replicaOf), maxLagMs: MAX_LAG_MS, onChange: () => undefined };
  return startService({ database, replica, env: { METRICS_PORT: '0' }, ...options });
}

let received = 0;
async function receive(userCode = 'IEX-1001', on = service): Promise<string> {
  const tracking_number = `REPLICA-${(received += 1)}`;
  const body = { tracking_number, weight: 1.5, user_code: userCode };
  expect((await on.call('receivePackage', { as: 'warehouse', body })).status).toBe(201);
  return tracking_number;
}

async function exportAs(as: string, trackingNumber: string, on = service): Promise<string> {
  const body = { export: true, export_format: 'csv', trackingNumber };
  const reply = await on.call('listPackages', { as, body });
  expect(reply.status).toBe(200);
  return reply.bytes.toString();
}

/** Returns a bill of IEX of this year, as its courier sees it. */
async function anyBill(): Promise<string> {
  const { rows } = await service.owner.query(
    "select id from bills where courier_id = $1 and status <> 'draft' limit 1",
    [IEX],
  );
  return rows[0]?.id ?? '';
}

test(
  'a standby that is given as the primary serves nothing, because its rows may be old, and /ready says that it is read-only',
  async () => {
    const db = openDb({
      url: standby.urlOf('crossdock'),
      size: 1,
      onError: () => undefined,
      readsWhileReadOnly: true,
    });
    try {
      await expect(db.pool.query('select 1')).rejects.toMatchObject({ code: '25006' });
      await expect(makeReadiness(db, [], { info() {}, error() {} })()).rejects.toMatchObject({
        httpStatus: 503,
        message: expect.stringContaining('it is read-only'),
      });
    } finally {
      await db.close();
    }
  },
  LIMIT_MS,
);

test(
  'exports, statements, reconciliations, previews and documents of bills and manifests come from the replica, and equal those of the primary',
  async () => {
    const number = await receive();
    const period = { from: '2024-01-01', to: TODAY };
    const query = { from: TODAY, to: TODAY };
    const preview = { courier_id: IEX, start_date: TODAY, end_date: TODAY };
    const bill_id = await anyBill();
    const reports = () =>
      Promise.all([
        service.call('listPackages', {
          as: 'iex',
          body: { export: true, export_format: 'csv', trackingNumber: number },
        }),
        service.call('getCourierStatement', { as: 'iex', query: period }),
        service.call('getCourierStatement', { as: 'admin', query: { ...period, courier_id: IEX, page: 2 } }),
        service.call('getBillingReconciliation', { as: 'admin', query }),
        service.call('previewCourierInvoice', { as: 'iex', body: preview }),
        service.call('downloadCourierBill', { as: 'iex', query: { bill_id, format: 'csv' } }),
        service.call('getManifestDocument', {
          as: 'admin',
          query: { manifest_id: DEMO.manifests.shipped, format: 'csv' },
        }),
      ]);
    await countFromNow();
    const fromReplica = await reports();
    expect(await outcomes()).toEqual({ served: 7, behind: 0, failed: 0, avoided: 0 });
    const { replica } = service.db;
    service.db.replica = undefined;
    const fromPrimary = await reports();
    service.db.replica = replica;
    const contentOf = ({ status, body, bytes }: (typeof fromReplica)[number]) => [
      status,
      body['data'] ?? bytes.toString(),
    ];
    expect(fromReplica.map(contentOf)).toEqual(fromPrimary.map(contentOf));
    expect(fromReplica.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200, 200]);
    expect((await outcomes()).served).toBe(7);
  },
  LIMIT_MS,
);

const WRITES = rounds(60, 1_000);
const WRITERS = 8;

test(
  `each of ${WRITES} exports has the package that its caller has just received, also while the replica lags`,
  async () => {
    await countFromNow();
    let left = WRITES;
    const missing: string[] = [];
    const write = async () => {
      while (left-- > 0) {
        const number = await receive();
        if (!(await exportAs('warehouse', number)).includes(number)) missing.push(number);
      }
    };
    // The replay stops and continues all the time. A stop is shorter than what a report waits.
    const ending = { isOver: false };
    const lag = (async () => {
      while (!ending.isOver) {
        await standby.query('select pg_wal_replay_pause()');
        await standby.query('select pg_sleep(0.05)');
        await standby.query('select pg_wal_replay_resume()');
        await standby.query('select pg_sleep(0.05)');
      }
    })();
    await Promise.all(Array.from({ length: WRITERS }, write));
    ending.isOver = true;
    await lag;
    expect(missing).toEqual([]);
    // Otherwise the primary has served them, and nothing is proved.
    expect((await outcomes()).served).toBeGreaterThan(WRITES / 2);
  },
  LIMIT_MS,
);

async function untilServed(): Promise<void> {
  await until(async () => {
    await countFromNow();
    await exportAs('warehouse', 'NONE');
    return (await outcomes()).served === 1;
  });
}

test(
  'the primary serves while the replica lags too much, and the replica again once it has caught up',
  async () => {
    await standby.query('select pg_wal_replay_pause()');
    const number = await receive();
    await countFromNow();
    expect(await exportAs('iex', number)).toContain(number);
    expect(await exportAs('iex', number)).toContain(number);
    expect(await outcomes()).toEqual({ served: 0, behind: 1, failed: 0, avoided: 1 });
    await standby.query('select pg_wal_replay_resume()');
    await untilServed();
    expect(await exportAs('iex', number)).toContain(number);
  },
  LIMIT_MS,
);

/** Runs a report that reads a table, and changes it before the report continues. Returns how often it was run. */
async function interrupt(change: (ctx: SystemContext) => Promise<unknown>): Promise<number> {
  const ctx = makeContext(service.db, { kind: 'system', tenantId: DEMO.tenants.demo }, 'a-test');
  let runs = 0;
  await ctx.read(
    async (tx) => {
      runs += 1;
      await tx.query(sql`select count(*) from airlines`);
      if (runs > 1) return;
      await change(ctx);
      await tx.query(sql`select pg_sleep(10)`);
    },
    { from: 'replica', timeoutMs: 5_000 },
  );
  return runs;
}

test(
  'a report that conflicts with the recovery, or whose connection to the replica breaks, is served by the primary',
  async () => {
    await untilServed();
    await countFromNow();
    const table = await service.owner.connect();
    const conflicts = await interrupt(async () => {
      await table.query('begin');
      await table.query('lock table airlines in access exclusive mode');
      // The standby replays the lock, which conflicts with the open report.
      await table.query('select pg_switch_wal()');
      await table.query('commit');
    });
    table.release();
    expect([conflicts, (await outcomes()).failed]).toEqual([2, 1]);
    await untilServed();
    await countFromNow();
    const broken = await interrupt(() =>
      standby.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = 'crossdock' and state <> 'active'",
      ),
    );
    expect([broken, (await outcomes()).failed]).toEqual([2, 1]);
  },
  LIMIT_MS,
);

test(
  'without the replica no request fails, the service stays ready, and the metrics show it',
  async () => {
    const read = async () => (await fetch(`http://127.0.0.1:${service.metrics?.port}/metrics`)).text();
    await untilServed();
    expect(await read()).toMatch(/^crossdock_replica_up 1$/m);
    await standby.crash();
    await countFromNow();
    const number = await receive();
    const exports = await Promise.all(Array.from({ length: 20 }, () => exportAs('iex', number)));
    expect(exports.filter((text) => !text.includes(number))).toEqual([]);
    expect(await outcomes()).toMatchObject({ served: 0, behind: 0 });
    expect((await outcomes()).failed).toBeGreaterThan(0);
    expect((await service.call('getReadiness')).status).toBe(200);
    expect(await read()).toMatch(/^crossdock_replica_up 0$/m);
    await standby.restart();
    await untilServed();
    expect(await read()).toMatch(/^crossdock_replica_delay_seconds [\d.e-]+$/m);
  },
  LIMIT_MS,
);

test(
  'the doctor says that the replica serves reports, or why it does not',
  async () => {
    const env = {
      DATABASE_URL: primary.urlOf('crossdock'),
      DATABASE_REPLICA_URL: standby.urlOf('crossdock'),
      DATABASE_REPLICA_MAX_LAG_MS: String(MAX_LAG_MS),
    };
    const examine = () =>
      withClient(env.DATABASE_URL, (client) => checkReplica({ config: developmentConfig(env), client }));
    expect(await examine()).toEqual([
      { level: 'ok', message: expect.stringMatching(/^The replica serves reports\. .* is \d+ s old\.$/) },
    ]);
    await standby.query('select pg_wal_replay_pause()');
    await receive();
    expect(await examine()).toMatchObject([
      {
        level: 'warning',
        message: expect.stringMatching(/^The replica serves no reports: The replica is behind\./),
      },
    ]);
    await standby.query('select pg_wal_replay_resume()');
  },
  LIMIT_MS,
);

test.each([
  { what: 'row-level security', options: { applicationFilters: false } },
  { what: 'the filters of the application', options: { rowSecurity: false } },
])(
  '$what alone keeps tenants and couriers apart on the replica',
  async ({ options }) => {
    const alone = await serve(options);
    try {
      const [own, other] = [await receive('IEX-1001', alone), await receive('HRB-2001', alone)];
      await countFromNow(alone);
      const seen = async (as: string) => {
        const text = await exportAs(as, 'REPLICA-', alone);
        return [own, other].map((number) => text.includes(number));
      };
      expect(await seen('iex')).toEqual([true, false]);
      expect(await seen('hrb')).toEqual([false, true]);
      expect(await seen('warehouse')).toEqual([true, true]);
      expect(await seen('two/admin')).toEqual([false, false]);
      const period = { courier_id: HRB, from: '2024-01-01', to: TODAY };
      const statement = await alone.call('getCourierStatement', { as: 'iex', query: period });
      expect(statement.body['data']).toMatchObject({ courier_id: IEX });
      const foreign = await alone.call('getCourierStatement', { as: 'two/admin', query: period });
      expect(foreign.status).toBe(404);
      const bill_id = await anyBill();
      for (const as of ['hrb', 'two/admin'])
        expect((await alone.call('downloadCourierBill', { as, query: { bill_id } })).status).toBe(404);
      expect(await outcomes(alone)).toEqual({ served: 8, behind: 0, failed: 0, avoided: 0 });
    } finally {
      await alone.stop();
    }
  },
  LIMIT_MS,
);

/** Returns why a process does not start with this replica, and what it prints. */
async function startWith(replica: string): Promise<{ refused: string[]; printed: string[] }> {
  const printed: string[] = [];
  const env = { DATABASE_URL: primary.urlOf('crossdock'), DATABASE_REPLICA_URL: replica };
  try {
    const prepared = await prepareDatabase(developmentConfig(env), (line) => printed.push(line), false);
    await prepared.stop();
    return { refused: [], printed };
  } catch (error) {
    if (error instanceof ConfigError) return { refused: error.faults, printed };
    throw error;
  }
}

const OTHER = expect.stringMatching(
  /^DATABASE_REPLICA_URL: It leads to another database than DATABASE_URL, .* with the same name of the database\.$/,
);

describe('a replica of another database of the same server', () => {
  beforeAll(async () => {
    await primary.query('create database other');
    await migrate(primary.urlOf('other'), MIGRATIONS);
    await withClient(primary.urlOf('other'), async (client) => {
      await seedDemo(client, openSecrets(developmentConfig({}).secrets), new Date());
      await followServer(client);
    });
    await untilServed();
  }, LIMIT_MS);

  test('is refused at the start, by servers and workers; a copy of the own one and one that is away are not', async () => {
    const away = primary.urlOf('crossdock').replace(/:\d+\//, ':1/');
    expect(await startWith(standby.urlOf('other'))).toMatchObject({ refused: [OTHER] });
    expect(await startWith(primary.urlOf('other'))).toMatchObject({ refused: [OTHER] });
    expect(await startWith(standby.urlOf('crossdock'))).toMatchObject({ refused: [] });
    expect(await startWith(away)).toMatchObject({
      refused: [],
      printed: [expect.stringMatching(/^DATABASE_REPLICA_URL: .* Until it can be read, the primary serves/)],
    });
  });

  test('is refused with a wrong search_path, like the primary', async () => {
    const { refused } = await startWith(`${standby.urlOf('crossdock')}?options=-csearch_path%3Devil`);
    expect(refused).toEqual([expect.stringContaining('search_path names are pg_catalog, not')]);
  });

  test('serves nothing if it takes the place of the right one while the service runs', async () => {
    const exchanged = await serve({ replicaOf: 'other' });
    try {
      await countFromNow(exchanged);
      const number = await receive('IEX-1001', exchanged);
      expect(await exportAs('iex', number, exchanged)).toContain(number);
      expect(await outcomes(exchanged)).toMatchObject({ served: 0, failed: 1 });
    } finally {
      await exchanged.stop();
    }
  });
});

test(
  'a replica of another timeline, and one that was promoted, serve nothing, even if they are further than the primary',
  async () => {
    await untilServed();
    await service.owner.query("update installation.outbound set server = '1/00000001'");
    await countFromNow();
    const number = await receive();
    expect(await exportAs('iex', number)).toContain(number);
    expect(await outcomes()).toMatchObject({ served: 0, behind: 1 });
    await service.owner.query('update installation.outbound set server = null');
    await followServer(service.owner);
    await untilServed();

    const seen = await followServer(service.owner);
    await receive();
    await untilServed();
    await standby.query('select pg_promote()');
    await standby.query('create table further as select generate_series(1, 100000) as n');
    const last = await receive();
    await countFromNow();
    expect(await exportAs('iex', last)).toContain(last);
    expect(await outcomes()).toMatchObject({ served: 0, failed: 1 });

    await expectNoPause(seen);
  },
  LIMIT_MS,
);

test(
  'a copy of the database that has become another deployment is refused at the start, and serves no report',
  async () => {
    const position = await withClient(primary.urlOf('crossdock'), async (client) => {
      const { rows } = await client.query<WalPosition>(`select ${POSITION}`);
      return rows[0];
    });
    await withClient(standby.urlOf('crossdock'), async (client) => {
      await client.query("insert into installation.deployments values ('copied', 'staging', '{}', '1')");
      const { rows } = await client.query<{ database: string }>(`select ${DATABASE} as database`);
      expect(rows[0]?.database).not.toBe(position?.database);
    });
    expect((await startWith(standby.urlOf('crossdock'))).refused).toEqual([
      expect.stringMatching(/^DATABASE_REPLICA_URL: The deployment copied \(APP_ENV=staging\) has used this/),
    ]);
  },
  LIMIT_MS,
);

/** Expects that a worker which saw the primary continues on the promoted standby, and ends the pause of a process that started. */
async function expectNoPause(seen: SeenServer): Promise<void> {
  const promoted = new pg.Client({ connectionString: standby.urlOf('crossdock') });
  await promoted.connect();
  const isPaused = async () => (await readPause(promoted)) !== undefined;
  try {
    await followServer(promoted);
    expect(await isPaused()).toBe(true);
    await followServer(promoted, { ...seen, position: 'FFFFFFFF/FFFFFFFF' });
    expect(await isPaused()).toBe(true);
    await followServer(promoted, { ...seen, isPaused: true });
    expect(await isPaused()).toBe(true);
    await promoted.query('update installation.outbound set server = $1', [seen.server]);
    await followServer(promoted, seen);
    expect(await isPaused()).toBe(false);
    const { server } = await followServer(promoted);
    expect([await isPaused(), server]).toEqual([false, server.replace(/1$/, '2')]);
  } finally {
    await promoted.end();
  }
}
