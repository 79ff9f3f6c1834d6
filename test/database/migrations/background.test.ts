import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { pino } from 'pino';
import { runBackgroundMigrations } from '../../../src/jobs/background-migrations/run.js';
import { APP_ROLE } from '../../../src/platform/db/connections/roles.js';
import type { Db } from '../../../src/platform/db/database.js';
import {
  readBackgroundMigrations,
  type BackgroundRow,
  setBackgroundStatus,
} from '../../../src/platform/db/migrations/background-rows.js';
import { migrate } from '../../../src/platform/db/migrations/migrate.js';
import { openDb } from '../../../src/platform/db/open-database.js';
import { makeBacklogReader } from '../../../src/platform/metrics/backlog.js';
import { makeBacklogGauges } from '../../../src/platform/metrics/backlog-gauges.js';
import { plantIn, plantMigrations } from '../../support/migrations/planted.js';
import { freshDatabase, type TestDatabase } from '../../support/service/database.js';
import { removeFolders, until } from '../../support/service/processes.js';

const LIMIT_MS = 60_000;
const NAME = '20990101000000_count_touches';
const TENANTS = 3;
const ROWS = 400;

/** Seconds per row: enough to meet a worker in a batch, and a tenth of it. */
const SLOW = 0.001;
const QUICK = 0.0001;

// It filters by no tenant, so each row would be touched once per tenant without row-level security.
const background = (secondsPerRow: number) => `-- table: carriers
-- Counts how often each carrier is touched. $1 is the last id, $2 the number of rows.
with batch as (
  select id from carriers where $1::text is null or id > $1::text::uuid order by id limit $2::int
), touched as (
  update carriers c set touches = touches + 1 from batch where c.id = batch.id
), slow as (
  select pg_sleep(${secondsPerRow} * (select count(*) from batch))
)
select (select id::text from batch order by id desc limit 1) as last, (select count(*)::int from batch, slow) as rows`;

type World = {
  database: TestDatabase;
  owner: pg.Pool;
  db: Db;
  /** The folder with the migrations of the next version. */
  folder: string;
  worker(stopping?: AbortSignal): Promise<void>;
  progress(): Promise<BackgroundRow | undefined>;
  /** By number of touches: how many rows. */
  touches(): Promise<unknown[]>;
};

/** Runs a test with a database of its own, to which the background migration was just added. */
const withWorld = (secondsPerRow: number, check: (world: World) => Promise<void>) => async () => {
  const database = await freshDatabase();
  const owner = new pg.Pool({ connectionString: database.ownerUrl, max: 4 });
  owner.on('error', () => undefined);
  await addRows(owner);
  await owner.query('analyze carriers');
  const folder = await plantMigrations({
    name: NAME,
    script: '-- upgrade: background\nalter table carriers add touches int not null default 0',
    background: background(secondsPerRow),
  });
  await migrate(database.ownerUrl, folder);
  const db = openDb({ url: database.ownerUrl, size: 4, assumeRole: APP_ROLE, onError: () => undefined });
  try {
    await check({
      ...{ database, owner, db, folder },
      worker: (stopping = new AbortController().signal) =>
        runBackgroundMigrations({ db, stopping, log: pino({ level: 'silent' }) }, folder),
      progress: async () => (await readBackgroundMigrations(owner)).find(({ name }) => name === NAME),
      touches: async () =>
        (await owner.query('select touches, count(*)::int as rows from carriers group by 1 order by 1')).rows,
    });
  } finally {
    await db.close();
    await owner.end();
    await database.drop();
  }
};

afterAll(removeFolders);

async function addRows(owner: pg.Pool): Promise<void> {
  for (let index = 0; index < TENANTS; index += 1) {
    const id = randomUUID();
    await owner.query('insert into tenants (id, slug, name) values ($1, $2, $2)', [id, `tenant-${index}`]);
    await owner.query(
      `insert into carriers (tenant_id, id, name) select $1, gen_random_uuid(), 'Carrier ' || n from generate_series(1, $2) n`,
      [id, ROWS],
    );
  }
}

