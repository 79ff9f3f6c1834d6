import { spawnSync } from 'node:child_process';
import { closeSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { checkStorage } from '../../../src/startup/doctor/storage.js';
import { scrape } from '../../support/readers/exposition.js';
import { demoDatabase, type TestDatabase } from '../../support/service/database.js';
import { documentedDatabase, type DocumentedDatabase } from '../../support/staging/documented-database.js';
import { endProcesses, makeFolder, removeFolders, run, until } from '../../support/service/processes.js';
import { childrenOf, openLines, startServer } from '../../support/fixture/server-processes.js';
import { prealertOf } from '../../support/service/client.js';
import { startService, type Reply, type Service } from '../../support/service/service.js';

const LIMIT_MS = 60_000;

/** Demands space on the disk for every row. */
const bigBody = (serial: number) => ({
  UserCode: 'IEX-1001',
  TrackingNumber: `FULL-${serial}`,
  Vendor: `V${serial}`.padEnd(100, 'v'),
  Description: `D${serial}`.padEnd(200, 'd'),
});

let serial = 0;

const announce = (service: Service): Promise<Reply> =>
  service.call('submitPrealert', { key: DEMO.apiKeys.IEX, body: bigBody((serial += 1)) });

const isWritable = async ({ metrics }: Service): Promise<number | undefined> =>
  (await scrape(metrics?.port ?? 0)).values.get('crossdock_database_writable{pool="service"}');

async function examineStorage(url: string) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await checkStorage({ client });
  } finally {
    await client.end();
  }
}

/** Sends until a request is refused. Rows that still fit into pages of the tables are stored. */
async function announceUntilRefused(service: Service): Promise<Reply[]> {
  const replies: Reply[] = [];
  while (replies.length < 5_000) {
    const reply = await announce(service);
    replies.push(reply);
    if (reply.status !== 201) break;
  }
  return replies;
}

/** Asserts what everybody sees while the database stores nothing: the client, the load balancer, Prometheus and the operator. */
async function expectNotWritable(service: Service, url: string, reason: RegExp): Promise<void> {
  const ready = await service.call('getReadiness');
  expect([ready.status, ready.headers.get('retry-after')]).toEqual([503, '10']);
  expect(ready.body['message']).toMatch(reason);
  expect(await isWritable(service)).toBe(0);
  expect(await examineStorage(url)).toMatchObject([{ level: 'problem' }]);
  // Reading works.
  expect((await service.call('listCarriers', { as: 'warehouse' })).status).toBe(200);
}

async function expectRecovered(service: Service, url: string): Promise<void> {
  await until(async () => (await service.call('getReadiness')).status === 200);
  expect(await isWritable(service)).toBe(1);
  expect((await announce(service)).status).toBe(201);
  expect(await examineStorage(url)).toMatchObject([{ level: 'ok' }]);
}

