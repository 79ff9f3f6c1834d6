import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { DEMO } from '../../fixtures/demo/seed.js';
import { demoDatabase, type TestDatabase } from '../support/service/database.js';

// Statements that PostgreSQL rejects even if the service sends them. Each runs as the tables' owner, without
// policies and without checks of the application.

let database: TestDatabase;
let owner: pg.Pool;

beforeAll(async () => {
  database = await demoDatabase();
  owner = new pg.Pool({ connectionString: database.ownerUrl, max: 2 });
});
afterAll(async () => {
  await owner.end();
  await database.drop();
});

/** Runs a statement, rolls it back, and returns why PostgreSQL rejected it; undefined if it did not. */
async function refusalOf(statement: string): Promise<string | undefined> {
  const client = await owner.connect();
  try {
    await client.query('begin');
    // Deferred constraints are checked immediately.
    await client.query('set constraints all immediate');
    const { rowCount } = await client.query(statement);
    if (!rowCount) throw new Error(`The demo data has no row for: ${statement}`);
    return undefined;
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    return error.constraint ?? error.message;
  } finally {
    await client.query('rollback');
    client.release();
  }
}

test.each([
  ['users', 'courier_role_has_courier', `update users set role = 'courier' where id = '${DEMO.users.admin}'`],
  [
    'users',
    'two_factor_has_secret',
    `update users set two_factor_enabled = true where id = '${DEMO.users.admin}'`,
  ],
  ['rate_tiers', 'fee_not_negative', 'update rate_tiers set fee_usd = -0.01'],
  [
    'rate_tiers',
    'bands_do_not_overlap',
    `insert into rate_tiers (tenant_id, courier_id, start_weight_lb, end_weight_lb, fee_usd)
     select tenant_id, courier_id, start_weight_lb, end_weight_lb, fee_usd from rate_tiers
     where end_weight_lb > start_weight_lb limit 1`,
  ],
  [
    'bills',
    'never_paid_beyond_the_total',
    `update bills set paid_amount = total_amount + 0.01 where status = 'published'`,
  ],
  [
    'bills',
    'paid_means_in_full',
    `update bills set status = 'paid' where status = 'published' and total_amount > 0`,
  ],
  ['bill_payments', 'pays_something', 'update bill_payments set amount_usd = 0'],
  ['packages', 'weighs_something', 'update packages set weight_lb = 0'],
])('%s: the constraint %s rejects a violation', async (_table, constraint, statement) => {
  expect(await refusalOf(statement)).toBe(constraint);
});

describe.each(['audit_entries', 'audit_links', 'package_events'])('%s', (table) => {
  test.each([`update ${table} set tenant_id = tenant_id`, `delete from ${table}`])(
    'rejects %s',
    async (statement) => {
      expect(await refusalOf(statement)).toBe(`${table} is append-only`);
    },
  );
});

test('a package that is on one bill is rejected on a second one', async () => {
  const secondLine = `insert into bill_lines
    select (jsonb_populate_record(line, jsonb_build_object('id', gen_random_uuid(), 'bill_id', draft.id, 'position', 10000))).*
    from bill_lines line
      join bills draft on draft.tenant_id = line.tenant_id and draft.courier_id = line.courier_id
        and draft.status = 'draft' and draft.id <> line.bill_id
    where line.kind = 'package' limit 1`;
  expect(await refusalOf(secondLine)).toBe('bill_lines_tenant_id_package_id_key');
});

test('a second package with the tracking number of a stored one is rejected', async () => {
  const copy = `insert into packages
    select (jsonb_populate_record(p, jsonb_build_object('id', gen_random_uuid(), 'house_number', 'COPY-1', 'prealert_id', null))).*
    from packages p limit 1`;
  expect(await refusalOf(copy)).toBe('packages_tenant_id_tracking_key_key');
});
