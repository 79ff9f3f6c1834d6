import { describe, expect, test } from '@jest/globals';
import {
  makeTaskProcesses,
  type TaskProcessOptions,
} from '../../../src/platform/concurrency/task-process.js';
import { until } from '../../support/service/processes.js';

type Act = { act: 'answer' | 'wait' | 'throw' | 'spin' | 'exit' | 'fill' | 'join'; value?: unknown };
type Answer = { value: unknown; pid: number; env: object; execArgv: string[] };

const FILE = '../../test/support/workers/misbehaving-process.mjs';
const LIMITS = { maxHeapMb: 64, timeoutMs: 20_000 };

const processes = (options: Partial<TaskProcessOptions> = {}, file = FILE) =>
  makeTaskProcesses<Act, Answer>(file, { ...LIMITS, ...options });

const isRunning = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test('a process gets neither the environment nor the flags of the service', async () => {
  process.env['SECRET_OF_THE_SERVICE'] = 'sesame';
  const { value, env, execArgv } = await processes().run({ act: 'answer', value: 1 });
  expect({ value, env, execArgv }).toEqual({ value: 1, env: {}, execArgv: ['--max-old-space-size=64'] });
});

test('each task has a process of its own, which ends with it', async () => {
  const runner = processes();
  const [one, two] = [await runner.run({ act: 'answer' }), await runner.run({ act: 'answer' })];
  expect(one.pid).not.toBe(two.pid);
  await until(() => Promise.resolve(!isRunning(one.pid) && !isRunning(two.pid)));
});

describe('a task that fails reports the reason, and another one continues', () => {
  test.each([
    [
      'one that exceeds the time limit',
      { act: 'spin' },
      { reason: 'time', message: 'No answer within 1000 ms.' },
    ],
    ['one that exceeds the heap limit step by step', { act: 'fill' }, { reason: 'memory' }],
    ['one that exceeds it at once', { act: 'join' }, { reason: 'memory' }],
    ['one that throws', { act: 'throw', value: 'words of the task' }, { reason: 'error' }],
    ['one that ends its process', { act: 'exit' }, { reason: 'error', message: 'The process ended with 3.' }],
  ] as const)('%s', async (_what, task, expected) => {
    const runner = processes(task.act === 'spin' ? { timeoutMs: 1_000 } : {});
    const other = runner.run({ act: 'wait', value: 700 });
    await expect(runner.run(task)).rejects.toMatchObject(expected);
    expect((await other).value).toBe(700);
  });

  test('and says what the task has thrown', async () => {
    await expect(processes().run({ act: 'throw', value: 'words of the task' })).rejects.toThrow(
      'words of the task',
    );
  });
});

test('a task that nobody needs any more ends with its process', async () => {
  const runner = processes({ timeoutMs: 60_000 });
  const ending = new AbortController();
  const spinning = runner.run({ act: 'spin' }, ending.signal);
  setTimeout(() => ending.abort(new Error('left')), 200);
  await expect(spinning).rejects.toThrow('left');
  await expect(runner.run({ act: 'spin' }, AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
});

test('a process that the system ends while it loads is overload', async () => {
  const dying = processes({}, '../../test/support/workers/dying-process.mjs');
  await expect(dying.run({ act: 'answer' })).rejects.toMatchObject({ code: 'overloaded' });
});

test('a process that does not load in time is overload, and one that cannot be loaded an error', async () => {
  await expect(processes({ startingMs: 1 }).run({ act: 'answer' })).rejects.toMatchObject({
    code: 'overloaded',
  });
  await expect(processes({}, 'no/such/task.js').run({ act: 'answer' })).rejects.toThrow(
    'The process no/such/task.js did not start',
  );
});
