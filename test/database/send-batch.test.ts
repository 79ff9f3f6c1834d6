import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';
import { createPool } from '../../src/platform/db/connections/pool.js';
import { runBatch } from '../../src/platform/db/transactions/send-batch.js';
import type { QueryConfig } from '../../src/platform/db/transactions/submit.js';
import { freshDatabase, type TestDatabase } from '../support/service/database.js';

let database: TestDatabase;
let pool: pg.Pool;
let client: pg.PoolClient;

beforeAll(async () => {
  database = await freshDatabase();
  pool = createPool({ url: database.ownerUrl, size: 1, onError: () => undefined });
  await pool.query(`create schema batch
    create table numbers (n integer constraint unique_at_commit unique deferrable initially deferred)`);
});

afterAll(async () => {
  await pool.end();
  await database.drop();
});

beforeEach(async () => {
  await pool.query('truncate batch.numbers');
  client = await pool.connect();
});

afterEach(() => client.release());

/** Returns the rows of each statement. */
const sendBatch = async (on: pg.ClientBase, statements: readonly QueryConfig[]) =>
  (await runBatch(on, statements)).map(({ rows }) => rows);

const insert = (n: number) => ({
  text: 'insert into batch.numbers values ($1) returning n',
  values: [n],
  name: 'insert_number',
});
const divide = (by: number) => ({ text: 'select 1 / $1::integer as quotient', values: [by], name: 'divide' });
const stored = async () => (await client.query<{ n: number }>('select n from batch.numbers order by n')).rows;

test('returns the rows of each statement in order, none for one without rows', async () => {
  const nothing = { text: 'select 1 as one where false', values: [] };
  const comment = { text: `comment on table batch.numbers is 'x'`, values: [] };
  expect(await sendBatch(client, [insert(1), nothing, comment, divide(1), insert(2)])).toEqual([
    [{ n: 1 }],
    [],
    [],
    [{ quotient: 1 }],
    [{ n: 2 }],
  ]);
  expect(await stored()).toEqual([{ n: 1 }, { n: 2 }]);
});

test('runs the statements in one transaction, in which each sees the writes of those before it', async () => {
  const state = {
    text: `select pg_current_xact_id()::text as id, current_setting('app.courier_id', true) as setting,
      (select count(*)::integer from batch.numbers) as written`,
    values: [],
  };
  const setting = { text: `select set_config('app.courier_id', 'all', true)`, values: [] };
  const [, first, , second] = await sendBatch(client, [setting, state, insert(1), state]);
  expect(second).toEqual([{ ...first?.[0], written: 1 }]);
  expect(first).toMatchObject([{ setting: 'all', written: 0 }]);
  const [after] = await sendBatch(client, [state]);
  expect(after).not.toMatchObject([{ id: first?.[0]?.['id'] }]);
  expect(after).toMatchObject([{ setting: '' }]);
});

test('a statement that fails rolls back those before it, skips those after it and leaves no open transaction', async () => {
  await expect(sendBatch(client, [insert(1), divide(0), insert(2)])).rejects.toMatchObject({ code: '22012' });
  expect(await stored()).toEqual([]);
  const { rows } = await client.query('select now() = statement_timestamp() as "isAlone"');
  expect(rows).toEqual([{ isAlone: true }]);
});

test('a violation that PostgreSQL finds at the commit rejects the batch', async () => {
  await expect(sendBatch(client, [insert(1), insert(1)])).rejects.toMatchObject({
    constraint: 'unique_at_commit',
  });
  expect(await stored()).toEqual([]);
});

