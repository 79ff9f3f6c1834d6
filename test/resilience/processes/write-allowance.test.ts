import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { makeSettle } from '../../../src/platform/limits/written/settle.js';
import {
  makeWriteAllowance,
  writeLimits,
  type WriteAllowanceOptions,
  type WriteOwner,
} from '../../../src/platform/limits/written/write-allowance.js';
import type { Db } from '../../../src/platform/db/database.js';
import { until } from '../../support/service/processes.js';
import { startService, type Service } from '../../support/service/service.js';

const LIMIT = 1024 * 1024;
const COST = 4 * 1024;
const SLICE = LIMIT / 256;

let service: Service;

beforeAll(async () => {
  service = await startService();
});

afterAll(async () => {
  await service.stop();
});

const newOwner = (): WriteOwner => ({ tenantId: DEMO.tenants.demo, kind: 'user', id: randomUUID() });

/** Each has the memory of one process. Their settlements are those of the service. */
const makeProcess = (options: Partial<WriteAllowanceOptions<Db>> = {}) =>
  makeWriteAllowance<Db>({
    limits: writeLimits(LIMIT, LIMIT),
    settle: makeSettle(writeLimits(LIMIT, LIMIT)),
    onError: () => undefined,
    ...options,
  });

type Process = ReturnType<typeof makeProcess>;

async function takeAll({ take }: Process, owner: WriteOwner): Promise<number> {
  for (let taken = 0; taken <= (2 * LIMIT) / COST; taken += 1)
    if (!(await take(owner, COST, service.db)).isGranted) return taken * COST;
  throw new Error('Nothing was refused.');
}

test('two processes together pass the allowance by no more than two slices each', async () => {
  const owner = newOwner();
  const [first, second] = [makeProcess(), makeProcess()];
  const taken = await Promise.all([takeAll(first, owner), takeAll(second, owner)]);
  const sum = taken.reduce((total, each) => total + each, 0);
  expect(sum).toBeGreaterThan(LIMIT - COST);
  expect(sum).toBeLessThanOrEqual(LIMIT + 4 * Math.max(SLICE, COST));
  await Promise.all([first.stop(), second.stop()]);
  const restarted = makeProcess();
  expect(await takeAll(restarted, owner)).toBeLessThanOrEqual(2 * Math.max(SLICE, COST));
  await restarted.stop();
});

test('what was given back can be taken again, and does not reach the database as used', async () => {
  const owner = newOwner();
  const one = makeProcess();
  for (let n = 0; n < (3 * LIMIT) / COST; n += 1) {
    const taken = await one.take(owner, COST, service.db);
    expect(taken.isGranted).toBe(true);
    if (taken.isGranted) taken.settle(0);
  }
  await one.stop();
  const { rows } = await service.owner.query<{ used: string }>(
    'select used from write_allowances where principal_id = $1',
    [owner.id],
  );
  expect(rows.map(({ used }) => Number(used) <= COST)).toEqual([true]);
});

test('the allowance is refilled evenly', async () => {
  // One byte per millisecond.
  const bytesPerDay = 24 * 60 * 60 * 1000;
  const limits = writeLimits(bytesPerDay, bytesPerDay);
  const one = makeProcess({ limits, settle: makeSettle(limits) });
  const owner = newOwner();
  expect((await one.take(owner, bytesPerDay, service.db)).isGranted).toBe(true);
  const refused = await one.take(owner, 1_500, service.db);
  expect(refused).toEqual({ isGranted: false, retryAfterSeconds: 2 });
  await until(async () => (await one.take(owner, 1_500, service.db)).isGranted);
  await one.stop();
});

test('requests that wait for a settlement that fails fail together, and the next one settles anew', async () => {
  const owner = newOwner();
  let calls = 0;
  let isAway = true;
  let answer = () => {};
  const answered = new Promise<void>((resolve) => (answer = resolve));
  const settle = makeSettle(writeLimits(LIMIT, LIMIT));
  const one = makeProcess({
    settle: async (...call) => {
      calls += 1;
      await answered;
      if (isAway) throw new Error('The database is away.');
      return settle(...call);
    },
  });
  expect((await one.take(owner, 3 * SLICE, service.db)).isGranted).toBe(true);
  const waiting = Promise.allSettled(Array.from({ length: 10 }, () => one.take(owner, COST, service.db)));
  answer();
  expect((await waiting).map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 'rejected'));
  expect(calls).toBe(1);
  isAway = false;
  expect((await one.take(owner, COST, service.db)).isGranted).toBe(true);
  expect(calls).toBeGreaterThan(1);
  await one.stop();
});

test('within a slice, no request waits for the database', async () => {
  const many = 256 * 1024 * COST;
  let calls = 0;
  const limits = writeLimits(many, many);
  const settle = makeSettle(limits);
  const one = makeProcess({
    limits,
    settle: (...call) => {
      calls += 1;
      return settle(...call);
    },
  });
  const owner = newOwner();
  for (let n = 0; n < 500; n += 1) await one.take(owner, COST, service.db);
  expect(calls).toBe(0);
  await one.stop();
  expect(calls).toBe(1);
});

test('refused requests, and those that gave everything back, settle nothing', async () => {
  const owner = newOwner();
  let calls = 0;
  const settle = makeSettle(writeLimits(LIMIT, LIMIT));
  const one = makeProcess({
    settle: (...call) => {
      calls += 1;
      return settle(...call);
    },
  });
  await takeAll(one, owner);
  await one.flush();
  const before = calls;
  for (let n = 0; n < 100; n += 1) expect((await one.take(owner, COST, service.db)).isGranted).toBe(false);
  const other = await one.take(newOwner(), 16, service.db);
  if (other.isGranted) other.settle(0);
  await one.stop();
  expect(calls).toBe(before);
});