describe('a database whose disk is full', () => {
  let database: DocumentedDatabase;
  let service: Service;

  beforeAll(async () => {
    database = await documentedDatabase({ demo: true });
    service = await startService({ database, env: { METRICS_PORT: '0' } });
    await service.owner.query(`create function no_space() returns trigger language plpgsql as $$
      begin raise exception 'could not extend file' using errcode = '53100'; end $$`);
    await service.owner
      .query(`create function no_space_for_tables() returns event_trigger language plpgsql as $$
      begin raise exception 'could not extend file' using errcode = '53100'; end $$`);
  }, LIMIT_MS);
  afterAll(async () => {
    await endProcesses();
    await service.stop();
  });

  // PostgreSQL's own error, wherever the tests run. The next test fills a disk.
  test('is not ready while it refuses to write, and is ready again without a restart', async () => {
    expect((await service.call('getReadiness')).status).toBe(200);
    expect(await isWritable(service)).toBe(1);
    await service.owner.query(
      'create trigger full_disk before insert on prealerts for each row execute function no_space()',
    );
    await service.owner.query(
      "create event trigger full_disk on ddl_command_start when tag in ('CREATE TABLE') execute function no_space_for_tables()",
    );
    const reply = await announce(service);
    expect([reply.status, reply.body['code'], reply.headers.get('retry-after')]).toEqual([
      503,
      'unavailable',
      '10',
    ]);
    await until(async () => (await service.call('getReadiness')).status === 503);
    await expectNotWritable(service, database.ownerUrl, /its disk is full/);
    await service.owner.query('drop event trigger full_disk');
    await service.owner.query('drop trigger full_disk on prealerts');
    await expectRecovered(service, database.ownerUrl);
  });

  test.each([
    ['src/main.js', []],
    ['src/worker.js', []],
    ['src/commands/tenant-create.js', ['--slug', 'new', '--name', 'New', '--host', 'new.example.com']],
    ['src/commands/reset-admin.js', ['--tenant', 'demo']],
  ])(
    '%s says that the disk is full, and what to do',
    async (program, args) => {
      await service.owner.query(
        "create event trigger full_disk on ddl_command_start when tag in ('CREATE TABLE') execute function no_space_for_tables()",
      );
      await service.owner.query(
        'create trigger full_disk before insert on audit_entries for each row execute function no_space()',
      );
      try {
        const { urls } = database;
        const process = run(program, { APP_ENV: 'development', PORT: '0', ...urls }, args);
        const { code } = await process.ended;
        expect([code, process.output()]).toEqual([
          1,
          expect.stringMatching(
            /^(DATABASE_URL: [^\n]+ Trying again for 20 seconds\.\n)?(DATABASE_URL: )?could not extend file\. The database stores nothing, because [^\n]+ DatabaseNotWritable in docs\/operations\.md describes, and repeat\.[^\n]*\n$/,
          ),
        ]);
      } finally {
        await service.owner.query('drop event trigger full_disk');
        await service.owner.query('drop trigger full_disk on audit_entries');
      }
    },
    LIMIT_MS,
  );

  test('a refused write alone does not make it unready if another write succeeds', async () => {
    await service.owner.query(
      'create trigger full_disk before insert on prealerts for each row execute function no_space()',
    );
    expect((await announce(service)).status).toBe(503);
    await service.owner.query('drop trigger full_disk on prealerts');
    await until(async () => (await service.call('getReadiness')).status === 200);
    expect(await isWritable(service)).toBe(1);
  });

  test(
    'is ready in no process of a server, whichever of them has noticed, and ready again in all of them',
    async () => {
      const server = await startServer({ APP_ENV: 'development', ...database.urls });
      const lines = await openLines(server);
      const [writing, reading] = lines;
      const readiness = () =>
        Promise.all(lines.map(async (line) => (await line.ask({ path: '/ready' })).status));
      expect(await readiness()).toEqual([200, 200]);
      await service.owner.query(
        'create trigger full_disk before insert on prealerts for each row execute function no_space()',
      );
      await service.owner.query(
        "create event trigger full_disk on ddl_command_start when tag in ('CREATE TABLE') execute function no_space_for_tables()",
      );
      expect((await reading?.ask({ path: '/ready' }))?.status).toBe(200);
      expect((await writing?.ask(prealertOf('FULL-OF-TWO')))?.status).toBe(503);
      // The other process has tried to write nothing.
      await until(async () => (await reading?.ask({ path: '/ready' }))?.status === 503);
      for (let n = 0; n < 10; n += 1) expect(await readiness()).toEqual([503, 503]);

      // A process that is started again knows it too.
      process.kill(reading?.pid ?? 0, 'SIGKILL');
      await until(async () => childrenOf(server, 'api').length === 2);
      const [again, other] = await openLines(server);
      await until(async () => (await again?.ask({ path: '/ready' }))?.status === 503);
      await until(async () => (await other?.ask({ path: '/ready' }))?.status === 503);

      await service.owner.query('drop event trigger full_disk');
      await service.owner.query('drop trigger full_disk on prealerts');
      await until(async () => (await again?.ask({ path: '/ready' }))?.status === 200);
      // It hears of it a moment later.
      await until(async () => (await other?.ask({ path: '/ready' }))?.status === 200);
      for (const line of [...lines, again, other]) line?.close();
      await server.stop();
    },
    LIMIT_MS,
  );

  test('damaged data is 500 and is counted for the alert', async () => {
    const damages = async () =>
      (await scrape(service.metrics?.port ?? 0)).values.get(
        'crossdock_database_damage_total{pool="service"}',
      );
    expect(await damages()).toBe(0);
    await service.owner.query(`create function damaged() returns trigger language plpgsql as $$
      begin raise exception 'invalid page in block 1' using errcode = 'XX001'; end $$`);
    await service.owner.query(
      'create trigger damaged before insert on prealerts for each row execute function damaged()',
    );
    expect((await announce(service)).status).toBe(500);
    await service.owner.query('drop trigger damaged on prealerts');
    expect(await damages()).toBe(1);
    expect((await service.call('getReadiness')).status).toBe(200);
  });
});

