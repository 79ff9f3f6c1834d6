import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { sizeServer, divide } from '../../../src/config/processes.js';
import type { KeyedLimiterOptions } from '../../../src/platform/limits/queues/keyed-limiter.js';
import { serveLimits, type LimitCalls } from '../../../src/platform/limits/shared/limits-for-children.js';
import {
  openLimitsOfPrimary,
  type RemoteLimits,
} from '../../../src/platform/limits/shared/limits-of-primary.js';
import {
  makeOwnLimits,
  type SharedKeyedLimiter,
  type SharedLimits,
} from '../../../src/platform/limits/shared/shared-limits.js';
import { until } from '../../support/service/processes.js';

type Child = { limits: SharedLimits; end(): void; losePrimary(): void };

/** Returns child processes whose calls reach one primary process as JSON. */
function makeChildren(count: number): Child[] {
  const primary = serveLimits(makeOwnLimits());
  return Array.from({ length: count }, () => {
    const { calls, end } = primary.open();
    let isLost = false;
    const remote = Object.fromEntries(
      Object.entries(calls).map(([name, call]) => [
        name,
        async (...parameters: unknown[]) => {
          if (isLost) throw new Error('The primary process is lost.');
          const sent = JSON.parse(JSON.stringify(parameters)) as unknown[];
          // Each call of the table takes the parameters that the child process gives it.
          const answer = await (call as (...given: unknown[]) => unknown)(...sent);
          return answer === undefined ? undefined : (JSON.parse(JSON.stringify(answer)) as unknown);
        },
      ]),
    );
    return {
      // It has a function for each call.
      limits: openLimitsOfPrimary(remote as unknown as RemoteLimits & LimitCalls),
      end,
      losePrimary: () => void (isLost = true),
    };
  });
}

/** Opens the same limiter in two processes. */
function keyedLimiters(
  children: Child[],
  options: KeyedLimiterOptions,
): [SharedKeyedLimiter, SharedKeyedLimiter] {
  const [one, two] = children.map(({ limits }) => limits.keyedLimiter('work', options));
  if (!one || !two) throw new Error('There are two.');
  return [one, two];
}

const QUEUE = { maxWaiting: 4, maxWaitMs: 20_000, retryAfterSeconds: 3 };

