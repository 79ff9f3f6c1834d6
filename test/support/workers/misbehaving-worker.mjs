// A worker thread for worker-pool.test.ts: behaves as its message says.
import { readlinkSync } from 'node:fs';
import { getPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeWorkerTask } from '../../../dist/src/platform/concurrency/worker-task.js';

export default makeWorkerTask(async ({ act, value }) => {
  if (act === 'throw') throw new Error(value);
  if (act === 'spin') for (;;);
  if (act === 'exit') process.exit(3);
  if (act === 'wait') await sleep(value);
  if (act === 'fill') for (const kept = []; ;) kept.push(new Array(100_000).fill({ n: kept.length }));
  if (act === 'priority') value = getPriority(Number(readlinkSync('/proc/thread-self').split('/').at(-1)));
  return { value, env: { ...process.env }, execArgv: process.execArgv };
});
