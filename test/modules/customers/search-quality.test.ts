import { beforeAll, expect, test } from '@jest/globals';
import {
  latency,
  loadCustomers,
  measure,
  type Measured,
} from '../../../scripts/measure/search-quality/measure.js';
import { recallAt } from '../../../scripts/measure/search-quality/labelled.js';
import { makeNames } from '../../../scripts/measure/rig/names.js';
import { KINDS } from '../../../scripts/measure/search-quality/misspell.js';
import { rounds } from '../../support/harness/effort.js';
import { withService } from '../../support/fixture/with-service.js';

// `npm run search:quality` measures the same with 100,000 customers and 2,100 queries.
const CUSTOMERS = rounds(10_000, 20_000);
const PER_KIND = 20;

const { service } = withService();
beforeAll(async () => {
  const owner = await service().owner.connect();
  try {
    const names = await loadCustomers(owner, CUSTOMERS);
    measured = await measure(service().db, owner, names, { perKind: PER_KIND, bruteForceEvery: 15 });
  } finally {
    owner.release();
  }
}, 60_000);
let measured: Measured;

test('at least 97 % of 320 misspelt names are among the first 15 results', () => {
  expect(measured.ours).toHaveLength(Object.keys(KINDS).length * PER_KIND);
  expect(recallAt(15, measured.ours)).toBeGreaterThanOrEqual(0.97);
  expect(recallAt(1, measured.ours)).toBeGreaterThanOrEqual(0.9);
});

test.each(Object.keys(KINDS))('finds at least 17 of 20 for: %s', (kind) => {
  const results = measured.ours.filter((each) => each.kind === kind);
  expect(recallAt(15, results)).toBeGreaterThanOrEqual(17 / PER_KIND);
});

test('uses an index: brute force over these few rows takes more than twice as long', () => {
  expect(latency(measured.ours, 0.5) * 2).toBeLessThan(latency(measured.bruteForce, 0.5));
});

test('the generated names are many, unevenly distributed and deterministic', () => {
  const names = makeNames(CUSTOMERS);
  expect(makeNames(CUSTOMERS)).toEqual(names);
  const lasts = new Map<string, number>();
  for (const { last } of names) lasts.set(last, (lasts.get(last) ?? 0) + 1);
  expect(lasts.size).toBeGreaterThan(CUSTOMERS / 10);
  expect(Math.max(...lasts.values())).toBeGreaterThan(CUSTOMERS / 100);
});