const mountDisk = (folder: string): boolean =>
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=96m', 'tmpfs', folder]).status === 0;
const unmount = (folder: string) => spawnSync('umount', [folder]);

/** Only root may mount a disk, and not in every container. */
async function canMount(): Promise<boolean> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  const folder = await makeFolder();
  const isMounted = mountDisk(folder);
  if (isMounted) unmount(folder);
  return isMounted;
}

const withDisk = (await canMount()) ? describe : describe.skip;

/** Writes until the disk is full. Returns the file. */
function fill(folder: string): string {
  const path = join(folder, 'filler');
  const file = openSync(path, 'w');
  try {
    for (const size of [1 << 20, 1 << 12]) {
      const writeOn = () => {
        for (;;) writeSync(file, Buffer.alloc(size));
      };
      expect(writeOn).toThrow(expect.objectContaining({ code: 'ENOSPC' }));
    }
  } finally {
    closeSync(file);
  }
  return path;
}

withDisk('a small disk, which only root can mount', () => {
  let folder: string;
  let database: TestDatabase;
  let service: Service;
  let owner: pg.Client;

  beforeAll(async () => {
    folder = await makeFolder();
    mountDisk(folder);
    database = await demoDatabase();
    const { rows } = await query(database.ownerUrl, 'show data_directory');
    const { uid, gid } = statSync(String(rows[0]?.['data_directory']));
    spawnSync('chown', [`${uid}:${gid}`, folder]);
    const name = new URL(database.ownerUrl).pathname.slice(1);
    owner = await connect(database.ownerUrl.replace(`/${name}`, '/postgres'));
    await owner.query(`create tablespace small_disk location '${folder}'`);
    // The server of the tests clones files, which works on one disk only.
    await owner.query(
      "select set_config(name, 'copy', false) from pg_settings where name = 'file_copy_method'",
    );
    await owner.query(`alter database "${name}" set tablespace small_disk`);
    service = await startService({ database, env: { METRICS_PORT: '0' } });
  }, LIMIT_MS);

  afterAll(async () => {
    await service.stop();
    await owner.query('drop tablespace small_disk');
    await owner.end();
    unmount(folder);
    await removeFolders();
  }, LIMIT_MS);

  test(
    'that is full gives 503 and never 500, and needs no restart when space is free again',
    async () => {
      const filler = fill(folder);
      const replies = await announceUntilRefused(service);
      expect([...new Set(replies.map(({ status }) => status))].filter((status) => status !== 201)).toEqual([
        503,
      ]);
      expect(replies.at(-1)?.headers.get('retry-after')).toBe('10');
      await until(async () => (await service.call('getReadiness')).status === 503);
      await expectNotWritable(service, database.ownerUrl, /its disk is full/);
      // The temporary folder of uploads, on the same disk.
      expect(await uploadTo(service, folder)).toEqual([503, '2']);
      // Of many requests at once, on every connection, none is 500.
      const together = await Promise.all(Array.from({ length: 200 }, () => announce(service)));
      expect(
        together.map(({ status }) => status).filter((status) => status !== 503 && status !== 201),
      ).toEqual([]);
      rmSync(filler);
      await expectRecovered(service, database.ownerUrl);
    },
    LIMIT_MS,
  );
});

async function uploadTo(service: Service, folder: string): Promise<[number, string | null]> {
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = folder;
  try {
    const rows = Array.from({ length: 5_000 }, (_, n) => `TMP-${n},IEX-1001\n`).join('');
    const form = { file: { file: `tracking_number,user_code\n${rows}` } };
    const { status, headers } = await service.call('uploadPrealerts', { as: 'iex', form });
    return [status, headers.get('retry-after')];
  } finally {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  }
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}

async function query(url: string, text: string) {
  const client = await connect(url);
  try {
    return await client.query<Record<string, unknown>>(text);
  } finally {
    await client.end();
  }
}
