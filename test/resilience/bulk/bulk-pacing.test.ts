import { afterEach, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeBulkLimits } from '../../../src/platform/concurrency/bulk-limits.js';
import {
  watchPressure,
  type Pressure,
  type Transactions,
} from '../../../src/platform/concurrency/pressure.js';
import type { UserCaller } from '../../../src/platform/identity/callers.js';
import { until } from '../../support/service/processes.js';

const POOL = 10;
// Limits read only these fields of a caller.
const callerOf = (userId: string) => ({ kind: 'user', tenantId: 't', userId, courierId: null }) as UserCaller;

let pressure: Pressure | undefined;

afterEach(() => pressure?.stop());

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
};

test('bulk work does not wait while no light request waits', async () => {
  const limits = makeBulkLimits(POOL, { isHigh: () => false });
  const tookMs = await timed(async () => {
    for (let n = 0; n < 1_000; n += 1) await limits.runPiece(() => Promise.resolve());
    await limits.limitReport(callerOf('a'), () => Promise.resolve());
  });
  expect(tookMs).toBeLessThan(500);
});

test('under lasting pressure a piece has at least a fifth of the time, and a report starts after two seconds', async () => {
  const limits = makeBulkLimits(POOL, { isHigh: () => true });
  const pieceMs = await timed(() => limits.runPiece(() => sleep(200)));
  expect(pieceMs).toBeGreaterThanOrEqual(5 * 199);
  expect(pieceMs).toBeLessThan(5 * 200 + 1_000);
  const reportMs = await timed(() => limits.limitReport(callerOf('a'), () => Promise.resolve()));
  expect(reportMs).toBeGreaterThanOrEqual(1_999);
  expect(reportMs).toBeLessThan(3_000);
});

test('bulk work goes on as soon as the pressure ends', async () => {
  let isHigh = true;
  const limits = makeBulkLimits(POOL, { isHigh: () => isHigh });
  const ended = sleep(300).then(() => (isHigh = false));
  const tookMs = await timed(() => limits.limitReport(callerOf('a'), () => Promise.resolve()));
  await ended;
  expect(tookMs).toBeGreaterThanOrEqual(299);
  expect(tookMs).toBeLessThan(1_500);
});

test('ten reports wait for the pressure to end at the same time, not one after another', async () => {
  const limits = makeBulkLimits(POOL, { isHigh: () => true });
  const users = Array.from({ length: 10 }, (_, n) => `${n}`);
  const tookMs = await timed(() =>
    Promise.all(users.map((user) => limits.limitReport(callerOf(user), () => Promise.resolve()))),
  );
  expect(tookMs).toBeLessThan(3_500);
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
