import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { demoDatabase, type TestDatabase } from '../support/service/database.js';
import { fingerprint } from '../support/readers/fingerprint.js';

// Many tests prove with fingerprints that a rejected request writes nothing.

let database: TestDatabase;
let owner: pg.Pool;

beforeAll(async () => {
  database = await demoDatabase();
  owner = new pg.Pool({ connectionString: database.ownerUrl, max: 2 });
  owner.on('error', () => {});
});

afterAll(async () => {
  await owner.end();
  await database.drop();
});

test('a fingerprint stays the same while nothing is written, also if rows are locked', async () => {
  const before = await fingerprint(owner);
  await owner.query('begin; select * from couriers for update; commit');
  await owner.query("begin; update couriers set name = 'Other'; rollback");
  expect(await fingerprint(owner)).toEqual(before);
});

test.each([
  ['an insert', "insert into carriers select id, gen_random_uuid(), 'New' from tenants"],
  ['an update', "update carriers set name = 'Newer' where name = 'New'"],
  ['an update to the same values', "update carriers set name = name where name = 'Newer'"],
  ['a delete', "delete from carriers where name = 'Newer'"],
])('%s changes the fingerprint of its table, and of no other', async (_what, statement) => {
  const before = await fingerprint(owner);
  await owner.query(statement);
  const after = await fingerprint(owner);
  expect(Object.keys(after).filter((table) => after[table] !== before[table])).toEqual(['carriers']);
});
