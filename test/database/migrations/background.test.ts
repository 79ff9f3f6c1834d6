import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';
import { pino } from 'pino';
import { runBackgroundMigrations } from '../../../src/jobs/background-migrations/run.js';
import { APP_ROLE } from '../../../src/platform/db/connections/roles.js';
import type { Db } from '../../../src/platform/db/database.js';
import {
  readBackgroundMigrations,
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

// It filters by no tenant, so each row would be touched once per tenant without row-level security.
const BACKGROUND = `-- table: carriers
-- Counts how often each carrier is touched. $1 is the last id, $2 the number of rows.
with batch as (
  select id from carriers where $1::text is null or id > $1::text::uuid order by id limit $2::int
), touched as (
  update carriers c set touches = touches + 1 from batch where c.id = batch.id
), slow as (
  select pg_sleep(0.001 * (select count(*) from batch))
)
select (select id::text from batch order by id desc limit 1) as last, (select count(*)::int from batch, slow) as rows`;

let database: TestDatabase;
let owner: pg.Pool;
let db: Db & { close(): Promise<void> };
let folder: string;

beforeEach(async () => {
  database = await freshDatabase();
  owner = new pg.Pool({ connectionString: database.ownerUrl, max: 4 });
  owner.on('error', () => undefined);
  await addRows();
  await owner.query('analyze carriers');
  folder = await plantMigrations({
    name: NAME,
    script: '-- upgrade: background\nalter table carriers add touches int not null default 0',
    background: BACKGROUND,
  });
  await migrate(database.ownerUrl, folder);
  db = openDb({ url: database.ownerUrl, size: 4, assumeRole: APP_ROLE, onError: () => undefined });
}, LIMIT_MS);

afterEach(async () => {
  await db.close();
  await owner.end();
  await database.drop();
  await removeFolders();
}, LIMIT_MS);

async function addRows(): Promise<void> {
  for (let index = 0; index < TENANTS; index += 1) {
    const id = randomUUID();
    await owner.query('insert into tenants (id, slug, name) values ($1, $2, $2)', [id, `tenant-${index}`]);
    await owner.query(
      `insert into carriers (tenant_id, id, name) select $1, gen_random_uuid(), 'Carrier ' || n from generate_series(1, $2) n`,
      [id, ROWS],
    );
  }
}

const worker = (stopping = new AbortController().signal) =>
  runBackgroundMigrations({ db, stopping, log: pino({ level: 'silent' }) }, folder);

const progress = async () => (await readBackgroundMigrations(owner))[0];

/** By number of touches: how many rows. */
const touches = async () =>
  (await owner.query('select touches, count(*)::int as rows from carriers group by 1 order by 1')).rows;

test(
  'a worker processes the rows of every tenant in its scope, and metrics show the progress',
  async () => {
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
  },
  LIMIT_MS,
);

test(
  'after its connections were killed in a batch, a worker resumes, and no row is processed twice',
  async () => {
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
  },
  LIMIT_MS,
);

test(
  'workers at the same time process each row once',
  async () => {
    await Promise.all([worker(), worker(), worker()]);
    await worker();
    expect(await touches()).toEqual([{ touches: 1, rows: TENANTS * ROWS }]);
    expect(await progress()).toMatchObject({ status: 'finished', rowsDone: TENANTS * ROWS });
  },
  LIMIT_MS,
);

test(
  'a paused migration stops after its batch, and continues when it is resumed',
  async () => {
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
  },
  LIMIT_MS,
);

test(
  'a slow statement gets smaller batches, so that none takes much longer than 0.2 s',
  async () => {
    await plantIn(folder, { name: NAME, script: '', background: BACKGROUND.replace('0.001', '0.01') });
    const stopping = new AbortController();
    const running = worker(stopping.signal);
    const rows = async () =>
      (await owner.query('select batch_rows from installation.background_migrations')).rows[0]?.batch_rows;
    await until(async () => (await rows()) < 50);
    stopping.abort();
    await running;
    expect(await progress()).toMatchObject({ status: 'running', lastError: null });
  },
  LIMIT_MS,
);

test(
  'a migration that requires it is refused until it has finished',
  async () => {
    const later = '20990102000000_later';
    await plantIn(folder, { name: later, script: `-- upgrade: rolling\n-- requires: ${NAME}\nselect 1` });
    await expect(migrate(database.ownerUrl, folder)).rejects.toThrow(
      `${later} needs the background migration ${NAME} to be finished.`,
    );
    await worker();
    expect(await migrate(database.ownerUrl, folder)).toEqual([later]);
  },
  LIMIT_MS,
);

test(
  'in a new database there is nothing to do, so that what requires it is applied at once',
  async () => {
    const later = '20990102000000_later';
    await plantIn(folder, { name: later, script: `-- upgrade: rolling\n-- requires: ${NAME}\nselect 1` });
    await owner.query('drop schema public, queue, graphile_worker, installation cascade');
    await owner.query('create schema public');
    expect(await migrate(database.ownerUrl, folder)).toContain(later);
    expect(await progress()).toMatchObject({ status: 'finished' });
  },
  LIMIT_MS,
);