describe('the limits of two processes', () => {
  test('count together per key, and describe what is left', async () => {
    const limit = { policy: 'test', quota: 5, windowSeconds: 60 };
    const [one, two] = makeChildren(2).map(({ limits }) => limits.rateLimiter(limit));
    if (!one || !two) throw new Error('There are two.');
    expect(await one.get('a')).toBeNull();
    const left: number[] = [];
    for (const limiter of [one, two, two, one]) left.push((await limiter.consume('a')).remainingPoints);
    expect(left).toEqual([4, 3, 2, 1]);
    expect(await two.penalty('a', 3)).toMatchObject({ consumedPoints: 7 });
    expect(await one.consume('a')).toMatchObject({ isRefused: true, remainingPoints: 0 });
    expect(await one.get('a')).toMatchObject({ consumedPoints: 8 });
    expect((await one.consume('b')).remainingPoints).toBe(4);
  });

  test('know the networks of logins at any process, and those of its own if the primary process is lost', async () => {
    const [one, two] = makeChildren(2);
    if (!one || !two) throw new Error('There are two.');
    const network = { tenant: 't', network: '192.0.2.1' };
    expect(await two.limits.knownNetworks.has(network)).toBe(false);
    one.limits.knownNetworks.note({ ...network, user: 'u' });
    expect(await two.limits.knownNetworks.has(network)).toBe(true);
    expect(await two.limits.knownNetworks.has({ ...network, tenant: 'other' })).toBe(false);
    for (const child of [one, two]) child.losePrimary();
    expect(await one.limits.knownNetworks.has(network)).toBe(true);
    expect(await two.limits.knownNetworks.has(network)).toBe(false);
  });

  test('run one work per key, and those of a process that ends begin elsewhere', async () => {
    const children = makeChildren(2);
    const [one, two] = keyedLimiters(children, { concurrency: 2, ...QUEUE });
    const done: string[] = [];
    const lasting = one.run('courier', () => new Promise<void>(() => undefined));
    const waiting = two.run('courier', async () => void done.push('same key'));
    await two.run('another', async () => void done.push('another key'));
    expect(done).toEqual(['another key']);
    children[0]?.end();
    await waiting;
    expect(done).toEqual(['another key', 'same key']);
    void lasting;
  });

  test('let the callers of a key take turns between the pieces of their work, whichever process they came to', async () => {
    const [one, two] = keyedLimiters(makeChildren(2), { concurrency: 1, ...QUEUE, maxWaiting: 16 });
    const order: string[] = [];
    const batch = (limiter: SharedKeyedLimiter, name: string, caller: string) =>
      limiter.run(
        'tenant',
        async (giveWay) => {
          order.push(`${name}1`);
          await giveWay();
          order.push(`${name}2`);
        },
        { caller },
      );
    await Promise.all([
      batch(one, 'a', 'user'),
      batch(two, 'b', 'user'),
      batch(two, 'c', 'another user'),
      batch(one, 'd', 'third user'),
    ]);
    // The further batch of the same user begins when the first one has ended.
    expect(order).toEqual(['a1', 'c1', 'd1', 'a2', 'c2', 'd2', 'b1', 'b2']);
  });

  test('let others run if a process ends while its work has given way', async () => {
    const children = makeChildren(2);
    const [one, two] = keyedLimiters(children, { concurrency: 1, ...QUEUE });
    let finish: () => void = () => undefined;
    let hasBegun = false;
    let during = Promise.resolve();
    void one.run('lost', async (giveWay) => {
      during = two.run('during', () => {
        hasBegun = true;
        return new Promise<void>((resolve) => (finish = resolve));
      });
      await giveWay();
      await new Promise<void>(() => undefined);
    });
    await until(async () => hasBegun);
    children[0]?.end();
    finish();
    await during;
    // The permit of the lost process was given back, and only once: still one work runs at a time.
    let running = 0;
    const alone = async () => {
      running += 1;
      await sleep(1);
      expect(running).toBe(1);
      running -= 1;
    };
    await Promise.all(['x', 'y', 'z'].map((key) => two.run(key, alone)));
  });

  test('refuse the caller that fills a queue from one process before the callers of another', async () => {
    const [one, two] = keyedLimiters(makeChildren(2), { concurrency: 1, ...QUEUE, maxWaiting: 8 });
    const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
    const flood = Promise.allSettled(
      Array.from({ length: 20 }, () => one.run('tenant', turn, { caller: 'flood' })),
    );
    await Promise.all([
      two.run('tenant', turn, { caller: 'user' }),
      two.run('other tenant', turn, { caller: 'other' }),
    ]);
    expect((await flood).filter(({ status }) => status === 'rejected').length).toBeGreaterThanOrEqual(11);
  });

  test('refuse with the same error as one process when the queue is full', async () => {
    const [one, two] = keyedLimiters(makeChildren(2), { concurrency: 1, ...QUEUE, maxWaiting: 1 });
    let finish: () => void = () => undefined;
    const first = one.run('a', () => new Promise<void>((resolve) => (finish = resolve)));
    const second = two.run('a', async () => 'second');
    await expect(one.run('a', async () => 'third')).rejects.toMatchObject({
      code: 'overloaded',
      detail: { retryAfterSeconds: 3 },
    });
    await expect(two.assertSpace('a')).rejects.toMatchObject({ code: 'overloaded' });
    finish();
    await first;
    expect(await second).toBe('second');
    await two.assertSpace('a');
  });

  test('count what holders have, until they give it back or their process ends', async () => {
    const children = makeChildren(2);
    const [one, two] = children.map(({ limits }) => limits.allotment('disk', { perHolder: 10, total: 15 }));
    const iex = { name: 'iex', tenant: 'demo' };
    const hrb = { name: 'hrb', tenant: 'demo' };
    if (!one || !two) throw new Error('There are two.');
    expect(await one.take(iex, 6)).toBe(true);
    expect(await two.take(iex, 6)).toBe(false);
    expect(await two.take(iex, 4)).toBe(true);
    expect(await two.take(hrb, 6)).toBe(false);
    expect(await two.take(hrb, 5)).toBe(true);
    one.give(iex, 6);
    expect(await two.take(iex, 6)).toBe(true);
    children[1]?.end();
    expect(await one.take(hrb, 10)).toBe(true);
    expect(await one.take(iex, 5)).toBe(true);
  });

  test('are those of the process alone when the primary process is lost', async () => {
    const [child] = makeChildren(1);
    if (!child) throw new Error('There is one.');
    const limiter = child.limits.rateLimiter({ policy: 'test', quota: 1, windowSeconds: 60 });
    const work = child.limits.keyedLimiter('work', { concurrency: 1, ...QUEUE });
    const disk = child.limits.allotment('disk', { perHolder: 1 });
    await limiter.consume('a');
    child.losePrimary();
    expect(await limiter.consume('a')).toMatchObject({ remainingPoints: 0 });
    expect(await limiter.consume('a')).toMatchObject({ isRefused: true });
    expect(await work.run('a', async () => 'done')).toBe('done');
    await work.assertSpace('a');
    expect(await disk.take({ name: 'iex', tenant: 'demo' }, 1)).toBe(true);
  });
});

describe('the number of processes', () => {
  const GIB = 1024 ** 3;
  const unset = { processes: undefined, connections: undefined };

  test.each([
    ['one per core', unset, { cores: 4, memoryBytes: 16 * GIB }, { processes: 4, connections: 20 }],
    [
      'ten connections for up to two',
      unset,
      { cores: 2, memoryBytes: 16 * GIB },
      { processes: 2, connections: 10 },
    ],
    ['one on one core', unset, { cores: 1, memoryBytes: 16 * GIB }, { processes: 1, connections: 10 }],
    [
      'as many as half of the memory allows',
      unset,
      { cores: 8, memoryBytes: 2 * GIB },
      { processes: 2, connections: 10 },
    ],
    ['one with little memory', unset, { cores: 8, memoryBytes: GIB / 2 }, { processes: 1, connections: 10 }],
    ['at most eight', unset, { cores: 64, memoryBytes: 256 * GIB }, { processes: 8, connections: 40 }],
    [
      'as many as POOL_SIZE allows with five connections each',
      { processes: undefined, connections: 12 },
      { cores: 8, memoryBytes: 16 * GIB },
      { processes: 2, connections: 12 },
    ],
    [
      'what the settings say',
      { processes: 6, connections: 7 },
      { cores: 2, memoryBytes: GIB },
      { processes: 6, connections: 7 },
    ],
  ])('is %s', (_title, given, machine, expected) => {
    expect(sizeServer(given, machine)).toEqual(expected);
  });

  test('divides the connections without a rest', () => {
    expect(divide(10, 3)).toEqual([4, 3, 3]);
    expect(divide(2, 2)).toEqual([1, 1]);
  });
});
