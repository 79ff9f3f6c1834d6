import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { measureStep, type Measured } from '../../scripts/measure/capacity/step.js';
import { developmentConfig } from '../support/staging/development.js';
import { rounds } from '../support/harness/effort.js';
import { demoDatabase, type TestDatabase } from '../support/service/database.js';

const SMALL = 10_000;
const TIMES = rounds(3, 10);
const LARGE = TIMES * SMALL;

let database: TestDatabase;
let small: Measured[];
let large: Measured[];

beforeAll(async () => {
  database = await demoDatabase();
  const measureAt = (from: number, to: number) =>
    measureStep(database.ownerUrl, { from, to, total: LARGE, expired: 200 }, developmentConfig({}), {
      times: 10,
      rounds: 2,
    });
  small = await measureAt(0, SMALL);
  large = await measureAt(SMALL, LARGE);
}, 120_000);

afterAll(() => database.drop());

// These numbers of entries give an index at most one level more. A page looks up each of its rows in an index, so that it may
// read half as much again, but not in proportion to the table.
test(`with ${TIMES} times the rows, inserts, pages and retention read at most one more level of each index`, () => {
  const costs = small.map(({ name, buffers }, n) => ({
    name,
    small: buffers,
    large: large[n]?.buffers ?? NaN,
  }));
  expect(costs.length).toBeGreaterThan(12);
  expect(costs.filter((cost) => !(cost.large <= cost.small * 1.5 + 5))).toEqual([]);
});
