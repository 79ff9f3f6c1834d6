import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type pg from 'pg';
import { createPool } from '../../src/platform/db/connections/pool.js';
import { freshDatabase, type TestDatabase } from '../support/service/database.js';

let database: TestDatabase;
let pool: pg.Pool;

beforeAll(async () => {
  database = await freshDatabase();
  pool = createPool({ url: database.ownerUrl, size: 1, onError: () => {} });
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const ROWS = 20_000;
/** Node reads at most 64 KiB from a socket at once, and up to 32 times per turn if the data is already there. */
const CHUNK_BYTES = 64 * 1024;

test('parses a large result in many turns of the event loop, even if all of it waits in the socket', async () => {
  await pool.query('select 1');
  const done = new AbortController();
  const result = pool
    .query(`select n, repeat('x', 400) as filler from generate_series(1, ${ROWS}) as n`)
    .finally(() => done.abort());
  await nextTurn();
  // Blocks this process, so that PostgreSQL fills the socket's buffer meanwhile.
  const blockedUntil = performance.now() + 200;
  while (performance.now() < blockedUntil);
  let turns = 0;
  for (; !done.signal.aborted; turns += 1) await nextTurn();

  const { rows } = await result;
  expect(rows).toHaveLength(ROWS);
  expect(rows.at(-1)).toEqual({ n: ROWS, filler: 'x'.repeat(400) });
  expect(turns).toBeGreaterThan((ROWS * 400) / CHUNK_BYTES / 2);
});
