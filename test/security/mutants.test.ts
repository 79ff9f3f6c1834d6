import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { removeGuard } from '../../scripts/mutants/database.js';
import { isSourceMutant, withoutGuard } from '../../scripts/mutants/mutant.js';
import { problemsOf } from '../../scripts/mutants/stale.js';
import { MUTANTS } from '../../scripts/mutants/table.js';
import { freshDatabase, type TestDatabase } from '../support/service/database.js';

// The mutants of `npm run mutants` prove something only if they match the sources.

test('the table contains at least 60 mutants', () => {
  expect(MUTANTS.length).toBeGreaterThanOrEqual(60);
});

test('every mutant matches its source exactly once, and its test files and titles exist', () => {
  expect(problemsOf(MUTANTS)).toEqual([]);
});

test('rejects a mutant whose text is missing or occurs twice', () => {
  const change = { find: 'guard', replace: '' };
  expect(withoutGuard('a guard.', change)).toBe('a .');
  expect(() => withoutGuard('nothing', change)).toThrow('occurs 0 times');
  expect(() => withoutGuard('guard, guard', change)).toThrow('occurs 2 times');
});

describe('database mutants', () => {
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
    '"$name": the database has this guard and it can be removed',
    async (mutant) => {
      await client.query('begin');
      try {
        await expect(removeGuard(client, mutant)).resolves.toBeUndefined();
      } finally {
        await client.query('rollback');
      }
    },
  );
});
