// A worker thread for worker-pool.test.ts that takes longer to load than the time limit of a task.
import { setTimeout as sleep } from 'node:timers/promises';

await sleep(900);

export { default } from './misbehaving-worker.mjs';
