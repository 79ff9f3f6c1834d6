// A process for task-process.test.ts: behaves as its message says.
import { setTimeout as sleep } from 'node:timers/promises';
import { serveTask } from '../../../dist/src/platform/concurrency/serve-task.js';

serveTask(async ({ act, value }) => {
  if (act === 'throw') throw new Error(value);
  if (act === 'spin') for (;;);
  if (act === 'exit') process.exit(3);
  if (act === 'wait') await sleep(value);
  if (act === 'fill') for (const kept = []; ;) kept.push(new Array(100_000).fill({ n: kept.length }));
  // One allocation, which the heap limit of a thread would answer by aborting the whole process.
  if (act === 'join') value = [...'x'.repeat(60_000_000)].join('李').length;
  return { value, pid: process.pid, env: { ...process.env }, execArgv: process.execArgv };
});
