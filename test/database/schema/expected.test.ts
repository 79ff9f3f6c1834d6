import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { listMigrations, MIGRATIONS } from '../../../src/platform/db/migrations/migration-files.js';
import { checkSchema } from '../../../src/platform/db/schema-check/check-schema.js';
import { describeSchema, readExpected } from '../../../src/platform/db/schema-check/schema-lines.js';
import { freshDatabase, type TestDatabase } from '../../support/service/database.js';

let database: TestDatabase;
let owner: pg.Client;

beforeAll(async () => {
  database = await freshDatabase();
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
});

afterAll(async () => {
  await owner.end();
  await database.drop();
});

test('generated/schema.json describes what the migrations make. If not, run npm run schema:describe', async () => {
  const { migrations, lines } = await readExpected();
  expect(migrations).toEqual(await listMigrations(MIGRATIONS));
  expect(lines.length).toBeGreaterThan(1_000);
  const kinds = new Set(lines.map(({ kind }) => kind));
  for (const kind of [
    'row-level security',
    'policy',
    'trigger',
    'function body',
    'function security',
    'grant',
  ])
    expect([kind, kinds.has(kind)]).toEqual([kind, true]);
  expect(await describeSchema(owner)).toEqual(lines);
});

test('a database as the migrations make it has no difference', async () => {
  expect(await checkSchema(owner)).toEqual([]);
});

test('settings of a session do not change the description', async () => {
  await owner.query(
    `set search_path = installation, public; set quote_all_identifiers = on; set intervalstyle = iso_8601; set timezone = 'Asia/Tokyo'`,
  );
  expect(await checkSchema(owner)).toEqual([]);
  await owner.query('reset all');
});

test('a migration of another version, or an unfinished one, means that the schema is not compared', async () => {
  const change = 'alter table packages disable row level security';
  for (const history of [
    `insert into _prisma_migrations (id, checksum, migration_name, finished_at) values ('x', 'x', '29991231000000_later', now())`,
    "delete from _prisma_migrations where migration_name like '%_courier_statistics'",
    "update _prisma_migrations set finished_at = null where migration_name like '%_courier_statistics'",
  ]) {
    const copy = await freshDatabase();
    const client = new pg.Client({ connectionString: copy.ownerUrl });
    await client.connect();
    await client.query(`${change}; ${history}`);
    expect([history, await checkSchema(client)]).toEqual([history, undefined]);
    await client.end();
    await copy.drop();
  }
});
