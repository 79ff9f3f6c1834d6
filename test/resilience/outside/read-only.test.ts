import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { operations } from '../../../generated/operations.js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { CALLS } from '../../security/authorization/calls.js';
import { rows } from '../../security/authorization/matrix.js';
import { makeCouriers } from '../../support/builders/couriers.js';
import { scrape } from '../../support/readers/exposition.js';
import { documentedDatabase, type DocumentedDatabase } from '../../support/staging/documented-database.js';
import { endProcesses, run, until } from '../../support/service/processes.js';
import { startService, type Call, type Reply, type Service } from '../../support/service/service.js';

// A primary with default_transaction_read_only, as some providers of PostgreSQL set it when the disk is nearly full. Its rows are current.

const LIMIT_MS = 60_000;

let database: DocumentedDatabase;
let service: Service;
let owner: pg.Client;

beforeAll(async () => {
  database = await documentedDatabase({ demo: true });
  service = await startService({ database, env: { METRICS_PORT: '0' } });
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
}, LIMIT_MS);

afterAll(async () => {
  await endProcesses();
  await owner.end();
  await service.stop();
});

/** Sessions keep the setting that they began with, so they are closed. */
async function setReadOnly(isReadOnly: boolean): Promise<void> {
  const name = new URL(database.ownerUrl).pathname.slice(1);
  await owner.query(
    `alter database "${name}" ${isReadOnly ? 'set default_transaction_read_only = on' : 'reset default_transaction_read_only'}`,
  );
  if (!isReadOnly) return;
  await owner.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and application_name = 'crossdock'",
    [name],
  );
}

const write = (): Promise<Reply> =>
  service.call('submitPrealert', {
    key: DEMO.apiKeys.IEX,
    body: { UserCode: 'IEX-1001', TrackingNumber: `READ-ONLY-${Math.random()}` },
  });

const isWritable = async () =>
  (await scrape(service.metrics?.port ?? 0)).values.get('crossdock_database_writable{pool="service"}');

test(
  'every GET that answers 200 still does, writes get 503 with Retry-After, and /ready names the reason',
  async () => {
    const couriers = await makeCouriers(service.owner);
    const reads: { title: string; send: () => Promise<Reply> }[] = [];
    for (const { operation, title } of rows) {
      // It says that the database stores nothing.
      if (operations[operation].method !== 'GET' || operation === 'getReadiness') continue;
      const call: Call = { as: 'admin', ...(await CALLS[title](couriers.IEX, couriers.IEX, service)) };
      const send = () => service.call(operation, call);
      if ((await send()).status === 200) reads.push({ title, send });
    }
    expect(reads.length).toBeGreaterThan(25);
    expect((await service.call('getReadiness')).status).toBe(200);
    // An entry that waits for its place in the audit chain.
    expect((await write()).status).toBe(201);

    await setReadOnly(true);
    await until(async () => (await service.call('getReadiness')).status === 503);
    const ready = await service.call('getReadiness');
    expect([ready.headers.get('retry-after'), ready.body['message']]).toEqual([
      '10',
      'The database stores nothing, because it is read-only. Send the request again after Retry-After.',
    ]);
    expect(await isWritable()).toBe(0);
    const failures: string[] = [];
    for (const { title, send } of reads) {
      const { status } = await send();
      if (status !== 200) failures.push(`${title}: ${status}`);
    }
    expect(failures).toEqual([]);
    for (let n = 0; n < 3; n += 1) {
      const { status, headers, body } = await write();
      expect([status, headers.get('retry-after'), body['code']]).toEqual([503, '2', 'unavailable']);
    }

    await setReadOnly(false);
    await until(async () => (await service.call('getReadiness')).status === 200);
    expect(await isWritable()).toBe(1);
    expect((await write()).status).toBe(201);
  },
  LIMIT_MS,
);

/** A start says first that it tries again. */
const REASON =
  /^(?:DATABASE_OWNER_URL: .* Trying again for \d+ seconds\.\n)?(DATABASE_URL: )?The database accepts no writes: its server is a standby, or default_transaction_read_only is on\. Use the primary's URL, or reset the setting as DatabaseNotWritable in docs\/operations\.md describes, and repeat\..*\n$/;

const TENANT = ['--slug', 'new', '--name', 'New', '--host', 'new.example.com'];

test.each([
  ['src/commands/migrate.js', []],
  ['src/commands/migrate.js', ['--pause', '20261216000000_package_keys']],
  ['src/commands/tenant-create.js', TENANT],
  ['src/commands/reset-admin.js', ['--tenant', 'demo']],
  ['src/commands/outbound.js', ['--pause', 'test']],
  ['src/commands/rehash.js', ['--drop-backup-codes']],
  ['src/commands/rewrap.js', []],
  ['src/commands/remove-published.js', []],
  ['src/main.js', []],
  ['src/worker.js', []],
])(
  '%s %p says in one line that the database is read-only, and what to do',
  async (program, args) => {
    await owner.query(
      "insert into installation.background_migrations (name, status, rows_total) values ('20261216000000_package_keys', 'running', 0) on conflict do nothing",
    );
    await setReadOnly(true);
    try {
      const { urls } = database;
      const process = run(program, { APP_ENV: 'development', PORT: '0', ...urls }, args);
      const { code } = await process.ended;
      expect([code, process.output()]).toEqual([1, expect.stringMatching(REASON)]);
    } finally {
      await setReadOnly(false);
    }
  },
  LIMIT_MS,
);