test.concurrent(
  'a worker processes the rows of every tenant in its scope, and metrics show the progress',
  withWorld(QUICK, async ({ owner, worker, progress, touches }) => {
    expect(await progress()).toMatchObject({ status: 'running', rowsDone: 0, rowsTotal: TENANTS * ROWS });
    await worker();
    expect(await touches()).toEqual([{ touches: 1, rows: TENANTS * ROWS }]);
    expect(await progress()).toMatchObject({ status: 'finished', rowsDone: TENANTS * ROWS, lastError: null });
    const backlog = await makeBacklogReader(owner)();
    if (!backlog) throw new Error('no backlog');
    const text = await makeBacklogGauges().render(backlog);
    expect(text).toContain(`crossdock_background_migration_rows_done{migration="${NAME}"} ${TENANTS * ROWS}`);
    expect(text).toContain(
      `crossdock_background_migration_rows_total{migration="${NAME}"} ${TENANTS * ROWS}`,
    );
    expect(text).toContain(`crossdock_background_migration_finished{migration="${NAME}"} 1`);
  }),
  LIMIT_MS,
);

test.concurrent(
  'after its connections were killed in a batch, a worker resumes, and no row is processed twice',
  withWorld(SLOW, async ({ owner, worker, progress, touches }) => {
    const running = worker();
    await until(async () => Number((await progress())?.rowsDone) > ROWS);
    await until(async () => {
      const { rowCount } = await owner.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and query like '%with batch as%' and state = 'active' and pid <> pg_backend_pid()`,
      );
      return rowCount === 1;
    });
    await running;
    expect(await progress()).toMatchObject({ status: 'running', lastError: expect.stringMatching(/./) });
    await worker();
    expect(await touches()).toEqual([{ touches: 1, rows: TENANTS * ROWS }]);
    expect(await progress()).toMatchObject({ status: 'finished', lastError: null });
  }),
  LIMIT_MS,
);

test.concurrent(
  'workers at the same time process each row once',
  withWorld(QUICK, async ({ worker, progress, touches }) => {
    await Promise.all([worker(), worker(), worker()]);
    await worker();
    expect(await touches()).toEqual([{ touches: 1, rows: TENANTS * ROWS }]);
    expect(await progress()).toMatchObject({ status: 'finished', rowsDone: TENANTS * ROWS });
  }),
  LIMIT_MS,
);

test.concurrent(
  'a paused migration stops after its batch, and continues when it is resumed',
  withWorld(SLOW, async ({ owner, worker, progress, touches }) => {
    const client = await owner.connect();
    const running = worker();
    await until(async () => Number((await progress())?.rowsDone) > 0);
    await setBackgroundStatus(client, NAME, 'paused');
    await running;
    const { rowsDone } = (await progress()) ?? {};
    expect(rowsDone).toBeLessThan(TENANTS * ROWS);
    await worker();
    expect(await progress()).toMatchObject({ status: 'paused', rowsDone });
    await setBackgroundStatus(client, NAME, 'running');
    await worker();
    expect(await touches()).toEqual([{ touches: 1, rows: TENANTS * ROWS }]);
    await expect(setBackgroundStatus(client, NAME, 'paused')).rejects.toThrow('No unfinished');
    client.release();
  }),
  LIMIT_MS,
);

test.concurrent(
  'a slow statement gets smaller batches, so that none takes much longer than 0.2 s',
  withWorld(5 * SLOW, async ({ owner, worker, progress }) => {
    const stopping = new AbortController();
    const running = worker(stopping.signal);
    const rows = async () =>
      (await owner.query('select batch_rows from installation.background_migrations where name = $1', [NAME]))
        .rows[0]?.batch_rows;
    await until(async () => (await rows()) < 50);
    stopping.abort();
    await running;
    expect(await progress()).toMatchObject({ status: 'running', lastError: null });
  }),
  LIMIT_MS,
);

test.concurrent(
  'a migration that requires it is refused until it has finished',
  withWorld(QUICK, async ({ database, folder, worker }) => {
    const later = '20990102000000_later';
    await plantIn(folder, { name: later, script: `-- upgrade: rolling\n-- requires: ${NAME}\nselect 1` });
    await expect(migrate(database.ownerUrl, folder)).rejects.toThrow(
      `${later} needs the background migration ${NAME} to be finished.`,
    );
    await worker();
    expect(await migrate(database.ownerUrl, folder)).toEqual([later]);
  }),
  LIMIT_MS,
);

test.concurrent(
  'in a new database there is nothing to do, so that what requires it is applied at once',
  withWorld(QUICK, async ({ database, owner, folder, progress }) => {
    const later = '20990102000000_later';
    await plantIn(folder, { name: later, script: `-- upgrade: rolling\n-- requires: ${NAME}\nselect 1` });
    await owner.query('drop schema public, queue, graphile_worker, installation cascade');
    await owner.query('create schema public');
    expect(await migrate(database.ownerUrl, folder)).toContain(later);
    expect(await progress()).toMatchObject({ status: 'finished' });
  }),
  LIMIT_MS,
);
