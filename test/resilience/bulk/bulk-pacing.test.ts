import { afterEach, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeBulkLimits } from '../../../src/platform/limits/bulk-limits.js';
import { watchPressure, type Pressure, type Transactions } from '../../../src/platform/limits/pressure.js';
import { until } from '../../support/service/processes.js';

const POOL = 10;

let pressure: Pressure | undefined;

afterEach(() => pressure?.stop());

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
};

test('an upload does not wait between its pieces while no light request waits', async () => {
  const limits = makeBulkLimits(POOL, { isHigh: () => false });
  const tookMs = await timed(async () => {
    for (let n = 0; n < 1_000; n += 1) await limits.runPiece(() => Promise.resolve());
  });
  expect(tookMs).toBeLessThan(500);
});

test('under lasting pressure an upload still has at least a fifth of the time', async () => {
  const limits = makeBulkLimits(POOL, { isHigh: () => true });
  const pieceMs = await timed(() => limits.runPiece(() => sleep(200)));
  expect(pieceMs).toBeGreaterThanOrEqual(5 * 199);
  expect(pieceMs).toBeLessThan(5 * 200 + 1_000);
});

test('an upload goes on as soon as the pressure ends', async () => {
  let isHigh = true;
  const limits = makeBulkLimits(POOL, { isHigh: () => isHigh });
  const ended = sleep(300).then(() => (isHigh = false));
  const tookMs = await timed(() => limits.runPiece(() => sleep(200)));
  await ended;
  expect(tookMs).toBeGreaterThanOrEqual(299);
  expect(tookMs).toBeLessThan(900);
});

/** Transactions that start, one at each look, if `areMany`. */
function transactions(areMany: boolean, waiting = 0): Transactions {
  let started = 0;
  return { countWaiting: () => waiting, countStarted: () => (started += areMany ? 10 : 0) };
}

/** Tells a thread that waits for a processor for a share of the time. */
const waitingFor = (share: number) => () => share * performance.now();

test('a thread that waits for a processor while it serves requests is under pressure', async () => {
  const busy = (pressure = watchPressure(transactions(true), waitingFor(0.5)));
  await until(() => Promise.resolve(busy.isHigh()));
  expect(busy.isHigh()).toBe(true);
});

test.each([
  ['serves nothing', false, waitingFor(0.5)],
  ['seldom waits', true, waitingFor(0.05)],
  ['is not measured', true, () => undefined],
])('a thread that %s is not under pressure', async (_, areMany, readWaitedMs) => {
  const calm = (pressure = watchPressure(transactions(areMany), readWaitedMs));
  await sleep(350);
  expect(calm.isHigh()).toBe(false);
});

test('a transaction that waits for a connection is pressure', () => {
  pressure = watchPressure(transactions(false, 1), () => undefined);
  expect(pressure.isHigh()).toBe(true);
});
