import { getPriority } from 'node:os';
import { describe, expect, test } from '@jest/globals';
import { orOverloaded } from '../../../src/platform/concurrency/task-limit.js';
import { makeWorkerPool, type WorkerPoolOptions } from '../../../src/platform/concurrency/worker-pool.js';

type Act = { act: 'answer' | 'wait' | 'throw' | 'spin' | 'exit' | 'fill' | 'priority'; value?: unknown };
type Answer = { value: unknown; env: object; execArgv: string[] };

const FILE = '../../test/support/workers/misbehaving-worker.mjs';
const LIMITS = { maxThreads: 2, maxHeapMb: 32, timeoutMs: 1_000 };

const makePool = (options: Partial<WorkerPoolOptions> = {}, file = FILE) =>
  makeWorkerPool<Act, Answer>(file, { ...LIMITS, ...options });

test('a thread gets neither the environment nor the flags of the service', async () => {
  process.env['SECRET_OF_THE_SERVICE'] = 'sesame';
  expect(await makePool().run({ act: 'answer', value: 1 })).toEqual({ value: 1, env: {}, execArgv: [] });
});

describe('a task that fails reports the reason, and another task continues', () => {
  test.each([
    [
      'one that exceeds the time limit',
      { act: 'spin' },
      { reason: 'time', message: 'No answer within 1000 ms.' },
    ],
    ['one that exceeds the heap limit', { act: 'fill' }, { reason: 'memory' }],
    [
      'one that throws',
      { act: 'throw', value: 'words of the task' },
      { reason: 'error', message: 'words of the task' },
    ],
    ['one that ends its thread', { act: 'exit' }, { reason: 'error' }],
  ] as const)('%s', async (_what, task, expected) => {
    const pool = makePool({ timeoutMs: task.act === 'fill' ? 20_000 : LIMITS.timeoutMs });
    const other = pool.run({ act: 'wait', value: 700 });
    await expect(pool.run(task)).rejects.toMatchObject(expected);
    expect((await other).value).toBe(700);
    // The pool replaces the thread.
    expect((await pool.run({ act: 'answer', value: 'next' })).value).toBe('next');
  });
});

test.each([
  ['its time', { act: 'spin' }, 'overloaded'],
  ['its memory', { act: 'fill' }, 'overloaded'],
  ['neither', { act: 'throw', value: 'words' }, undefined],
] as const)(
  'of work whose size is limited, a task that exceeds %s is overload',
  async (_what, task, code) => {
    const pool = makePool({ timeoutMs: task.act === 'fill' ? 20_000 : LIMITS.timeoutMs });
    const error = await orOverloaded(pool.run(task)).catch((thrown: unknown) => thrown);
    expect((error as { code?: string }).code).toBe(code);
  },
);

test('a task that nobody needs any more ends its thread, and another task continues', async () => {
  const pool = makePool({ maxThreads: 1, timeoutMs: 60_000 });
  const ending = new AbortController();
  const spinning = pool.run({ act: 'spin' }, ending.signal);
  setTimeout(() => ending.abort(new Error('left')), 200);
  await expect(spinning).rejects.toThrow('left');
  await expect(pool.run({ act: 'spin' }, AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
  expect((await pool.run({ act: 'answer', value: 'next' })).value).toBe('next');
});

test('the time limit does not include the time that a thread takes to load', async () => {
  const pool = makePool({ timeoutMs: 300 }, '../../test/support/workers/slow-worker.mjs');
  expect((await pool.run({ act: 'answer', value: 1 })).value).toBe(1);
});

test('a task that gets no thread in time is overload', async () => {
  const pool = makePool({ startingMs: 1 });
  await expect(pool.run({ act: 'answer' })).rejects.toMatchObject({ code: 'overloaded' });
});

const inLinux = process.platform === 'linux' ? test : test.skip;

inLinux('only background threads have a lower priority than the thread that serves requests', async () => {
  const priorityOf = async (options: Partial<WorkerPoolOptions>) =>
    (await makePool(options).run({ act: 'priority' })).value;
  expect(await priorityOf({})).toBe(getPriority());
  expect(await priorityOf({ isBackground: true })).toBeGreaterThan(getPriority());
});

test('more tasks than threads wait for a thread', async () => {
  const tasks = Array.from({ length: 6 }, (_, value) => ({ act: 'answer', value }) as const);
  const pool = makePool();
  const answers = await Promise.all(tasks.map((task) => pool.run(task)));
  expect(answers.map(({ value }) => value)).toEqual([0, 1, 2, 3, 4, 5]);
});

test('tasks waiting for a thread that cannot be loaded fail at once, and say which thread', async () => {
  const pool = makePool({}, 'no/such/worker.js');
  const tasks = [pool.run({ act: 'answer' }), pool.run({ act: 'answer' })];
  for (const settled of await Promise.allSettled(tasks))
    expect(settled).toMatchObject({ reason: { message: 'The thread no/such/worker.js did not start.' } });
});