test('prepares a statement once per connection, and again if PostgreSQL skipped its preparation', async () => {
  const prepared = async () =>
    (await client.query<{ name: string }>('select name from pg_prepared_statements order by name')).rows.map(
      ({ name }) => name,
    );
  const late = { text: 'select 2 as two', values: [], name: 'late' };
  const before = (await prepared()).filter((name) => name === 'late');
  expect(before).toEqual([]);
  for (let round = 0; round < 2; round += 1) {
    await expect(sendBatch(client, [divide(0), late])).rejects.toMatchObject({ code: '22012' });
    expect(await prepared()).not.toContain('late');
  }
  for (let round = 0; round < 2; round += 1)
    expect(await sendBatch(client, [divide(1), late])).toEqual([[{ quotient: 1 }], [{ two: 2 }]]);
  expect(await prepared()).toEqual(expect.arrayContaining(['divide', 'late']));
});

test('returns all columns of a prepared statement that PostgreSQL has described before, and refuses changed ones', async () => {
  await client.query('create table batch.shapes (a integer, b date)');
  const read = { text: 'select * from batch.shapes', values: [], name: 'read_shapes' };
  const clear = { text: 'delete from batch.shapes', values: [], name: 'clear_shapes' };
  await client.query(`insert into batch.shapes values (1, '2026-01-02')`);
  for (let round = 0; round < 3; round += 1)
    expect(await sendBatch(client, [read, divide(1), read])).toEqual([
      [{ a: 1, b: '2026-01-02' }],
      [{ quotient: 1 }],
      [{ a: 1, b: '2026-01-02' }],
    ]);
  const again = await runBatch(client, [read, clear]);
  expect(again).toMatchObject([
    { command: 'SELECT', count: 1, fields: [{ name: 'a' }, { name: 'b' }] },
    { command: 'DELETE', count: 1, fields: [] },
  ]);
  expect(await runBatch(client, [clear, read])).toMatchObject([{ count: 0 }, { count: 0, rows: [] }]);
  await client.query('alter table batch.shapes add column c integer');
  await expect(sendBatch(client, [read])).rejects.toMatchObject({ code: '0A000' });
});

test('sends nothing if a value cannot be sent, and goes on', async () => {
  const circular: Record<string, unknown> = {};
  circular['self'] = circular;
  const bad = { text: 'select $1::jsonb as value', values: [circular], name: 'bad_value' };
  await expect(sendBatch(client, [insert(1), bad, insert(2)])).rejects.toThrow(/circular/i);
  expect(await stored()).toEqual([]);
  expect(await sendBatch(client, [{ ...bad, values: [{ a: 1 }] }])).toEqual([[{ value: { a: 1 } }]]);
});

test('rejects with the error of a value that cannot be read, and the connection goes on', async () => {
  const types: pg.CustomTypesConfig = {
    getTypeParser: () => () => {
      throw new Error('unreadable');
    },
  };
  await expect(runBatch(client, [{ text: 'select 1 as one', values: [], types }, divide(1)])).rejects.toThrow(
    'unreadable',
  );
  expect(await sendBatch(client, [divide(1)])).toEqual([[{ quotient: 1 }]]);
});

test('batches and queries that are sent without waiting keep their order and their results', async () => {
  const sent = Array.from({ length: 200 }, (_, n) =>
    n % 3 === 0 ? sendBatch(client, [divide(0), insert(n)]) : sendBatch(client, [insert(n), divide(1)]),
  );
  const settled = await Promise.allSettled(sent);
  for (const [n, result] of settled.entries()) {
    if (n % 3 === 0) expect(result).toMatchObject({ status: 'rejected', reason: { code: '22012' } });
    else expect(result).toMatchObject({ value: [[{ n }], [{ quotient: 1 }]] });
  }
  expect(await stored()).toHaveLength(133);
});

test('rejects when the connection breaks', async () => {
  const own = createPool({ url: database.ownerUrl, size: 1, onError: () => undefined });
  const broken = await own.connect();
  const { rows } = await broken.query<{ pid: number }>('select pg_backend_pid() as pid');
  const batch = sendBatch(broken, [insert(1), { text: 'select pg_sleep(30)', values: [] }]);
  batch.catch(() => {});
  await client.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
  await expect(batch).rejects.toThrow(/terminat/);
  broken.release(true);
  await own.end();
  expect(await stored()).toEqual([]);
});
