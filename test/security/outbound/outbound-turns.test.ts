import { setImmediate } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { makeTurnsByTime, type TurnsByTime } from '../../../src/platform/outbound/turns-by-time.js';

// Hosts share the time of the thread, whatever one of their turns costs (decision 0148).

/** A clock that only the work of hosts moves. */
function startClock() {
  let now = 0;
  return { read: () => now, work: (ms: number) => void (now += ms) };
}

async function repeat(turns: TurnsByTime, host: string, times: number, each: () => void): Promise<void> {
  for (let n = 0; n < times; n += 1) {
    await turns.take(host);
    each();
  }
}

test('a host whose turns cost sixty times as much as the turns of another has no more time', async () => {
  const clock = startClock();
  const turns = makeTurnsByTime(clock.read);
  const used = { costly: 0, cheap: 0 };
  const costly = repeat(turns, 'costly.example', 100, () => {
    used.costly += 120;
    clock.work(120);
  });
  await setImmediate();
  await repeat(turns, 'cheap.example', 300, () => {
    used.cheap += 2;
    clock.work(2);
  });
  expect(used.cheap).toBe(600);
  // The turn that ran, and as much as the other has used.
  expect(used.costly).toBeLessThanOrEqual(120 * (1 + Math.ceil(600 / 120)));
  await costly;
});

test('sixteen sockets of a costly host do not make each of 32 sockets of another wait for one', async () => {
  const clock = startClock();
  const turns = makeTurnsByTime(clock.read);
  let isOver = false;
  const costly = Array.from({ length: 16 }, async () => {
    while (!isOver) {
      await turns.take('costly.example');
      clock.work(120);
    }
  });
  await setImmediate();
  const started = clock.read();
  // Three turns of each handshake.
  await Promise.all(
    Array.from({ length: 32 }, () => repeat(turns, 'provider.example', 3, () => clock.work(2))),
  );
  const tookMs = clock.read() - started;
  isOver = true;
  await Promise.all(costly);
  // 192 of its own. With a turn each it would be 96 turns of 120.
  expect(tookMs).toBeLessThan(192 * 2 + 2 * 120);
});

test('a host that waited for nothing has saved nothing up, and one alone waits for nobody', async () => {
  const clock = startClock();
  const turns = makeTurnsByTime(clock.read);
  await repeat(turns, 'one.example', 50, () => clock.work(10));
  expect(clock.read()).toBe(500);
  const order: string[] = [];
  await Promise.all([
    repeat(turns, 'new.example', 10, () => {
      order.push('new');
      clock.work(10);
    }),
    repeat(turns, 'one.example', 10, () => {
      order.push('one');
      clock.work(10);
    }),
  ]);
  expect(order.slice(0, 10).filter((name) => name === 'one').length).toBeGreaterThanOrEqual(4);
});

test('hosts that wait for nothing are forgotten, also while another one always waits', async () => {
  const clock = startClock();
  const turns = makeTurnsByTime(clock.read);
  const state = { isOver: false };
  const always = (async () => {
    while (!state.isOver) {
      await turns.take('always.example');
      clock.work(5);
    }
  })();
  for (let n = 0; n < 3_000; n += 1) {
    await turns.take(`host-${n}.example`);
    clock.work(1);
    // The other one has its turn.
    await setImmediate();
    await setImmediate();
  }
  expect(turns.knownHosts()).toBeLessThan(300);
  state.isOver = true;
  await always;
  const order: string[] = [];
  await repeat(turns, 'last.example', 1, () => void order.push('last'));
  expect(order).toEqual(['last']);
});
