import { expect, test } from '@jest/globals';
import { pause, pauseWhenDue } from '../../../src/platform/concurrency/pause-when-due.js';
import { makeBulkLimits } from '../../../src/platform/limits/bulk-limits.js';

// The loops of all requests share one budget per turn of the event loop. With one budget each, 40 requests held a turn for 40 budgets.

const LOOPS = 40;
const ROUNDS = 10;
const ROUND_MS = 1;
/** The budget of four milliseconds, and the round that exceeds it. */
const MOST_PER_TURN = 5;

function work(forMs: number): void {
  const untilMs = performance.now() + forMs;
  while (performance.now() < untilMs);
}

/** Counts the rounds of each turn until the loops have ended. Each begins with an event of its own, like a request. */
async function countRounds(loop: (noteRound: () => void) => Promise<void>): Promise<number[]> {
  const perTurn: number[] = [];
  let rounds = 0;
  let isRunning = true;
  const endTurn = () => {
    perTurn.push(rounds);
    rounds = 0;
    if (isRunning) setImmediate(endTurn);
  };
  setImmediate(endTurn);
  const begin = async () => {
    await new Promise(setImmediate);
    await loop(() => (rounds += 1));
  };
  await Promise.all(Array.from({ length: LOOPS }, begin));
  isRunning = false;
  return [...perTurn, rounds];
}

const sum = (counts: number[]) => counts.reduce((total, count) => total + count, 0);

test('loops of many requests use a turn of the event loop for as long as one', async () => {
  const perTurn = await countRounds(async (noteRound) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      await pauseWhenDue();
      work(ROUND_MS);
      noteRound();
    }
  });
  expect(sum(perTurn)).toBe(LOOPS * ROUNDS);
  expect(Math.max(...perTurn)).toBeLessThanOrEqual(MOST_PER_TURN);
});

test('loops that pause in each round have a turn each', async () => {
  const perTurn = await countRounds(async (noteRound) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      await pause();
      noteRound();
    }
  });
  expect(sum(perTurn)).toBe(LOOPS * ROUNDS);
  expect(Math.max(...perTurn)).toBe(1);
});

test('a loop that waits for a turn is not overtaken by one that begins later', async () => {
  const order: string[] = [];
  const wait = async (name: string) => {
    await pause();
    order.push(name);
  };
  await Promise.all(['first', 'second', 'third'].map(wait));
  expect(order).toEqual(['first', 'second', 'third']);
});

test('the bodies of lines of one API key are read one at a time, beside those of another', async () => {
  const limits = makeBulkLimits(10, { isHigh: () => false });
  const started: string[] = [];
  let end = () => {};
  const running = new Promise<void>((resolve) => (end = resolve));
  const read = (keyHash: string) =>
    limits.limitLines({ kind: 'key', tenantId: 't', keyHash, address: '192.0.2.1' }, 'read', () => {
      started.push(keyHash);
      return running;
    });
  const all = [...Array.from({ length: LOOPS }, () => read('one')), read('two')];
  await new Promise(setImmediate);
  expect(started).toEqual(['one', 'two']);
  end();
  await Promise.all(all);
  expect(started).toHaveLength(LOOPS + 1);
});
