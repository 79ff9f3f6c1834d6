import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { removeGuard } from '../../scripts/mutants/database.js';
import { isSourceMutant, withoutGuard } from '../../scripts/mutants/mutant.js';
import { faultsOf } from '../../scripts/mutants/stale.js';
import { MUTANTS } from '../../scripts/mutants/table.js';
import { freshDatabase, type TestDatabase } from '../support/service/database.js';

// The table of `npm run mutants` must fit the sources, or it proves nothing.

test('at least 60 guards are removed', () => {
  expect(MUTANTS.length).toBeGreaterThanOrEqual(60);
});

test('every guard is in its file exactly once, and every test file exists', () => {
  expect(faultsOf(MUTANTS)).toEqual([]);
});

test('a guard whose text is gone, or is there twice, is told', () => {
  const change = { find: 'guard', replace: '' };
  expect(withoutGuard('a guard.', change)).toBe('a .');
  expect(() => withoutGuard('nothing', change)).toThrow('occurs 0 times');
  expect(() => withoutGuard('guard, guard', change)).toThrow('occurs 2 times');
});

describe('in the database', () => {
  let database: TestDatabase;
  let client: pg.Client;

  beforeAll(async () => {
    database = await freshDatabase();
    client = new pg.Client({ connectionString: database.ownerUrl });
    await client.connect();
  });
  afterAll(async () => {
    await client.end();
    await database.drop();
  });

  test.each(MUTANTS.flatMap((mutant) => (isSourceMutant(mutant) ? [] : [mutant])))(
    '$name: the guard is there and can be removed',
    async (mutant) => {
      await client.query('begin');
      try {
        await removeGuard(client, mutant);
      } finally {
        await client.query('rollback');
      }
    },
  );
});
