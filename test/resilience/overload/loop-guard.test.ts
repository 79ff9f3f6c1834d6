import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import type { Caller } from '../../../src/platform/identity/callers.js';
import { watchLoop, type LoopGuard } from '../../../src/platform/limits/overload/loop-guard.js';
import { until } from '../../support/service/processes.js';

const keyOf = (keyHash: string): Caller => ({ kind: 'key', tenantId: 't', keyHash, address: '192.0.2.1' });

const tokenOf = (keyHash: string): Caller => ({
  ...{ kind: 'token', tenantId: 't', tokenId: keyHash, userId: keyHash, keyHash, courierId: 'a courier' },
  ...{ role: 'courier', scopes: [], address: '192.0.2.1' },
});

/** Keeps the thread busy, in turns of the event loop that are longer than allowed. */
async function saturate(isDone: () => boolean, arrive: () => void = () => undefined): Promise<void> {
  const deadlineMs = performance.now() + 20_000;
  while (!isDone() && performance.now() < deadlineMs) {
    const turnEndsMs = performance.now() + 80;
    while (performance.now() < turnEndsMs);
    arrive();
    await nextTurn();
  }
}

test('while the thread cannot keep up, a flood is refused, light callers are served, and it ends', async () => {
  let refused = 0;
  const guard = watchLoop(() => (refused += 1));
  try {
    const startedMs = performance.now();
    const ends = Array.from({ length: 300 }, () => guard.admit(keyOf('flood'), true));
    let callers = 0;
    const arrive = () => {
      for (let n = 0; n < 20; n += 1) guard.admit(keyOf(`light ${(callers += 1)}`), true)();
    };
    await saturate(() => guard.limit() < 300, arrive);
    expect(guard.limit()).toBeLessThan(300);
    // A burst of two seconds is no overload.
    expect(performance.now() - startedMs).toBeGreaterThan(2_000);
    expect(() => guard.admit(keyOf('flood'), true)).toThrow(expect.objectContaining({ code: 'overloaded' }));
    ends.push(guard.admit(keyOf('light'), true), guard.admit({ kind: 'system', tenantId: 't' }, true));
    await saturate(() => guard.limit() === 64);
    expect(guard.limit()).toBe(64);
    for (const end of ends) end();
    // However late the event loop is, callers share what the limit leaves.
    ends.splice(0);
    for (let n = 0; n < 64; n += 1) ends.push(guard.admit(keyOf('flood'), true));
    expect(() => guard.admit(keyOf('flood'), true)).toThrow('overloaded');
    for (let n = 0; n < 32; n += 1) ends.push(guard.admit(keyOf('other'), true));
    expect(() => guard.admit(keyOf('other'), true)).toThrow('overloaded');
    expect(refused).toBe(3);
    for (const end of ends) end();
    await until(() => Promise.resolve(guard.limit() === Infinity));
  } finally {
    guard.stop();
  }
}, 90_000);

test('a burst that arrives slowly, because the thread is busy, is admitted', async () => {
  const guard = watchLoop();
  try {
    const startedMs = performance.now();
    await saturate(
      () => performance.now() - startedMs > 4_000,
      () => void guard.admit(keyOf('burst'), true),
    );
    expect(guard.limit()).toBe(Infinity);
  } finally {
    guard.stop();
  }
}, 30_000);

describe('strangers, whose credential nobody has checked,', () => {
  /** Returns how many of 400 requests are admitted while 64 may be in progress. */
  async function countAdmitted(admit: (guard: LoopGuard, n: number) => unknown): Promise<number> {
    const guard = watchLoop();
    try {
      const ends = Array.from({ length: 300 }, () => guard.admit(keyOf('flood'), true));
      await saturate(() => guard.limit() === 64, burst(guard));
      for (const end of ends) end();
      let admitted = 0;
      for (let n = 0; n < 400; n += 1) {
        try {
          admit(guard, n);
          admitted += 1;
        } catch {
          // It is refused.
        }
      }
      // A user that has logged in has its share all the same.
      guard.admit(keyOf('known'), true);
      return admitted;
    } finally {
      guard.stop();
    }
  }

  const burst = (guard: LoopGuard) => {
    let callers = 0;
    return () => {
      for (let n = 0; n < 20; n += 1) guard.admit(keyOf(`light ${(callers += 1)}`), true)();
    };
  };
  const nobodyAt = (address: string): Caller => ({ kind: 'system', tenantId: 't', address });

  test.each([
    ['IPv6 /64', (n: number) => `2001:db8::${n.toString(16)}`],
    ['IPv6 /48', (n: number) => `2001:db8:0:${n.toString(16)}::1`],
    ['IPv4 /24', (n: number) => `192.0.2.${n % 256}`],
  ])(
    'share what an %s may have, however many addresses they use',
    async (_, addressOf) => {
      expect(await countAdmitted((guard, n) => guard.admit(nobodyAt(addressOf(n)), false))).toBe(64);
    },
    60_000,
  );

  test.each([
    ['keys', keyOf],
    ['service tokens', tokenOf],
  ])(
    'share what a network may have, however many %s they invent',
    async (_, credentialOf) => {
      expect(await countAdmitted((guard, n) => guard.admit(credentialOf(`invented ${n}`), false))).toBe(64);
    },
    60_000,
  );

  test('have a bounded number of requests in progress, however many networks they use', async () => {
    const admitted = await countAdmitted((guard, n) =>
      guard.admit(nobodyAt(`2001:db8:${n.toString(16)}::1`), false),
    );
    expect(admitted).toBe(65);
  }, 60_000);
});
