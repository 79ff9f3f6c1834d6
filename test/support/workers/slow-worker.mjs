// A thread's file for worker-pool.test.ts: takes longer to load than its time limit.
import { setTimeout as sleep } from 'node:timers/promises';

await sleep(900);

export { default } from './misbehaving-worker.mjs';
